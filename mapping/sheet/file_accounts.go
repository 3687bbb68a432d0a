package sheet

import "frontdesk/config"

// accountsFile tells who may log in: exactly one of users and verify.
type accountsFile struct {
	// Users are a fixed list, in the sheet.
	Users []userFile `yaml:"users"`
	forgottenFile
	// Verify checks username and password by an HTTP call.
	Verify *userCallFile `yaml:"verify"`
	// Find asks for a user by name, without a password.
	Find *userCallFile `yaml:"find"`
	// Result are the paths of the user's facts, within what verify and find say is
	// the user.
	Result accountColumnsFile `yaml:"result"`
	// UsernameCase tells whether the username of an answer must be the one asked
	// for letter by letter: exact (default), or ignore where ANNA is anna to the
	// service. With verify only.
	UsernameCase string `yaml:"username_case" schema:"enum=exact|ignore"`
	// Refused recognises the answer to wrong credentials; default status 401.
	Refused matchFile `yaml:"refused"`

	found   foundFile // of format 2
	columns accountColumnsFile
}

// foundFile is how users are found in SQL.
type foundFile struct {
	// Table finds a user by name in SQL.
	Table string `yaml:"table"`
	// Query finds a user by name in SQL: a SELECT, or call of a procedure, with
	// :username as its only parameter.
	Query string `yaml:"query"`
	// Hash is how passwords are hashed in SQL. Of several, the form of the
	// stored hash tells which.
	Hash []hashFile `yaml:"hash"`
}

// forgottenFile is how users get in again.
type forgottenFile struct {
	// ForgotPassword is where users change a forgotten password, since
	// frontdesk cannot write it: put into the mail in place of a reset link.
	ForgotPassword string `yaml:"forgot_password"`
}

// userCallFile is a call that answers a user.
type userCallFile struct {
	requestFile
	// Result is the path of the user, or of a list with nobody else, in the answer;
	// default the answer itself.
	Result string `yaml:"result"`
}

// userFile is a user of the fixed list.
type userFile struct {
	loginFile
	// Client is whose records the user works on.
	Client clientFile `yaml:"client" schema:"required"`
}

// loginFile is a login of the fixed list.
type loginFile struct {
	// Username is what the user logs in with.
	Username string `yaml:"username" schema:"required"`
	// PasswordHash is argon2id, as `frontdesk user hash` prints it.
	PasswordHash config.Secret `yaml:"password_hash" schema:"required"`
	// Email is where mail to the user goes.
	Email string `yaml:"email"`
	// External users have a login, but not for this interface.
	External bool `yaml:"external"`
	// Blocked users cannot log in.
	Blocked bool `yaml:"blocked"`
}

// clientFile is a client: a customer of the vendor.
type clientFile struct {
	// ID is the client's number.
	ID int64 `yaml:"id" schema:"required"`
	// Name is what it is called, in logs and answers.
	Name string `yaml:"name" schema:"required"`

	key string // in place of ID, where clients are kept
}

// accountColumnsFile are columns, or paths of an answer, converted as fields are.
type accountColumnsFile struct {
	// ID is the user's number.
	ID fieldFile `yaml:"id"`
	// Username is the name, which must be the one asked for. Without it nothing
	// shows whose an answer is.
	Username fieldFile `yaml:"username"`
	// Email is where mail to the user goes.
	Email fieldFile `yaml:"email"`
	// ClientID is the number of the client whose records the user works on.
	ClientID fieldFile `yaml:"client_id"`
	// ClientName is what that client is called.
	ClientName fieldFile `yaml:"client_name"`
	// External is 1 for a user who has a login, but not for this interface.
	External fieldFile `yaml:"external"`
	// Blocked is 1 for a user who cannot log in.
	Blocked fieldFile `yaml:"blocked"`

	password fieldFile // the stored hash, of format 2
}

// hashSettings is how a password is hashed.
type hashSettings struct {
	// Algorithm is that of the hash. Those from md5crypt on are unsafe and only
	// there for what exists.
	Algorithm string `yaml:"algorithm" schema:"required,enum=argon2id|bcrypt|phpass|sha512crypt|sha256crypt|md5crypt|sha256|sha1|md5"`
	// Salt is the column of the salt.
	Salt string `yaml:"salt"`
	// Order is how salt and password are joined: salt+password (default) or
	// password+salt.
	Order string `yaml:"order" schema:"enum=salt+password|password+salt"`
	// Encoding is how the hash is written: hex (default) or base64.
	Encoding string `yaml:"encoding" schema:"enum=hex|base64"`
}
