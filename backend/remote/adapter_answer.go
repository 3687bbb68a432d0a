package remote

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"unicode/utf8"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/mapping"
)

// protocolError is the body of an unsuccessful answer: the interface's own form of an error.
type protocolError struct {
	Message string `json:"message"`
	Errors  []struct {
		Message string `json:"message"`
	} `json:"errors"`
}

// maxErrorBody is the longest body in which documented errors are looked for.
const maxErrorBody = 1 << 20

// refused reads an unsuccessful answer. Documented errors pass through as they are; all others
// are failures.
func (a *adapter) refused(ans *answer, op mapping.Scope, r *mapping.Resource) error {
	switch {
	case ans.status >= http.StatusInternalServerError:
		return failure(ans)
	case ans.status == http.StatusNotFound && op != mapping.OpCreate && op != mapping.OpList && !mapping.Is(a.violations(ans, op, r), mapping.RelatedIDNotFound):
		return backend.ErrNotFound
	case ans.status == http.StatusPreconditionFailed:
		// Not the client's condition but ours: the rules must look again.
		return fmt.Errorf("%w: the record has been changed", backend.ErrStale)
	}
	if v := a.violations(ans, op, r); v != nil {
		return v
	}
	return failure(ans)
}

// violations reads documented errors; nil if one of them is not documented.
func (a *adapter) violations(ans *answer, op mapping.Scope, r *mapping.Resource) error {
	var e protocolError
	if len(ans.body) > maxErrorBody || json.Unmarshal([]byte(ans.body), &e) != nil {
		return nil
	}
	messages := []string{e.Message}
	if len(e.Errors) > 0 {
		messages = messages[:0]
		for _, one := range e.Errors {
			messages = append(messages, one.Message)
		}
	}
	var found mapping.Violations
	if len(messages) > mapping.MaxViolations {
		return nil
	}
	for _, m := range messages {
		v, ok := a.o.catalogue.Parse(ans.status, m, mapping.Scope("/"+r.Name), op)
		if !ok || isOurs(v.Reason, op) {
			return nil
		}
		found = append(found, v)
	}
	return found.Err()
}

// isOurs tells whether a reason is about the gateway's own call, such as its token or its
// path. It must not be passed on, because the client's request was not at fault.
func isOurs(r mapping.Reason, op mapping.Scope) bool {
	switch r {
	case mapping.NotLoggedIn, mapping.TokenInvalid, mapping.CredentialsInvalid, mapping.TooManyRequests,
		mapping.EndpointUnknown, mapping.MethodUnsupported, mapping.RequestMalformed, mapping.QueryRepeated,
		mapping.EmptyBody, mapping.BodyNotJSON, mapping.HeaderTooLarge, mapping.InternalError:
		return true
	case mapping.QueryUnsupported:
		return op != mapping.OpList
	default:
		return false
	}
}

// failure makes an error of an unsuccessful answer. Its text is for the log.
func failure(ans *answer) error {
	err := fmt.Errorf("the service answered %d: %.300q", ans.status, ans.body)
	if ans.status >= http.StatusInternalServerError {
		return err
	}
	return unexpected(err)
}

// protocolUser is a user as the protocol describes one.
type protocolUser struct {
	ID         int64  `json:"id"`
	Username   string `json:"username"`
	Email      string `json:"email"`
	ClientID   int64  `json:"client_id"`
	ClientName string `json:"client_name"`
	External   bool   `json:"external"`
	Blocked    bool   `json:"blocked"`
}

func (a *adapter) verify(ctx context.Context, c auth.Credentials) (auth.User, error) {
	body := append([]byte(nil), `{"username":`...)
	body = mapping.AppendJSONString(body, c.Username)
	body = append(body, `,"password":`...)
	body = append(mapping.AppendJSONString(body, c.Password), '}')
	// Not to be repeated: each try counts where wrong ones are counted.
	call := &request{method: "POST", target: a.base + "/v1/login", asked: "POST /v1/login", body: body, secret: true, timeout: a.timeout}
	refused := &auth.Refused{Why: auth.CauseWrongPassword} // or nobody is called so: it only says no
	user, err := a.user(ctx, call, http.StatusUnauthorized, refused)
	if err == nil && user.Blocked {
		return auth.User{}, blocked(user, c.Username)
	}
	return user, err
}

func (a *adapter) findUser(ctx context.Context, username string) (auth.User, error) {
	if username == "" || username == "." || username == ".." || !utf8.ValidString(username) {
		return auth.User{}, auth.ErrUnknownUser
	}
	target := appendEscaped([]byte(a.base+"/v1/users/"), username)
	return a.user(ctx, &request{method: "GET", target: string(target), asked: "GET /v1/users/{username}", timeout: a.timeout}, http.StatusNotFound, auth.ErrUnknownUser)
}

// user makes a call whose answer is a user; unknown is what status none means.
func (a *adapter) user(ctx context.Context, call *request, none int, unknown error) (user auth.User, err error) {
	ans, err := a.call(ctx, call, auth.Client{})
	if err != nil {
		return auth.User{}, err
	}
	defer a.wire.conclude(ans, &err)
	switch ans.status {
	case none:
		return auth.User{}, unknown
	case http.StatusOK:
	default:
		return auth.User{}, fmt.Errorf("the service answered %d", ans.status) // the body may repeat the password
	}
	var u protocolUser
	if err := json.Unmarshal([]byte(ans.body), &u); err != nil {
		return auth.User{}, unexpected(errors.New("the user is not JSON"))
	}
	if u.Username == "" || u.ClientID == 0 {
		return auth.User{}, unexpected(errors.New("the user has no username, or no client_id"))
	}
	return auth.User{
		ID: u.ID, Username: u.Username, Email: u.Email, External: u.External, Blocked: u.Blocked,
		Client: auth.Client{ID: u.ClientID, Name: u.ClientName},
	}, nil
}

func (a *adapter) keepsKeys() bool { return a.about.OwnRules && a.about.Idempotency }
