package mapping

// Rows are the rows of the catalogue as they are written.
func Rows() []Entry { return append(interfaceRows(), contractRows()...) }
