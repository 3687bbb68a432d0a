package gateway

import "frontdesk/mapping"

// about is what the OpenAPI description says of an operation, and the stages do not need.
type about struct {
	name    string // the operationId: stable, clients are generated from it
	summary string
	row     string // the interface's own words, quoted
	note    string // what to know besides
	general string // what holds for all operations of its kind, described once
	module  string // the group that it is listed in; "" for that of its resource
	answers answers
	// early are the reasons for which the request alone is refused, in addition to those
	// that its parameters and its body imply; late are those found when it is served.
	early, late []mapping.Reason
	asksBackend bool
}

// answers is what an operation answers when all is well.
type answers struct {
	form     answerForm
	resource *mapping.Resource // of a record or a page
	fields   []string          // of a record: only these; nil for all
	name     string            // of data: what its schema is called
	data     any               // of data: a value of the type that is answered
}

// answerForm is the shape of an answer.
type answerForm int

const (
	doneForm    answerForm = iota // {"successCode": 200}
	createdForm                   // 201, a record, its address
	recordForm                    // {"data": record}
	pageForm                      // a page of records
	changesForm                   // a page of changes
	tokenForm                     // {"token": …}
	dataForm                      // {"data": data}
	wholeForm                     // data, which has its member "data" itself
	acceptForm                    // 202, the answer comes by callback
	collectForm                   // dataForm, or 202 while there is nothing yet
	fileForm                      // a download
)
