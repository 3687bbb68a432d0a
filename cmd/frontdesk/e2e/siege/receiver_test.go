package siege

import (
	"net/http"
	"strings"
	"sync"
	"testing"

	"frontdesk/cmd/frontdesk/rig"
)

// receiver is where the customer is called back.
type receiver struct {
	*rig.Hooks
	calls sync.Map // channels, by the id of what was promised
}

// newReceiver returns also the options of a desk that may call it, and a port of this
// machine where nobody is.
func newReceiver(t *testing.T) (*receiver, rig.Options) {
	t.Helper()
	r, options := new(receiver), rig.Options{}
	r.Hooks, options = rig.NewHooks(t, func(_ http.ResponseWriter, req *http.Request) {
		select {
		case r.called(req.URL.Query().Get("id")) <- struct{}{}:
		default: // once more
		}
	})
	options.Extra = strings.Replace(options.Extra, "ports: [443,", "ports: [443, 9,", 1)
	return r, options
}

// called has something when the call for an id has come.
func (r *receiver) called(id string) chan struct{} {
	c, _ := r.calls.LoadOrStore(id, make(chan struct{}, 1))
	return c.(chan struct{})
}
