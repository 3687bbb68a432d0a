package sheet

// ServiceResource is how a service has one resource.
type ServiceResource struct {
	// Walk lists all records; nil if the service does not list them: they are within the
	// records of another resource, or can only be read one by one.
	Walk                        *Walk
	Get, Create, Update, Delete *ServiceCall   // nil if there is none
	Key                         []Spot         // the parts of the key in a record
	Client                      Spot           // the client of a record; zero for none, or if the Resource has Through
	Version                     Spot           // changes with every change; zero to compare the record
	Select                      *JQ            // records for which it yields nothing, false or null are hidden; nil for none
	Fields                      []ServiceField // aligned with the model's fields
	// PerClient says that a walk lists the records of one client, and that a key is valid for
	// one client: the calls, or the log-on, name the client, or those of the containing
	// records do.
	PerClient bool
}

// ServiceField is how a service has one field.
type ServiceField struct {
	Read Spot // zero if the service does not have the field, and for Constant
	// Path is where a write puts the value; nil if Write yields an object that is merged
	// into the record.
	Path Path
	// Write converts the value that clients see, or the key of a reference, to what is written;
	// nil if Kind and Codes convert it.
	Write    *JQ
	Writable bool
	Conversion
	// Elements is the place of an array's elements within the record; zero if they are records
	// of their own.
	Elements Spot
}
