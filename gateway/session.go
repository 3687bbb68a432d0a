package gateway

import (
	"bytes"
	"cmp"
	"context"
	_ "embed" // reset.html
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"frontdesk/auth"
	"frontdesk/mapping"
)

// sessionRoutes are /authenticate and the endpoints below it, open to every key.
func (g *Gateway) sessionRoutes(r *routes) {
	r.on(r.add("/authenticate", nil), "GET", &Operation{
		about: aboutLogin(), open: true, params: loginParams(), parse: parseLogin, serve: g.authenticate,
	})
	r.on(r.add("/authenticate/acces", nil), "GET", &Operation{serve: served(g.access), about: about{
		name: "getAccess", summary: "Who is asking, and what it may call", module: sessionModule,
		answers: answers{form: dataForm, name: "Access", data: accessAnswer{}},
	}})
	r.on(r.add("/authenticate/component", nil), "GET", &Operation{serve: served(g.components), about: about{
		name: "listComponents", summary: "What the service is made of", module: sessionModule,
		answers: answers{form: dataForm, name: "Components", data: []component{}},
	}})
	r.on(r.add("/authenticate/logout", nil), "GET", &Operation{serve: g.logout, about: about{
		name: "logout", summary: "End the session", row: "GET /authenticate/logout ends the session", module: sessionModule,
		note: "A token that is invalid, expired or logged out already is answered 200 too, with the error `Not authorized` as its body.",
	}})
	r.on(r.add("/authenticate/modules", nil), "GET", &Operation{serve: served(g.modules), about: about{
		name: "listModules", summary: "The resources that the api_key may read, by module", module: sessionModule,
		answers: answers{form: dataForm, name: "Modules", data: []module{}},
	}})
	r.on(r.add("/authenticate/fingerprint", nil), "GET", &Operation{serve: served(g.fingerprint), about: about{
		name: "getFingerprint", summary: "A fingerprint of api_key, user, client and model", module: sessionModule,
		note:    "It stays the same for as long as none of them changes: what was learned of the model can be kept under it.",
		answers: answers{form: dataForm, name: "Fingerprint", data: fingerprintAnswer{}},
	}})
	if g.o.Resets == nil {
		return
	}
	forgot := mapping.NewForm("forgotpassword", mapping.Field{
		Name: "username", Type: mapping.Varchar, Length: 64, Required: true, Description: "The user that forgot the password.", Example: "demo",
	})
	r.on(r.add("/authenticate/forgotpassword", nil), "POST", &Operation{
		scopes: []mapping.Scope{mapping.OpCreate}, form: forgot, serve: g.forgotPassword,
		check: func(x *Exchange) mapping.Violations { return x.Body.CheckCreate() },
		about: about{
			name: "forgotPassword", summary: "Have a link mailed that sets a new password", module: sessionModule,
			note: "Answered alike whether or not there is such a user. The link holds for one hour and works once.",
		},
	})
	reset := r.add("/authenticate/resetpassword", nil)
	r.on(reset, "GET", &Operation{page: true, open: true, params: []param{named("reset", "", "")}, serve: served(g.resetForm)})
	r.on(reset, "POST", &Operation{page: true, open: true, ownBody: true, serve: g.resetPassword})
}

// parseLogin judges the login's parameters. Without any of them, the request asks whether
// the session of the token header is valid, if there is one.
func parseLogin(x *Exchange) mapping.Violations {
	if x.Param("organization_name") != "" {
		return mapping.Violations{mapping.Fail(mapping.QueryUnsupported, "organization_name")}
	}
	if asksForToken(x) {
		return nil
	}
	return required(x, "api_key", "username", "password")
}

// sessionModule groups what has to do with sessions.
const sessionModule = "authentication"

func loginParams() []param {
	uuid := named("api_key", "The api_key of the third party, to be kept confidential. It decides which endpoints can be used.", "").must()
	uuid.Check = "uuid"
	return worded(
		uuid,
		param{Field: mapping.Field{Name: "organization_name", Type: mapping.Varchar, Description: "Must be left empty.", OneOf: []string{""}}},
		named("username", "The user name of the client (customer).", "").must(),
		named("password", "The password of that user.", "").must(),
	)
}

func aboutLogin() about {
	return about{
		name: "authenticate", summary: "Log in", module: sessionModule,
		row:     "GET /authenticate: query api_key, organization_name (empty), username, password; answers a JSON object with token",
		note:    "The token is sent in the header `token` of every further call, and is valid for <lifetime>. With a `token` header and none of the three parameters the answer tells whether that session lives.",
		answers: answers{form: tokenForm},
		early:   []mapping.Reason{mapping.ParametersRequired},
		late: []mapping.Reason{
			mapping.NotLoggedIn, mapping.TokenInvalid, mapping.CredentialsInvalid, mapping.ExternalUser, mapping.EmailMissing,
			mapping.EmailInvalid, mapping.TooManyRequests,
		},
		asksBackend: true,
	}
}

func asksForToken(x *Exchange) bool {
	given := x.HasParam("api_key") || x.HasParam("username") || x.HasParam("password")
	_, token := x.headerSent("Token")
	return !given && token
}

func (g *Gateway) authenticate(ctx context.Context, x *Exchange) error {
	if asksForToken(x) {
		if err := g.identify(ctx, x); err != nil {
			return err
		}
		x.answerToken(strings.ToLower(x.header("Token")))
		return nil
	}
	key, hash := x.givenKey(x.Param("api_key"))
	token, session, err := g.o.Login.Authenticate(ctx, auth.Attempt{
		Key: key, KeyHash: hash, Username: x.Param("username"), Password: x.Param("password"), Address: x.Address,
	})
	if err != nil {
		x.noteRefused(err)
		return err
	}
	x.client = session.User.Client.Name
	x.answerToken(token)
	return nil
}

// noteRefused notes for the log why a login was refused, and which client it was. A
// problem with the api_key takes precedence over one with the rest, and is noted only if
// the key was judged.
func (x *Exchange) noteRefused(err error) {
	if refused, ok := errors.AsType[*auth.Refused](err); ok {
		x.why, x.client = cmp.Or(x.why, refused.Why), refused.Client.Name
	} else {
		x.why = ""
	}
}

func (g *Gateway) logout(ctx context.Context, x *Exchange) error {
	if err := g.o.Sessions.End(ctx, x.Session, auth.CauseLoggedOut); err != nil {
		return err
	}
	x.answerDone()
	return nil
}

// answerJSON answers {"data": value} for answers that are not on the hot path.
func (x *Exchange) answerJSON(value any) {
	x.answerData(func(dst []byte) []byte { return appendJSON(dst, value) })
}

func appendJSON(dst []byte, value any) []byte {
	b := bytes.NewBuffer(dst)
	encoder := json.NewEncoder(b)
	encoder.SetEscapeHTML(false) // people read and paste addresses
	if err := encoder.Encode(value); err != nil {
		panic(err) // all values are of our own types
	}
	return bytes.TrimSuffix(b.Bytes(), []byte{'\n'})
}

type accessAnswer struct {
	Username  string  `json:"username" example:"demo"`
	Client    string  `json:"client" doc:"The client (customer) that the user belongs to." example:"Demo Garage"`
	APIKey    string  `json:"api_key" doc:"The name of the api_key." example:"demo-full"`
	Endpoints []Grant `json:"endpoints" doc:"What the api_key may call."`
}

// access answers who the caller is, and which endpoints it may call.
func (g *Gateway) access(x *Exchange) {
	endpoints := []Grant{}
	counted := map[int]bool{}
	for op := range g.routes.operations {
		if !op.free() && !counted[op.Number] && op.isFor(x.Key) {
			counted[op.Number] = true
			endpoints = append(endpoints, Grant{Method: op.Method, Path: op.Endpoint.Path})
		}
	}
	x.answerJSON(accessAnswer{x.user().Username, x.client, x.keyName, endpoints})
}

type component struct {
	Name    string `json:"name" example:"gateway"`
	Version string `json:"version"`
	Status  string `json:"status" doc:"ok, or unavailable." example:"ok"`
}

// components answers with the parts of the service and their state.
func (g *Gateway) components(x *Exchange) {
	c := g.backend.Capabilities()
	status := "ok"
	if g.backend.State() != "closed" {
		status = "unavailable"
	}
	x.answerJSON([]component{
		{Name: "gateway", Version: g.o.Version, Status: "ok"},
		{Name: "backend " + c.Name, Version: g.o.Version, Status: status},
		{Name: "store " + c.Store, Version: c.Version, Status: status},
	})
}

type module struct {
	Name      string   `json:"name" example:"sales"`
	Resources []string `json:"resources"`
}

type fingerprintAnswer struct {
	Fingerprint string `json:"fingerprint" doc:"Hexadecimal."`
}

// modules answers with the resources that the api_key may read, by module.
func (g *Gateway) modules(x *Exchange) {
	modules := []module{}
	for _, resource := range g.o.Offer.Model.Resources {
		list := g.routes.endpoints["/"+resource.Name].list["GET"]
		if list == nil || !x.Key.May(list.Number) { // the administration need not have all of the model
			continue
		}
		i := slices.IndexFunc(modules, func(m module) bool { return m.Name == resource.Module })
		if i < 0 {
			i, modules = len(modules), append(modules, module{Name: resource.Module})
		}
		modules[i].Resources = append(modules[i].Resources, resource.Name)
	}
	x.answerJSON(modules)
}

func (g *Gateway) fingerprint(x *Exchange) {
	x.answerJSON(fingerprintAnswer{auth.Fingerprint(x.Key, x.user(), x.modelVersion(g.o.Offer.Model))})
}

func (g *Gateway) forgotPassword(ctx context.Context, x *Exchange) error {
	if err := g.o.Resets.Request(ctx, x.Body.Record.Get("username").Text()); err != nil {
		return err
	}
	x.answerDone()
	return nil
}

// resetForm is the page that the link in the mail leads to.
func (g *Gateway) resetForm(x *Exchange) {
	x.answerReset(resetState{Token: x.Param("reset")})
}

// resetPassword takes the form that the page sends, which is not JSON, and answers with
// the page.
func (g *Gateway) resetPassword(ctx context.Context, x *Exchange) error {
	form, err := url.ParseQuery(string(x.sent))
	if err != nil {
		x.answerReset(resetState{Problem: "This form could not be read."})
		return nil
	}
	token, password := form.Get("reset"), form.Get("password")
	if password != form.Get("repeat") {
		x.answerReset(resetState{Token: token, Problem: "The two passwords are not the same."})
		return nil
	}
	username, err := g.o.Resets.Complete(ctx, token, password)
	if username != "" {
		g.reportAct(x, Act{What: "password by link", Whom: "user " + username, Who: "whoever reads the user's mail", Failed: err != nil})
	}
	switch {
	case err == nil:
		x.answerReset(resetState{Done: true})
	case errors.Is(err, auth.ErrWeakPassword):
		x.answerReset(resetState{Token: token, Problem: fmt.Sprintf("A password has at least %d characters, and at most %d bytes.", auth.MinPassword, auth.MaxPassword)})
	case errors.Is(err, auth.ErrUnknownReset):
		x.answerReset(resetState{Problem: "This link was used before or is older than one hour. Ask for a new one."})
	default:
		return err
	}
	return nil
}

// resetState is what the page shows: the form for a token, or the outcome.
type resetState struct {
	Token, Problem string
	Done           bool
}

// Shortest and Longest bound a new password; browsers judge by them, too.
func (resetState) Shortest() int { return auth.MinPassword }
func (resetState) Longest() int  { return auth.MaxPassword }

//go:embed reset.html
var resetHTML string

var resetTemplate = template.Must(template.New("reset").Parse(resetHTML))

// answerReset answers with the page.
func (x *Exchange) answerReset(s resetState) {
	var page bytes.Buffer
	if err := resetTemplate.Execute(&page, s); err != nil {
		panic(err) // the template and its data are ours
	}
	status := http.StatusOK
	if s.Problem != "" {
		status = http.StatusBadRequest
	}
	x.answerPageHTML(status, page.Bytes())
}
