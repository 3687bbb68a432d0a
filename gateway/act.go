package gateway

// Act is an entry of the operators' list of what was done by requests. It holds no secret.
type Act struct {
	What string // "password by link" or "backup by callback"
	Whom string // the object: a user, or a client and its job
	Who  string // who did it
	From string // address of the client
	// Failed says that the act was begun, and not or not wholly done.
	Failed bool
}

// reportAct reports an act of the request.
func (g *Gateway) reportAct(x *Exchange, a Act) {
	if g.o.Act != nil {
		a.From = x.Address
		g.o.Act(a)
	}
}
