package legacy

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/cmd/frontdesk/rig/await"
	"frontdesk/mapping"
)

// beside does what is no request; false if it is one.
func (p *play) beside(verb, rest, line, want string) bool {
	p.t.Helper()
	switch verb {
	case "SELECT":
		require.Equal(p.t, want, p.answer(line), line)
	case "INSERT", "UPDATE", "DELETE", "CREATE", "DROP":
		p.exec(strings.ReplaceAll(line, "OWN_old", p.view.Load().known.Own+"_old"))
	case "ALTER": // on a connection of its own, so that the gateway's know nothing of it
		run(p.t, p.engine, p.dsn, line)
	case "wait":
		d, err := time.ParseDuration(rest)
		require.NoError(p.t, err)
		p.clock.Advance(d)
	case "look":
		p.look(p.t.Context())
	case "notices":
		await.True(p.t, func() bool { return len(p.Closed()) > 0 })
	case "closed":
		p.closed(want)
	case "forget": // as after a restart, when nobody has logged in yet
		p.clients.Clear()
	case "logged":
		require.NotZero(p.t, p.logged.FilterMessage(rest).Len(), line)
	case "user", "login":
		require.Equal(p.t, want, p.user(verb, rest), line)
	default:
		return p.changes(verb, rest, want)
	}
	return true
}

// closed wants one resource to be closed for this, or none for nothing.
func (p *play) closed(why string) {
	p.t.Helper()
	all := p.Closed()
	require.Len(p.t, all, b2i(why != ""), "%v", all)
	for _, c := range all {
		require.Contains(p.t, c.What, why)
	}
}

// user is who has a name, or logs in by NAME/PASSWORD as Go writes them, or why it is nobody.
func (p *play) user(verb, text string) string {
	p.t.Helper()
	text, err := strconv.Unquote(`"` + text + `"`)
	require.NoError(p.t, err)
	if verb == "user" {
		user, err := p.FindUser(p.t.Context(), text)
		if errors.Is(err, auth.ErrUnknownUser) {
			return "unknown"
		}
		require.NoError(p.t, err)
		return strconv.FormatInt(user.Client.ID, 10)
	}
	name, password, _ := strings.Cut(text, "/")
	user, err := p.Verify(p.t.Context(), auth.Credentials{Username: name, Password: password})
	if err != nil {
		var refused *auth.Refused
		require.ErrorIs(p.t, err, auth.ErrCredentials)
		require.ErrorAs(p.t, err, &refused)
		return string(refused.Why)
	}
	found, err := p.FindUser(p.t.Context(), name)
	require.NoError(p.t, err)
	require.Equal(p.t, found, user)
	return fmt.Sprintf("%d %s %s %d %s %t", user.ID, user.Username, user.Email, user.Client.ID, user.Client.Name, user.External)
}

// looksFor makes many requests of one step; false if it is another one.
func (p *play) looksFor(verb string, r *mapping.Resource, of, rest string) bool {
	p.t.Helper()
	switch verb {
	case "finds":
		p.findsShown(r.Name, strings.Split(rest, ", ")...)
	case "sorts":
		for _, name := range strings.Split(rest, ", ") {
			p.walksInOrder(r, r.Field(name), false)
		}
	case "judges":
		for _, value := range strings.Split(rest, ", ") {
			p.findsBy(r.Field(of), p.parse(r.Field(of), value), p.list(p.who, r.Name))
		}
	case "nobodys":
		p.isNobodys(r.Name, p.id(r, of))
	case "now":
		p.isOfNow(r, of)
	default:
		return false
	}
	return true
}

// isOfNow wants a field of what was created last to have its time, and the record to be found by that.
func (p *play) isOfNow(r *mapping.Resource, field string) {
	p.t.Helper()
	at := p.get(p.who, r.Name, p.made).Get(field)
	require.WithinRange(p.t, at.Time(), p.from.Add(-time.Second), time.Now().Add(time.Second))
	page, err := p.List(p.t.Context(), r, backend.Query{Client: p.who, ModifiedSince: at})
	require.NoError(p.t, err)
	require.Contains(p.t, ids(page.Records), p.made)
}

// by is a step without the words before it that say whose it is.
func (p *play) by(line string) string {
	p.t.Helper()
	who, rest, _ := strings.Cut(line, " ")
	switch who {
	case "again": // by whom the step before was
	case "forget":
		return line
	case "two":
		p.who = two
	case "nobody":
		p.who = auth.Client{ID: 99}
	case "by":
		who, rest, _ = strings.Cut(rest, " ")
		user, err := p.FindUser(p.t.Context(), who)
		require.NoError(p.t, err)
		p.who = user.Client
	default:
		p.who = one
		return line
	}
	return rest
}
