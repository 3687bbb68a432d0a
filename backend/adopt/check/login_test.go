package check

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/auth"
)

// door is a service whose log-ins a test can spoil, and whose clock says what its zone shows.
type door struct {
	status      int
	email       string
	anyPassword bool
	wrong       int // status of wrong passwords; 401 where it is not set
	external    int
	found       int // client of who is found by name
	zone        *time.Location
	rows        map[string]map[string]any
}

func (d *door) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	sent := map[string]any{}
	_ = json.Unmarshal(body, &sent)
	user := map[string]any{"nr": 5, "user": "anna", "mail": d.email, "org": 1, "other": d.external}
	answer, status := any(nil), http.StatusOK
	switch {
	case r.URL.Path == "/login" && (sent["password"] == "right-1998" || d.anyPassword):
		answer, status = user, cmp.Or(d.status, status)
	case r.URL.Path == "/login":
		answer, status = map[string]any{"ok": "no"}, cmp.Or(d.wrong, http.StatusUnauthorized)
	case r.URL.Path == "/user/anna":
		user["org"], answer = d.found, user
	case r.URL.Path == "/c" && r.Method == http.MethodPost:
		sent["id"], sent["org"], sent["made"] = 2, 1, time.Now().In(d.zone).Format("2006-01-02 15:04:05")
		d.rows["/c/2"], answer = sent, sent
	case r.URL.Path == "/c":
		answer = []any{d.rows["/c/1"]}
	case r.Method == http.MethodDelete:
		delete(d.rows, r.URL.Path)
	case d.rows[r.URL.Path] == nil:
		answer, status = map[string]any{"error": "none"}, http.StatusNotFound
	default:
		answer = d.rows[r.URL.Path]
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(answer)
}

// behindTheDoor is what is said of the service, with words of its sheet replaced; the user logs
// in with a password.
func behindTheDoor(t *testing.T, password string, write bool, spoil func(*door), replace ...string) *Report {
	t.Helper()
	d := &door{email: "a@example.nl", found: 1, zone: amsterdam(t), rows: map[string]map[string]any{"/c/1": {"id": 1, "org": 1, "name": "A", "made": "2026-01-01 10:00:00"}}}
	spoil(d)
	server := httptest.NewServer(d)
	t.Cleanup(server.Close)
	driver, o, problems := inFront(t, string(testdata(t, "login.yaml")), map[string]string{"URL": server.URL}, replace...)
	require.Empty(t, problems)
	o.Login = auth.Credentials{Username: "anna", Password: password}
	if write {
		o.Write = auth.Client{ID: 1}
	}
	report, err := HTTP(t.Context(), driver, auth.Client{}, o)
	require.NoError(t, err)
	require.NotContains(t, words(t, report), "right-1998")
	return report
}

// TestLogin: a user who is to log in is let in, with the right password alone, and is the one who
// is found by name.
func TestLogin(t *testing.T) {
	for says, test := range map[string]struct {
		spoil func(*door)
		seen  string
	}{
		"error login.fails accounts.verify":        {func(d *door) { d.status = 500 }, "the service answered 500"},
		"error login.any-password accounts.verify": {func(d *door) { d.anyPassword = true }, "with a wrong password too"},
		"error login.unrefused accounts.verify":    {func(d *door) { d.wrong = 200 }, "a wrong password is not refused, but fails: "},
		"warning login.email accounts.verify":      {func(d *door) { d.email = "" }, "no e-mail address"},
		"error login.external accounts.verify":     {func(d *door) { d.external = 1 }, "for another application"},
		"error login.find accounts.find":           {func(d *door) { d.found = 2 }, "of another client"},
	} {
		told(t, behindTheDoor(t, "right-1998", false, test.spoil), says, test.seen)
	}
	report := behindTheDoor(t, "right-1998", false, func(*door) {})
	require.Zero(t, report.Count(Error)+report.Count(Warning), words(t, report))
	require.Contains(t, words(t, report), "\ncontact: all 1 record(s), of 1 client(s)\n", "those of the user's client")
	report = behindTheDoor(t, "wrong-1998", false, func(*door) {})
	told(t, report, "error login.refused accounts.verify", "user or password is wrong, as far as the system says")
	require.Contains(t, words(t, report), "nothing else was looked at: it is not known for which client\n")
	report = behindTheDoor(t, "right-1998", false, func(*door) {}, "username: user, ", "")
	told(t, report, "warning login.unnamed accounts.result", "")
}

// TestClock: a record that was made just now reports whether its times are taken for those of the
// right zone.
func TestClock(t *testing.T) {
	report := behindTheDoor(t, "right-1998", true, func(*door) {})
	require.Zero(t, report.Count(Error)+report.Count(Warning), words(t, report))
	report = behindTheDoor(t, "right-1998", true, func(d *door) { d.zone = time.UTC })
	_, offset := time.Now().In(amsterdam(t)).Zone()
	found := told(t, report, "error write.clock resources.contact.fields.created_at", "")
	var minutes int
	_, err := fmt.Sscanf(found.Seen, "the created_at of a record that was made just now is %d minutes beside the present", &minutes)
	require.NoError(t, err, found.Seen)
	require.GreaterOrEqual(t, minutes, offset/60, "more where the check took its time")
}
