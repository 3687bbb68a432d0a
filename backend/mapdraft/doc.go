// Package mapdraft drafts a first mapping sheet for an existing SQL database, out
// of names, types, keys and a sample of rows (frontdesk map init). It guesses, and
// says of every guess what it goes by: somebody who knows the database reads the
// draft, mends it and has it checked (backend/mapcheck).
//
// Names are taken apart into the business words they are made of, in English,
// Dutch and German and as such systems shorten them (words.go): ORDRGL is an
// order's line, INKPR a purchase price. Tables are matched with resources and
// columns with fields by the words they share (match.go), references by foreign
// keys, and conversions are read off types and values (convert.go). No word is
// one system's own: what a table is called there and nowhere else has no place in
// the dictionary.
package mapdraft
