package main

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/cmd/frontdesk/rig/must"
	"frontdesk/config"
	"frontdesk/gateway"
)

// misspelled are the ways in which an endpoint is written that there is: as logs and pages
// have it, in the plural, with a letter that is wrong or missing. Sure are those of which
// nobody doubts what was meant.
func misspelled(path string) (sure, near []string) {
	for _, id := range []string{"/{id}", "/:id", "/<id>", "/7"} {
		sure = append(sure, path+id)
	}
	near = append(near, path+"s", path+"/x")
	end := strings.IndexByte(path[1:]+"/", '/') + 1
	for i := 1; i < end; i++ {
		near = append(near, path[:i]+"x"+path[i+1:], path[:i]+path[i+1:], path[:i]+path[i+1:]+"/7")
	}
	return sure, near
}

// TestSuggestGrantsNothingElse: whatever is suggested for an endpoint that is misspelled is
// that endpoint, or nothing. Before, the spelling of the log, GET /order/{id}, was taken for
// GET /orderline.
func TestSuggestGrantsNothingElse(t *testing.T) {
	offer := must.Have(desk.OfferOf(config.Default()))(t)
	meant := map[string]map[string]bool{} // the resources, by what is written
	surely := map[string]string{}
	add := func(written, path string) {
		if meant[written] == nil {
			meant[written] = map[string]bool{}
		}
		meant[written][path] = true
	}
	for _, e := range gateway.Endpoints(offer) {
		if e.Path == "/" || strings.HasSuffix(e.Path, "/*") {
			continue
		}
		sure, near := misspelled(e.Path)
		for _, written := range append(sure, near...) {
			add(e.Method+" "+written, e.Path)
		}
		for _, written := range sure {
			surely[e.Method+" "+written] = e.Method + " " + e.Path
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "api_keys:\n  - name: webshop\n    key_sha256: [%s]\n    allow:\n", shopHash)
	for written := range meant {
		fmt.Fprintf(&b, "      - %q\n", written)
	}
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("frontdesk.yaml", []byte(b.String()), 0o600))
	code, out, _ := cli("", "check", "--config", "frontdesk.yaml")
	require.Equal(t, 2, code)
	form := regexp.MustCompile(`found "([^"]+)", no such endpoint(?:, did you mean ([^?]+)\?)?`)
	told, suggested := 0, 0
	for line := range strings.Lines(out) {
		found := form.FindStringSubmatch(line)
		require.NotNil(t, found, line)
		written, suggestion := found[1], found[2]
		told++
		if want, ok := surely[written]; ok {
			require.Equal(t, want, suggestion, line)
		}
		if suggestion == "" {
			continue
		}
		suggested++
		method, path, _ := strings.Cut(suggestion, " ")
		require.True(t, strings.HasPrefix(written, method+" "), line)
		for other := range meant[written] {
			require.Equal(t, resourceOf(other), resourceOf(path), "%q may be meant as well: %s", other, line)
		}
	}
	require.Greater(t, told, 3000)
	require.Greater(t, suggested, told*9/10, "what is near is suggested")
}

// resourceOf is the first part of a path.
func resourceOf(path string) string {
	resource, _, _ := strings.Cut(path[1:], "/")
	return resource
}
