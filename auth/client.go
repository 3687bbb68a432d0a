package auth

// Client is a customer of the administration. Records belong to one client, and
// a user sees those of its own client only.
type Client struct {
	ID   int64
	Name string
}
