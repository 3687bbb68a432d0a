package records

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/cmd/frontdesk/rig"
)

// BenchmarkManyArticles writes a price list of 5,000 articles: one by one, one by one by
// eight clients, and 500 at once; and changes 5,000, one by one and 500 at once.
func BenchmarkManyArticles(b *testing.B) {
	const articles, atOnce = 5000, 500
	for _, e := range rig.Engines {
		d := rig.Start(b, rig.Options{DSN: e.DSN(b), Extra: "log: {access: false}"})
		d.HTTP.Transport = d.HTTP.Transport.(*rig.Holding).RoundTripper
		token, lists := d.Login(rig.FullKey, "demo"), 0
		body := func(i int) string {
			return article(fmt.Sprintf("L%d-%d", lists, i))
		}
		ask := func(method, path, body string) string {
			a := d.Call(method, path, token, body)
			require.Less(b, a.Status, 300, "%.300s", a.Body)
			return string(a.Body)
		}
		singles := func(clients int) {
			var all sync.WaitGroup
			for c := range clients {
				all.Go(func() {
					for i := c; i < articles; i += clients {
						ask("POST", "/article", body(i))
					}
				})
			}
			all.Wait()
		}
		// bulk asks again where it took longer than a direct answer may.
		bulk := func(method, done string, record func(i int) string) {
			for from := 0; from < articles; from += atOnce {
				var all []string
				for i := range atOnce {
					all = append(all, record(from+i))
				}
				for n := 0; n < atOnce; {
					a := d.Call(method, "/article/bulk", token, records(all...), "Idempotency-Key", fmt.Sprint(lists, method, from))
					n = strings.Count(string(a.Body), done)
				}
			}
		}
		var changed []string // their IDs
		change := func(i int) (id, body string) {
			for after := "0"; len(changed) < articles; after = changed[len(changed)-1] {
				for _, m := range regexp.MustCompile(`"id":(\d+)`).FindAllStringSubmatch(ask("GET", "/article?fields=id&page_size=1000&after="+after, ""), -1) {
					changed = append(changed, m[1])
				}
			}
			return changed[i], fmt.Sprintf(`{"id":%s,"price":%d}`, changed[i], lists)
		}
		for _, c := range []struct { // those that change need some to change
			name  string
			write func()
		}{
			{"one by one", func() { singles(1) }}, {"by eight", func() { singles(8) }}, {"bulk", func() { bulk("POST", `"status":201`, body) }},
			{"change one by one", func() {
				for i := range articles {
					id, body := change(i)
					ask("PUT", "/article/"+id, body)
				}
			}},
			{"change by bulk", func() {
				bulk("PUT", `"status":200`, func(i int) string { _, body := change(i); return body })
			}},
		} {
			b.Run(e.Name+"/"+c.name, func(b *testing.B) {
				for range b.N {
					lists++
					c.write()
				}
				b.ReportMetric(float64(articles*b.N)/b.Elapsed().Seconds(), "articles/s")
			})
		}
	}
}
