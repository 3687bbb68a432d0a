package gateway

import (
	"strconv"
	"strings"
	"time"

	"frontdesk/backend"
)

// copyFor returns how fresh a request wants the copy that lists come from, by its Cache-Control:
// no-cache and max-age (RFC 9111), and stale-if-error (RFC 5861) where its api_key may use that. It
// is nil where lists come from the administration itself.
func (g *Gateway) copyFor(x *Exchange) *backend.Copy {
	if !g.o.Offer.Copied {
		return nil
	}
	wish := &backend.Copy{}
	for directive := range strings.SplitSeq(x.header("Cache-Control"), ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(directive), "=")
		seconds, err := strconv.ParseUint(strings.Trim(value, `"`), 10, 31)
		within := time.Duration(seconds) * time.Second
		switch name = strings.ToLower(name); {
		case name == "no-cache":
			wish.Fresh, wish.Within = true, 0
		case err != nil:
		case name == "max-age" && (!wish.Fresh || within < wish.Within):
			wish.Fresh, wish.Within = true, within
		case name == "stale-if-error" && x.Key != nil && x.Key.Stale:
			wish.StaleIfError = within
		}
	}
	return wish
}

// setAge adds the age of the copy that the answer is from.
func (x *Exchange) setAge() {
	from := x.Query.Copy
	if from == nil || !from.Used {
		return
	}
	x.response.Header.Set("Age", strconv.FormatInt(int64(from.Age/time.Second), 10))
	if from.Stale {
		x.response.Header.Set("Cache-Status", "frontdesk; hit; detail=stale") // RFC 9211
	}
}
