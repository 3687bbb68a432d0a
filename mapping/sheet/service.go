package sheet

// ServiceResource is how a service has one resource.
type ServiceResource struct {
	// Walk lists all records; nil where the service does not list them: those that stand
	// within another resource's records, or that can be read one by one alone.
	Walk                        *Walk
	Get, Create, Update, Delete *ServiceCall   // nil where there is none
	Key                         []Spot         // its parts in a record
	Client                      Spot           // whose record it is; zero for none, or where Through of the Resource says it
	Version                     Spot           // changes with every change; zero to compare the record
	Select                      *JQ            // records for which it yields nothing, false or null are hidden; nil for none
	Fields                      []ServiceField // aligned with the model's fields
	// PerClient tells that a walk is of one client's records, and a key known for one client:
	// the call, or the log-on, names the client; or it is so of the records which these stand
	// within.
	PerClient bool
}

// ServiceField is how a service has one field.
type ServiceField struct {
	Read Spot // nowhere for what it does not have, and for Constant
	// Path is where a write puts the value; nil where Write yields an object that is merged
	// into the record.
	Path Path
	// Write makes what is written of the value as clients see it, or of a reference's key; nil
	// for the value itself, as Kind and Codes have it.
	Write    *JQ
	Writable bool
	Conversion
	// Elements is where the elements of an array stand within the record; zero where they are
	// records of their own.
	Elements Spot
}
