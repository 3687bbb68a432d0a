package sheet

import "time"

// operationsFile are the operations of a resource.
type operationsFile struct {
	// Only lists the operations that there are. Default with SQL: all; with
	// HTTP: those described.
	Only []string `yaml:"only" schema:"items=get|list|create|update|delete"`
	// Get reads one record by its key.
	Get *operationFile `yaml:"get"`
	// List reads many records.
	List *operationFile `yaml:"list"`
	// Create stores a new record.
	Create *operationFile `yaml:"create"`
	// Update changes a record.
	Update *operationFile `yaml:"update"`
	// Delete removes a record.
	Delete *operationFile `yaml:"delete"`
}

// operationFile is one operation: an HTTP call.
type operationFile struct {
	requestFile
	// Result is the path of the record, or of the list of them, in the answer;
	// "" for the answer itself, none when the answer tells nothing: the record
	// is then read again, or is what was sent where there is no get.
	Result string `yaml:"result"`
	// Key is the path, or paths, of the new record's key in create's answer,
	// where the answer has that and not the record, which is then read.
	Key names `yaml:"key"`
	// ReadBack reads the record again after a write.
	ReadBack bool `yaml:"read_back"`
	// Send says what {fields} of an update are: changed (default), all, or siblings:
	// what changed, and with it all that stands beside it in the same objects.
	Send string `yaml:"send" schema:"enum=changed|all|siblings"`
	// Each is a template of JSON for each element of an array, by the array's field:
	// {value.FIELD} in the body of create is then the elements in it.
	Each pairs `yaml:"each"`
	// NotFound recognises the answer that there is no such record; default 404.
	NotFound *matchFile `yaml:"not_found"`
	// Filter is the expression that {filter} stands for in the list's request.
	Filter *filterFile `yaml:"filter"`
	// Sort is the order that {sort} stands for.
	Sort *sortFile `yaml:"sort"`
	// Paging is how the list is paged; default none, the whole list at once.
	Paging *pagingFile `yaml:"paging"`
	// Total is how the number of all records is found.
	Total *totalFile `yaml:"total"`
}

// filterFile is one expression made of several conditions.
type filterFile struct {
	// Join is what stands between the parts: " && ", " and ", ";".
	Join string `yaml:"join" schema:"required"`
	// Parts are the conditions, templates. One whose values are not all given is
	// left out; one that names none, or the client alone, is always sent.
	Parts []string `yaml:"parts" schema:"required"`
	// Or is what stands between two conditions of which one has to hold: " || ". A filter
	// by several values is then the part of {filter.FIELD}, once for each, in parentheses.
	Or string `yaml:"or"`
	// Nulls are conditions, by field: that it is null in the interface, and that it is not.
	Nulls map[string][]string `yaml:"nulls"`
}

// sortFile is the order of a list, in the service's own words.
type sortFile struct {
	// Join is what stands between two of them; default a comma.
	Join string `yaml:"join"`
	// By are the fields that the service can sort by, each with what it is told for
	// it upwards, and downwards. id is the service's own order; it always comes
	// last.
	By map[string][]string `yaml:"by" schema:"required"`
}

// requestFile is one call of an HTTP service. Path, query values, header values
// and body are templates: {key}, {key.1}, {id}, {client.id}, {client.name},
// {token}, {secret.NAME}, {limit}, {offset}, {page}, {cursor},
// {modified_since}, {username}, {password}, {filter}, {filter.FIELD}, {sort}, {value.FIELD}
// (as the system has it) and {fields} (all supplied fields, mapped). Each value is
// escaped for where it stands. A query parameter, header, member or element
// whose only value is absent is left out.
type requestFile struct {
	// Method of the call; default GET, of create POST, of update PUT, of delete
	// DELETE.
	Method string `yaml:"method" schema:"enum=GET|POST|PUT|PATCH|DELETE"`
	// Path is put after the address of the service.
	Path string `yaml:"path"`
	// Query are the query parameters.
	Query pairs `yaml:"query"`
	// Headers are sent besides those of every call.
	Headers pairs `yaml:"headers"`
	// Body of the call; default {fields} for create and update, else none.
	Body string `yaml:"body"`
	// ContentType of the body; default that of the format. With
	// application/x-www-form-urlencoded the body is a form.
	ContentType string `yaml:"content_type"`
	// Timeout of the call; default that of the service.
	Timeout time.Duration `yaml:"timeout"`
	// Connections is fresh for a call whose answer does not tell what it is an answer
	// to: it has a connection of its own. kept uses one again; default as the
	// service says, else kept.
	Connections string `yaml:"connections" schema:"enum=fresh|kept"`
}

// pagingFile is how a list is paged.
type pagingFile struct {
	// Style is offset, page, cursor, link (a Link header or a path to the next
	// address), or none (the whole list at once).
	Style string `yaml:"style" schema:"required,enum=offset|page|cursor|link|none"`
	// Size is how many records a page of the system has at most; default 100.
	Size int `yaml:"size"`
	// First is the number of the first page; default 1.
	First *int `yaml:"first"`
	// Next is the path of the next cursor or address; header is that of Link.
	Next string `yaml:"next"`
	// Cursors is how many are remembered; default 10000.
	Cursors int `yaml:"cursors"`
}

// totalFile is how the number of all records is found: in the list's answer, or in
// that to a call of its own where it has a path; there at result, or in a header.
type totalFile struct {
	requestFile
	// Result is the path of the number.
	Result string `yaml:"result"`
	// Header is the name of the header that is the number.
	Header string `yaml:"header"`
}
