package allowlist

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/cmd/frontdesk/rig"
	"frontdesk/cmd/frontdesk/rig/must"
	"frontdesk/mapping"
)

// naive judges requests as the contract's text has it (sections 2 to 4), one
// sentence after the other, and knows nothing of the endpoint table or of grants
// that are laid out beforehand.
type naive struct {
	base      string
	resources []string
	utilities map[string][]string // methods by path
}

func newNaive(t testing.TB, base string) naive {
	model := must.Have(mapping.LoadModel(""))(t)
	n := naive{base: base, utilities: map[string][]string{}}
	for method, paths := range map[string]string{
		"GET": `/ /openapi.json /authenticate /authenticate/acces /authenticate/component /authenticate/logout /authenticate/modules /authenticate/fingerprint
			/changes /changes/digest /webhook /util/environment /document/info /contact/checkaddress /empoyee/email /vehicle/publishstart`,
		"POST":   "/authenticate/forgotpassword /backup/owner /changes /mcp /updatelicenseplate",
		"PUT":    "/vehicle/publishstart /vehicle/publishstop /updatelicenseplate",
		"DELETE": "/changes",
	} {
		for _, path := range strings.Fields(paths) {
			n.utilities[path] = append(n.utilities[path], method)
		}
	}
	for _, r := range model.Resources {
		n.resources = append(n.resources, "/"+r.Name)
	}
	return n
}

// at finds what stands at a path: the endpoint as allowlists name it, the methods
// there, and all methods of the endpoint. Many records at once are written at a path that
// is that of a record for other methods, and for whom no entry is about it.
func (n naive) at(rules []string, method, path string) (endpoint string, here, all []string, found bool) {
	if methods, ok := n.utilities[path]; ok {
		return path, methods, methods, true
	}
	for _, r := range n.resources {
		all := []string{"GET", "POST", "PUT", "DELETE"}
		if many := []string{"POST", "PUT"}; path == r+"/bulk" && slices.Contains(many, method) && (rig.AllowedBy(rules, "POST", path) || rig.AllowedBy(rules, "PUT", path)) {
			return path, many, many, true
		}
		if path == r {
			return r, all, all, true
		}
		if id, ok := strings.CutPrefix(path, r+"/"); ok && plainPart(id) {
			return r, []string{"GET", "PUT", "DELETE"}, all, true
		}
	}
	if name, ok := strings.CutPrefix(path, "/model/"); ok && plainPart(name) {
		return "/model/*", []string{"GET"}, []string{"GET"}, true
	}
	return "", nil, nil, false
}

// plainPart reports whether a part of a path is canonical: there is nothing in it to
// decode, to clean or to cut off.
func plainPart(s string) bool {
	const plain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~!$&'()+,=:@"
	return s != "" && s != "." && s != ".." && strings.Trim(s, plain) == ""
}

// below takes the path out of a request's target; false where it is not below the
// base path.
func (n naive) below(target string) (string, bool) {
	path := strings.SplitN(target, "?", 2)[0]
	scheme, rest, absolute := strings.Cut(path, "://")
	if scheme = strings.ToLower(scheme); absolute && (scheme == "http" || scheme == "https") {
		if path = "/"; strings.Contains(rest, "/") {
			path = rest[strings.Index(rest, "/"):]
		}
	}
	if path == n.base {
		return "/", true
	}
	if strings.HasPrefix(path, n.base+"/") {
		return path[len(n.base):], true
	}
	return path, false
}

// judge returns the message that a request is refused with; "" where the allowlist
// lets it pass.
func (n naive) judge(rules []string, method, target string) string {
	path, below := n.below(target)
	unknown := "Invalid endpoint: " + path
	unsupported := "Method: " + method + " not supported for endpoint: " + path
	endpoint, here, all, found := n.at(rules, method, path)
	switch {
	case !below || !found:
		return unknown
	case !slices.Contains(here, method):
		return unsupported
	case endpoint == "/" || endpoint == "/openapi.json", endpoint == "/authenticate" || strings.HasPrefix(endpoint, "/authenticate/"):
		return ""
	case n.grants(rules, method, endpoint):
		return ""
	}
	for _, other := range all {
		if n.grants(rules, other, endpoint) {
			return unsupported
		}
	}
	return unknown
}

// fieldsOf are those without which an endpoint is not offered.
var fieldsOf = map[string][]string{
	"/empoyee/email":        {"employee.username", "employee.email"},
	"/document/info":        {"document.name", "document.mime_type", "document.size", "document.sha256", "document.external_url"},
	"/contact/checkaddress": {"country.code"},
	"/updatelicenseplate":   {"vehicle.license_plate", "vehicle.country_id"},
	"/vehicle/publishstart": {"vehicle.publish_status", "vehicle.tax_kind", "vehicleadvertisementsite.vehicle_id"},
	"/vehicle/publishstop":  {"vehicle.publish_status"},
}

// grants reports whether entries grant an endpoint: who may write many records may write one, and a backup
// has all fields.
func (n naive) grants(rules []string, method, endpoint string) bool {
	if endpoint == "/backup/owner" && slices.ContainsFunc(rules, func(rule string) bool { return strings.Contains(rule, ": {") }) {
		return false
	}
	for _, field := range fieldsOf[endpoint] {
		resource, name, _ := strings.Cut(field, ".")
		if slices.ContainsFunc(rules, func(rule string) bool {
			grant, fields, takes := strings.Cut(rule, ": {without: [")
			taken, path, _ := strings.Cut(grant, " ")
			reads := taken == "GET" || taken == "*" || !rig.AllowedBy(rules, "GET", path)
			return takes && path == "/"+resource && strings.TrimSuffix(fields, "]}") == name && reads
		}) {
			return false
		}
	}
	one, many := strings.CutSuffix(endpoint, "/bulk")
	return rig.AllowedBy(rules, method, endpoint) && (!many || rig.AllowedBy(rules, method, one))
}

// The draws of requests: paths that mean something, and the tricks played on them.

func (n naive) drawMethod(t *rapid.T) string {
	if rapid.IntRange(0, 9).Draw(t, "odd method") == 0 {
		return rapid.SampledFrom([]string{"PATCH", "HEAD", "OPTIONS", "get", "Get", "DELETED", "*", "CONNECT", "TRACE"}).Draw(t, "odd")
	}
	return rapid.SampledFrom([]string{"GET", "POST", "PUT", "DELETE"}).Draw(t, "method")
}

// tricks are what clients that mean ill, or mean well, do to a path.
var tricks = []string{
	"//", "/./", "/../", "/.", "/..", "%2F", "%2f", "%5C", `\`, ";", ";x=1", "\x00", "%00", "/", "%2e%2e", "%252F", " ", "+", "*", "/*", "@", ":", "~",
	"#", "é", "\u202e", "%C3%A9", "\xff", "..", "...", "-1", "0", "5", "order", "/order", "publishstart", ".json", "%6Frder", "\t", "\r\n", strings.Repeat("a", 300),
}

func (n naive) drawTarget(t *rapid.T) string {
	paths := slices.Clone(n.resources)
	for path := range n.utilities {
		paths = append(paths, path)
	}
	paths = append(paths, "/model/order", "/model/nothing", "/model", "/nothing", "")
	slices.Sort(paths)
	path := rapid.SampledFrom(paths).Draw(t, "path")
	if rapid.Bool().Draw(t, "with an item") {
		path += "/" + rapid.SampledFrom([]string{"5", "0", "-1", "abc", "publishstart", "bulk", "bulk", "info", "99999999999", "A.b-c_d~e", "", ".", ".."}).Draw(t, "item")
	}
	for range rapid.SampledFrom([]int{0, 0, 0, 1, 1, 2}).Draw(t, "tricks") {
		trick, at := rapid.SampledFrom(tricks).Draw(t, "trick"), rapid.IntRange(0, len(path)).Draw(t, "at")
		path = path[:at] + trick + path[at:]
	}
	switch rapid.IntRange(0, 19).Draw(t, "case") {
	case 0:
		path = strings.ToUpper(path)
	case 1:
		path = strings.Replace(path, "e", "E", 1)
	}
	prefix := rapid.SampledFrom([]string{
		n.base, n.base, n.base, n.base, n.base, n.base, "", "/", n.base + "/", strings.ToUpper(n.base), n.base + "x", "/." + n.base, "//host" + n.base,
		"http://host" + n.base, "HttP://h:1" + n.base, "order://host" + n.base, "://" + n.base, "https://host:443" + n.base, "HTTP://user@host" + n.base, "http://host",
	}).Draw(t, "prefix")
	query := rapid.SampledFrom([]string{
		"", "", "", "?", "?id=5", "?id=", "?id", "?%69d=5", "?%49d=5", "?i%64=5&x=1", "?x=1&id=5", "?idx=5", "?id[]=5", "?ID=5", "?page=1", "?a=b&&id=5", "?x=http://host/webservice_v2/vehicle", "?id%3D5", "?;id=5",
	}).Draw(t, "query")
	return prefix + path + query
}

// ofDemo are the allowlists of the demo.
func ofDemo(t testing.TB) *Lists {
	t.Helper()
	c := must.Have(desk.DemoConfig("127.0.0.1:8080", "", ""))(t)
	return must.Have(Of(c, desk.DemoEnvironment))(t)
}

func TestMain(m *testing.M) { os.Exit(rig.Main(m)) }

// TestAuditRulesAreWrittenDown: every rule of the code, and no other.
func TestAuditRulesAreWrittenDown(t *testing.T) {
	var code, docs []string
	for _, m := range regexp.MustCompile(`a\.add\(\w+, "([a-z-]+)"`).FindAllStringSubmatch(rig.Read(t, "audit.go"), -1) {
		code = append(code, m[1])
	}
	doc := rig.Read(t, rig.Repository(t, "docs", "configuration.md"))
	for _, m := range regexp.MustCompile("(?m)^\\| `([a-z-]+)` \\| (?:error|warning|note) \\|").FindAllStringSubmatch(doc, -1) {
		docs = append(docs, m[1])
	}
	slices.Sort(code)
	require.ElementsMatch(t, slices.Compact(code), docs)
}
