package rig

import (
	"strings"
)

// AllowedBy compares an endpoint with every entry: METHOD or *, and the endpoint as
// the interface spells it, or all that is below a path with a trailing *.
func AllowedBy(rules []string, method, endpoint string) bool {
	for _, rule := range rules {
		rule, _, _ = strings.Cut(rule, ": ") // fields
		m, path, _ := strings.Cut(rule, " ")
		above, all := strings.CutSuffix(path, "/*")
		if (m == "*" || m == method) && (path == endpoint || all && strings.HasPrefix(endpoint, above+"/")) {
			return true
		}
	}
	return false
}
