package gateway

// Act is something that somebody did by a request, and that operators keep a list of. It has
// no secret in it.
type Act struct {
	What string // "password by link" or "backup by callback"
	Whom string // on what: a user, or a client and its job
	Who  string // did it
	From string // address of the client
	// Failed tells that it was begun and not, or not wholly, done.
	Failed bool
}

// tellAct tells of an act by the request.
func (g *Gateway) tellAct(x *Exchange, a Act) {
	if g.o.Act != nil {
		a.From = x.Address
		g.o.Act(a)
	}
}
