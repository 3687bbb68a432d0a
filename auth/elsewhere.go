package auth

// ResetElsewhere is the error of Accounts that cannot write passwords, which
// belong to another program. Where tells people in words, or by an address, where
// a forgotten one is changed; "" where nobody has said so.
type ResetElsewhere struct{ Where string }

func (*ResetElsewhere) Error() string { return "auth: passwords are changed elsewhere" }
