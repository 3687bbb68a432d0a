package secrets

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/cmd/frontdesk/rig"
	"frontdesk/cmd/frontdesk/rig/must"
	"frontdesk/mapping"
)

// ask is a request to both twins. «n» in it stands for what they call differently: see
// twins.pairs.
type ask struct {
	method, path, body string
	headers            []string // name, value, …
	makes              bool     // the answer names what is new
}

func (a ask) String() string { return fmt.Sprintf("%s %s %s %q", a.method, a.path, a.body, a.headers) }

// answer is what one of the twins said.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// twins are two administrations. What one of them makes has another number than its
// counterpart in the other one: pairs are those that stand for the same.
type twins struct {
	t     *testing.T
	desks [2]*rig.Desk
	http  http.Client
	began time.Time
	pairs [][2]string
	known map[[2]string]bool
	// other is what an opaque text of one is called by the other: a tag, a number of
	// a job. There are no two of the same.
	other [2]map[string]string
	// onSight: a record has its ID once it is first seen, not only as it is made.
	onSight bool
	touched bool // what the user does not see of a record changes, and with it modified_at
	asked   int
	last    []string // the requests before, to tell what led to a difference
}

func newTwins(t *testing.T, desks [2]*rig.Desk) *twins {
	w := &twins{t: t, desks: desks, began: time.Now().Add(-time.Minute), known: map[[2]string]bool{}, other: [2]map[string]string{{}, {}}}
	transport := &http.Transport{MaxIdleConnsPerHost: 4, DisableCompression: true}
	w.http.Transport = transport
	t.Cleanup(transport.CloseIdleConnections)
	return w
}

var placeholder = regexp.MustCompile(`«\d+»`)

// render is a text as one of the twins understands it.
func (w *twins) render(text string, side int) string {
	if !strings.Contains(text, "«") {
		return text
	}
	return placeholder.ReplaceAllStringFunc(text, func(p string) string {
		return w.pairs[must.Have(strconv.Atoi(strings.Trim(p, "«»")))(w.t)][side]
	})
}

// pair notes that a and b are the same thing, and returns what stands for it.
func (w *twins) pair(a, b string) string {
	w.pairs = append(w.pairs, [2]string{a, b})
	w.known[[2]string{a, b}] = true
	return fmt.Sprintf("«%d»", len(w.pairs)-1)
}

// send asks one of the twins.
func (w *twins) send(side int, token string, a ask) answer {
	w.t.Helper()
	said, err := w.try(side, token, a)
	require.NoError(w.t, err, "%v", a)
	return said
}

func (w *twins) try(side int, token string, a ask) (answer, error) {
	var body io.Reader
	if a.body != "" {
		body = strings.NewReader(w.render(a.body, side))
	}
	r, err := http.NewRequestWithContext(w.t.Context(), a.method, w.desks[side].Base+w.render(a.path, side), body)
	if err != nil {
		return answer{}, err
	}
	r.Header.Set("token", token)
	for i := 0; i+1 < len(a.headers); i += 2 {
		r.Header.Set(a.headers[i], w.render(a.headers[i+1], side))
	}
	resp, err := w.http.Do(r)
	if err != nil {
		return answer{}, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	host := strings.Split(w.desks[side].Base, "/")[2]
	for i, link := range resp.Header["Link"] {
		resp.Header["Link"][i] = strings.ReplaceAll(link, host, "desk.example")
	}
	return answer{resp.StatusCode, resp.Header, bytes.ReplaceAll(text, []byte(host), []byte("desk.example"))}, err
}

// both asks both at once and holds their answers against each other.
func (w *twins) both(tokens [2]string, a ask) [2]answer {
	w.t.Helper()
	w.asked++
	if w.last = append(w.last, a.String()); len(w.last) > 12 {
		w.last = w.last[1:]
	}
	var said [2]answer
	var failed [2]error
	var end sync.WaitGroup
	for side := range said {
		end.Go(func() { said[side], failed[side] = w.try(side, tokens[side], a) })
	}
	end.Wait()
	require.NoError(w.t, errors.Join(failed[:]...), "%v", a)
	if said[0].status != said[1].status {
		w.differ(a, said, fmt.Sprintf("status %d and %d", said[0].status, said[1].status))
	}
	for _, one := range said {
		for name := range one.header {
			w.sameHeader(a, said, name)
		}
	}
	w.same(a, said, string(w.compared(said[0].body)), string(w.compared(said[1].body)), a.makes && said[0].status < 300)
	for _, one := range said {
		require.NotContains(w.t, string(one.body), hush, "%v", a)
	}
	return said
}

func (w *twins) differ(a ask, said [2]answer, what string) {
	w.t.Helper()
	w.t.Fatalf("request %d: %v\ncan be told apart by %s:\n%s: %.1500s\n%s: %.1500s\nbefore it:\n%s",
		w.asked, a, what, w.render(a.path, 0), said[0].body, w.render(a.path, 1), said[1].body, strings.Join(w.last, "\n"))
}

// byChance are headers that differ by themselves.
var byChance = map[string]bool{"Date": true, "Age": true, "X-Request-Id": true, "Content-Length": true}

func (w *twins) sameHeader(a ask, said [2]answer, name string) {
	left, right := said[0].header.Get(name), said[1].header.Get(name)
	switch {
	case byChance[name]:
	case name == "Etag" && a.method == "POST": // of what has no name yet that is the same in both
	case name == "Etag":
		of, _, _ := strings.Cut(a.path, "?") // two records may have one tag
		if !w.sameOpaque(of+" "+left, of+" "+right) {
			w.differ(a, said, "their tags "+left+" and "+right)
		}
	default:
		w.same(a, said, name+": "+left, name+": "+right, a.makes)
	}
}

// opaque is what says nothing to a client: cursors are sealed, and a digest is of numbers and
// times, which differ.
var (
	requestID = regexp.MustCompile(`"request_id":"[^"]*"`)
	changedAt = regexp.MustCompile(`\\?"(modified_at|request_id|ticket)\\?":\\?"[^"]*"`) // in what a tool answers too
	opaque    = regexp.MustCompile(`"(cursor|digest)":"[^"]*"|[?&]after=c[\w-]+`)
)

// compared is what of a body is compared.
func (w *twins) compared(body []byte) []byte {
	if w.touched {
		body = changedAt.ReplaceAll(body, nil)
	}
	return plain(body)
}

func plain(body []byte) []byte {
	if bytes.Contains(body, []byte(`"cursor"`)) {
		body = opaque.ReplaceAll(body, nil)
	}
	if !bytes.Contains(body, []byte(`"request_id"`)) {
		return body
	}
	return requestID.ReplaceAll(body, nil)
}

// chosen are the parts of an answer that an administration chooses: times, what is
// drawn by chance, and numbers.
var chosen = regexp.MustCompile(`\d{4}-\d\d-\d\dT[\d:.]+Z|[\w-]{16,}={0,2}|\d+`)

// same compares two texts. Most of them are alike to the letter: where they are not, the
// words that differ are compared part by part.
func (w *twins) same(a ask, said [2]answer, left, right string, makes bool) {
	w.t.Helper()
	whole := left
	for {
		n, most := 0, min(len(left), len(right))
		for n < most && left[n] == right[n] {
			n++
		}
		if n == len(left) && n == len(right) {
			return
		}
		for n > 0 && inWord(left[n-1]) {
			n--
		}
		left, right = left[n:], right[n:]
		l, r := word(left), word(right)
		if l == "" && r == "" {
			w.differ(a, said, fmt.Sprintf("%.200q and %.200q", left, right))
		}
		w.sameWord(a, said, whole[:len(whole)-len(left)], l, r, makes)
		left, right = left[len(l):], right[len(r):]
	}
}

// inWord tells of the bytes that what is chosen is made of, and of some more.
func inWord(b byte) bool {
	return b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || strings.IndexByte("_-:.=", b) >= 0
}

func word(text string) string {
	n := 0
	for n < len(text) && inWord(text[n]) {
		n++
	}
	return text[:n]
}

// sameWord compares two words part by part, behind what stands before them. What is chosen
// has to be the same, or known to stand for the same, or to be new where it may be.
func (w *twins) sameWord(a ask, said [2]answer, before, left, right string, makes bool) {
	w.t.Helper()
	partsL, partsR := chosen.FindAllStringIndex(left, -1), chosen.FindAllStringIndex(right, -1)
	if len(partsL) != len(partsR) {
		w.differ(a, said, fmt.Sprintf("%s and %s", left, right))
	}
	var atL, atR int
	for i := range partsL {
		l, r := left[partsL[i][0]:partsL[i][1]], right[partsR[i][0]:partsR[i][1]]
		known := l == r || w.known[[2]string{l, r}] || w.recent(l) && w.recent(r)
		if !known && (makes || w.onSight && isKept(l) && isKept(r) && namesRecords(before)) && isNumber(l) && isNumber(r) && isID(left, partsL[i]) {
			known, w.known[[2]string{l, r}] = true, true
		}
		if left[atL:partsL[i][0]] != right[atR:partsR[i][0]] || !known && !(makes && w.sameOpaque(l, r)) {
			w.differ(a, said, fmt.Sprintf("%s and %s", left, right))
		}
		atL, atR = partsL[i][1], partsR[i][1]
	}
	if left[atL:] != right[atR:] {
		w.differ(a, said, fmt.Sprintf("%s and %s", left, right))
	}
}

// recent reports whether a text is a time since the twins were begun.
func (w *twins) recent(text string) bool {
	at, err := time.Parse(time.RFC3339, text)
	return err == nil && at.After(w.began)
}

// isID reports whether a number stands by itself in a word, as IDs do. Those that are counted
// for each client, C000017, have to be the same.
func isID(word string, at []int) bool {
	return at[1] == len(word) && (at[0] == 0 || strings.IndexByte("=:", word[at[0]-1]) >= 0)
}

// isKept tells of a number that is as high as those that gateways give to kept keys.
func isKept(number string) bool { return len(number) == 8 }

// namesRecords reports whether what comes behind a text is the value of a member that has
// IDs: that of the record itself, or of one that it refers to.
func namesRecords(before string) bool {
	member := memberBefore.FindStringSubmatch(before)
	return member != nil && idMembers()[member[1]]
}

var memberBefore = regexp.MustCompile(`"(\w+)"$`)

// idMembers are the members that have IDs, in any resource.
var idMembers = sync.OnceValue(func() map[string]bool {
	members := map[string]bool{}
	for _, r := range ownModel().Resources {
		for i := range r.Fields {
			f := &r.Fields[i]
			members[f.Name] = members[f.Name] || f.Primary || f.Type == mapping.Int4 && (f.Reference != "" || f.ReferenceBy != "")
		}
	}
	return members
})

func isNumber(text string) bool {
	_, err := strconv.Atoi(text)
	return err == nil
}

// sameOpaque reports whether two opaque texts are each other's, or new.
func (w *twins) sameOpaque(left, right string) bool {
	r, knownL := w.other[0][left]
	l, knownR := w.other[1][right]
	if knownL || knownR {
		return r == right && l == left
	}
	w.other[0][left], w.other[1][right] = right, left
	return true
}

// ids returns the ids in an answer, in the order they are in.
func ids(body []byte) (all []string) {
	for _, m := range idMember.FindAllSubmatch(body, -1) {
		all = append(all, string(bytes.Clone(m[1])))
	}
	return all
}

var idMember = regexp.MustCompile(`"id":(\d+)`)

// TestNumbersThatMayDifferOnSight are those of records alone: a price that differs is
// found, of however many digits it is.
func TestNumbersThatMayDifferOnSight(t *testing.T) {
	for before, may := range map[string]bool{
		`{"data":{"id"`: true, `{"contact_id"`: true, `"supplier_id"`: true, `{"data":[{"resource_id"`: true,
		`{"price"`: false, `"mileage"`: false, `"number"`: false, `"total"`: false, `"description":"12"`: false, `{"next":"/order?after`: false, `"id":"`: false, ``: false,
	} {
		require.Equal(t, may, namesRecords(before), before)
	}
}
