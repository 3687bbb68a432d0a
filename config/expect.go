package config

// Expectation is a test of the allowlists: what is to become of a request with an
// api_key.
type Expectation struct {
	Key     string `yaml:"key"`     // its name
	Request string `yaml:"request"` // a method and a path below the base path, as it is sent: DELETE /order/5
	Verdict string `yaml:"verdict"` // allowed or refused
}
