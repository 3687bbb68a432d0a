// Package draft drafts a first mapping sheet (frontdesk-kit map init): for an existing SQL
// database, out of names, types, keys and a sample of rows; for an HTTP service, out of
// answers and its OpenAPI description. It guesses, and says of every guess what it goes by:
// somebody who knows the system reads the draft, mends it and has it checked
// (backend/adopt/check). A draft always loads: what a sheet's reader refuses is left out with a
// question (settle.go).
//
// Foreign keys go first. Names are taken apart into the business words they are made of, in
// six languages and as such systems shorten them (words): ORDRGL is an order's line, INKPR a
// purchase price. Tables are matched with resources and columns with fields by the words they
// share (match.go), and conversions are read off types and values (convert.go). What a service
// lists is taken for a table, and the paths in its answers for columns (service.go). No word
// is one system's own: what a table is called there and nowhere else has no place in the
// dictionary.
package draft
