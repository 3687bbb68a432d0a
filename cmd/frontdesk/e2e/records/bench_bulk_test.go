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
			return fmt.Sprintf(`{"number":"L%d-%d","description":"Filter","article_kind":"part","unit_type":"piece","turnover_group_id":1,"price":12.5}`, lists, i)
		}
		singles := func(clients int) {
			var all sync.WaitGroup
			for c := range clients {
				all.Go(func() {
					for i := c; i < articles; i += clients {
						if a := d.Call("POST", "/article", token, body(i)); a.Status != 201 {
							b.Errorf("%s", a.Body)
						}
					}
				})
			}
			all.Wait()
		}
		bulk := func() {
			for from := 0; from < articles; from += atOnce {
				var records []string
				for i := range atOnce {
					records = append(records, body(from+i))
				}
				for done := 0; done < atOnce; { // again where it took longer than a direct answer may
					a := d.Call("POST", "/article/bulk", token, `{"records":[`+strings.Join(records, ",")+`]}`, "Idempotency-Key", fmt.Sprint(lists, "-", from))
					require.Equal(b, 200, a.Status, "%.300s", a.Body)
					done = strings.Count(string(a.Body), `"status":201`)
				}
			}
		}
		var changed []string // their IDs
		id := func(i int) string {
			for after := "0"; len(changed) < articles; after = changed[len(changed)-1] {
				found := regexp.MustCompile(`"id":(\d+)`).FindAllStringSubmatch(string(d.Call("GET", "/article?fields=id&page_size=1000&after="+after, token, "").Body), -1)
				require.NotEmpty(b, found)
				for _, m := range found {
					changed = append(changed, m[1])
				}
			}
			return changed[i]
		}
		change := func(atOnce int) {
			for from := 0; from < articles; from += atOnce {
				if atOnce == 1 {
					require.Equal(b, 200, d.Call("PUT", "/article/"+id(from), token, fmt.Sprintf(`{"price":%d}`, lists)).Status)
					continue
				}
				var records []string
				for i := range atOnce {
					records = append(records, fmt.Sprintf(`{"id":%s,"price":%d}`, id(from+i), lists))
				}
				for done := 0; done < atOnce; {
					a := d.Call("PUT", "/article/bulk", token, `{"records":[`+strings.Join(records, ",")+`]}`)
					require.Equal(b, 200, a.Status, "%.300s", a.Body)
					done = strings.Count(string(a.Body), `"status":200`)
				}
			}
		}
		for _, c := range []struct { // those that change need some to change
			name  string
			write func()
		}{
			{"one by one", func() { singles(1) }}, {"by eight", func() { singles(8) }}, {"bulk", bulk},
			{"change one by one", func() { change(1) }}, {"change by bulk", func() { change(atOnce) }},
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
