package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// rivals is how many clients want the same thing at once.
const rivals = 32

// rival is a request that is sent beside others.
type rival struct {
	method, path, body string
	headers            []string
}

// atOnce sends all requests at the same time, each on a connection of its own,
// and returns their answers in the order of the requests. None may be a failure.
func (d *desk) atOnce(token string, requests []rival) []answer {
	d.t.Helper()
	answers, errs := make([]answer, len(requests)), make([]error, len(requests))
	var start, end sync.WaitGroup
	start.Add(1)
	for i, r := range requests {
		end.Go(func() {
			start.Wait()
			answers[i], errs[i] = d.try(r.method, r.path, token, r.body, r.headers...)
		})
	}
	start.Done()
	end.Wait()
	for i, a := range answers {
		require.NoError(d.t, errs[i])
		require.Less(d.t, a.Status, 500, "%s %s: %s\n%s", requests[i].method, requests[i].path, a.Body, d.log)
	}
	return answers
}

// race sends what each rival wants, and checks that one of them gets it, and
// that the others get status and message. It returns the winner's answer.
func (d *desk) race(token string, status int, message string, want func(i int) rival) answer {
	d.t.Helper()
	var requests []rival
	for i := range rivals {
		requests = append(requests, want(i))
	}
	var won []answer
	for i, a := range d.atOnce(token, requests) {
		if a.Status < 300 {
			won = append(won, a)
			continue
		}
		require.Equal(d.t, status, a.Status, "%s %s: %s", requests[i].method, requests[i].path, a.Body)
		if message != "" {
			require.Equal(d.t, message, a.failure(d.t).Message)
		}
	}
	require.Len(d.t, won, 1, "how many won")
	return won[0]
}

// list returns all records that a path lists.
func (d *desk) list(token, path string) []map[string]any {
	d.t.Helper()
	a := d.call("GET", path, token, "")
	require.Equal(d.t, 200, a.Status, "%s", a.Body)
	var page struct {
		Data []map[string]any
		Next *string
	}
	require.NoError(d.t, json.Unmarshal(a.Body, &page))
	require.Nil(d.t, page.Next, "more than one page")
	return page.Data
}

// onDesks runs a test on a desk of every engine.
func onDesks(t *testing.T, test func(t *testing.T, d *desk, token string)) {
	onEngines(t, func(t *testing.T, dsn string) {
		d := startDesk(t, deskOptions{dsn: dsn})
		test(t, d, d.login(fullKey, "demo"))
	})
}

const (
	newContact = `{"kind":"person","name":"Visser"}`
	newOrder   = `{"contact_id":%d,"kind":"workshop","order_status":"open","order_date":"2026-07-01"%s}`
)

func TestConcurrentOneOfItsKind(t *testing.T) {
	onDesks(t, func(t *testing.T, d *desk, token string) {
		t.Run("owner of a vehicle", func(t *testing.T) {
			vehicle := d.create(token, "vehicle", `{"license_plate":"ZX-123-B","brand":"Fiat","model":"500"}`)
			contact := d.create(token, "contact", newContact)
			body := fmt.Sprintf(`{"vehicle_id":%d,"contact_id":%d,"role":"owner"}`, vehicle, contact)
			d.race(token, 403, "Vehicleroleline is invalid a Vehicle can only have one owner", func(int) rival {
				return rival{method: "POST", path: "/vehicleroleline", body: body}
			})
			require.Len(t, d.list(token, fmt.Sprintf("/vehicleroleline?vehicle_id=%d", vehicle)), 1)
		})
		t.Run("role line made owner", func(t *testing.T) {
			vehicle := d.create(token, "vehicle", `{"license_plate":"ZX-124-B","brand":"Fiat","model":"500"}`)
			contact := d.create(token, "contact", newContact)
			var lines []int
			for range rivals {
				lines = append(lines, d.create(token, "vehicleroleline", fmt.Sprintf(`{"vehicle_id":%d,"contact_id":%d,"role":"driver"}`, vehicle, contact)))
			}
			d.race(token, 403, "Vehicleroleline is invalid a Vehicle can only have one owner", func(i int) rival {
				return rival{method: "PUT", path: fmt.Sprintf("/vehicleroleline/%d", lines[i]), body: `{"role":"owner"}`}
			})
			require.Len(t, d.list(token, fmt.Sprintf("/vehicleroleline?vehicle_id=%d&role=owner", vehicle)), 1)
		})
		t.Run("preferred e-mail of a contact", func(t *testing.T) {
			contact := d.create(token, "contact", newContact)
			d.race(token, 409, "Field: is_prefered_email value: 1 has a duplicate illegal value", func(i int) rival {
				return rival{method: "POST", path: "/contactcommunication", body: fmt.Sprintf(
					`{"contact_id":%d,"type":4,"value":"v%d@example.nl","is_prefered_email":1}`, contact, i)}
			})
			require.Len(t, d.list(token, fmt.Sprintf("/contactcommunication?contact_id=%d", contact)), 1)
		})
		t.Run("place of a flat rate line", func(t *testing.T) {
			flatrate := d.create(token, "flatrate", `{"number":"RACE-1","description":"Race"}`)
			d.race(token, 403, "Field: sort_order has an invalid value 7", func(int) rival {
				return rival{method: "POST", path: "/flatrateline", body: fmt.Sprintf(`{"flatrate_id":%d,"sort_order":7}`, flatrate)}
			})
			require.Len(t, d.list(token, fmt.Sprintf("/flatrateline?flatrate_id=%d", flatrate)), 1)
		})
	})
}

func TestConcurrentUniqueValues(t *testing.T) {
	onDesks(t, func(t *testing.T, d *desk, token string) {
		duplicate := func(field, value string) string {
			return fmt.Sprintf("Field: %s value: %s has a duplicate illegal value", field, value)
		}
		group := int(d.list(token, "/turnovergroup?page_size=1000")[0]["id"].(float64))

		d.race(token, 409, duplicate("number", "E-900"), func(i int) rival {
			return rival{method: "POST", path: "/employee", body: fmt.Sprintf(`{"number":"E-900","username":"race%d","last_name":"Visser"}`, i)}
		})
		require.Len(t, d.list(token, "/employee?number=E-900"), 1)

		d.race(token, 409, duplicate("number", "RACE-900"), func(int) rival {
			return rival{method: "POST", path: "/article", body: fmt.Sprintf(
				`{"number":"RACE-900","description":"Race","article_kind":"part","unit_type":"piece","turnover_group_id":%d,"price":1}`, group)}
		})
		require.Len(t, d.list(token, "/article?number=RACE-900"), 1)

		// Half of them write the plate without its dashes.
		plates := []string{"ZX-900-B", "ZX900B"}
		d.race(token, 409, "", func(i int) rival {
			return rival{method: "POST", path: "/vehicle", body: fmt.Sprintf(`{"license_plate":%q,"brand":"Fiat","model":"500"}`, plates[i%2])}
		})
		require.Len(t, d.list(token, "/vehicle?license_plate=ZX-900-B"), 1)

		// And the same by changing what is there.
		var vehicles []int
		for i := range rivals {
			vehicles = append(vehicles, d.create(token, "vehicle", fmt.Sprintf(`{"license_plate":"ZY-%03d-B","brand":"Fiat","model":"500"}`, i)))
		}
		d.race(token, 409, "", func(i int) rival {
			plate := []string{"ZW-900-B", "ZW900B"}[i%2]
			return rival{method: "PUT", path: "/updatelicenseplate", body: fmt.Sprintf(`{"id":%d,"license_plate":%q}`, vehicles[i], plate)}
		})
		require.Len(t, d.list(token, "/vehicle?license_plate=ZW-900-B"), 1)
	})
}

// TestConcurrentClosing closes orders while lines are added to them, changed and
// deleted: what was accepted is in the total that the closing answered, and
// nothing comes after it.
func TestConcurrentClosing(t *testing.T) {
	onDesks(t, func(t *testing.T, d *desk, token string) {
		contact := d.create(token, "contact", newContact)
		group := int(d.list(token, "/turnovergroup?page_size=1000")[0]["id"].(float64))
		line := func(order int, price int) string {
			return fmt.Sprintf(`{"order_id":%d,"description":"Line","quantity":1,"price":%d,"turnover_group_id":%d}`, order, price, group)
		}
		before, after := 0, 0
		for round := range 8 {
			order := d.create(token, "order", fmt.Sprintf(newOrder, contact, ""))
			changed := d.create(token, "orderline", line(order, 1000))
			deleted := d.create(token, "orderline", line(order, 2000))
			closing := round * 4 // early in the volley in some rounds, late in others
			var requests []rival
			for i := range rivals {
				switch i {
				case closing:
					requests = append(requests, rival{method: "PUT", path: fmt.Sprintf("/order/%d", order), body: `{"order_status":"invoiced"}`})
				case closing + 1:
					requests = append(requests, rival{method: "PUT", path: fmt.Sprintf("/orderline/%d", changed), body: `{"price":4000}`})
				case closing + 2:
					requests = append(requests, rival{method: "DELETE", path: fmt.Sprintf("/orderline/%d", deleted)})
				default:
					requests = append(requests, rival{method: "POST", path: "/orderline", body: line(order, i+1)})
				}
			}
			answers := d.atOnce(token, requests)
			require.Equal(t, 200, answers[closing].Status, "%s", answers[closing].Body)
			sum, ids := 3000, []int{changed, deleted}
			for i, a := range answers {
				if i == closing {
					continue
				}
				if a.Status >= 300 {
					require.Equal(t, 409, a.Status, "%s", a.Body)
					require.Equal(t, "order_status is invoiced, cannot add/update/delete", a.failure(t).Message)
					after++
					continue
				}
				before++
				switch i {
				case closing + 1:
					sum += 3000
				case closing + 2:
					sum, ids = sum-2000, slices.Delete(ids, 1, 2)
				default:
					sum, ids = sum+i+1, append(ids, a.id(t))
				}
			}
			invoiced := answers[closing].data(t)
			now := d.call("GET", fmt.Sprintf("/order/%d", order), token, "").data(t)
			require.EqualValues(t, sum, now["total_excl"])
			require.Equal(t, invoiced, now, "the order has changed since it was closed")
			require.NotEmpty(t, now["invoice_number"])
			var stored []int
			for _, l := range d.list(token, fmt.Sprintf("/orderline?order_id=%d", order)) {
				stored = append(stored, int(l["id"].(float64)))
			}
			require.ElementsMatch(t, ids, stored)
			require.Equal(t, 409, d.call("POST", "/orderline", token, line(order, 1)).Status)
		}
		t.Logf("%d writes came before the closing, %d after it", before, after)
	})
}

// TestConcurrentDeletingContact deletes contacts while orders for them are
// created: an order never lacks its contact.
func TestConcurrentDeletingContact(t *testing.T) {
	onDesks(t, func(t *testing.T, d *desk, token string) {
		gone := 0
		for round := range 16 {
			contact := d.create(token, "contact", newContact)
			isOrder := func(i int) bool { return i%(round+1) == 1 } // half of them at first, later fewer
			if round%2 == 0 {
				isOrder = func(i int) bool { return i != rivals-1 }
			}
			var requests []rival
			for i := range rivals {
				r := rival{method: "DELETE", path: fmt.Sprintf("/contact/%d", contact)}
				if isOrder(i) {
					r = rival{method: "POST", path: "/order", body: fmt.Sprintf(newOrder, contact, "")}
				}
				requests = append(requests, r)
			}
			answers := d.atOnce(token, requests)
			created, deleted := 0, 0
			for i, a := range answers {
				switch {
				case a.Status == 201:
					created++
				case a.Status == 200:
					deleted++
				case isOrder(i):
					require.Equal(t, 404, a.Status, "%s", a.Body)
					require.Equal(t, fmt.Sprintf("Field: contact_id value: %d ID not found", contact), a.failure(t).Message)
				case a.Status == 406:
					require.Equal(t, "Field: id in use at: order", a.failure(t).Message)
				default:
					require.Equal(t, 404, a.Status, "%s", a.Body)
					require.Equal(t, fmt.Sprintf("Field: id value: %d not found", contact), a.failure(t).Message)
				}
			}
			require.Len(t, d.list(token, fmt.Sprintf("/order?contact_id=%d", contact)), created)
			stays := d.call("GET", fmt.Sprintf("/contact/%d", contact), token, "").Status
			if deleted > 0 {
				require.Equal(t, []int{1, 0, 404}, []int{deleted, created, stays})
				gone++
			} else {
				require.Equal(t, 200, stays)
				require.Positive(t, created)
			}
		}
		t.Logf("%d of 16 contacts were deleted before their first order", gone)
	})
}

// TestConcurrentIdempotencyKey sends one request many times at once.
func TestConcurrentIdempotencyKey(t *testing.T) {
	onDesks(t, func(t *testing.T, d *desk, token string) {
		contact := d.create(token, "contact", newContact)
		one := rival{
			method: "POST", path: "/order", body: fmt.Sprintf(newOrder, contact, `,"reference":"once"`),
			headers: []string{"Idempotency-Key", "race-1"},
		}
		var first, replayed []answer
		for _, a := range d.atOnce(token, slices.Repeat([]rival{one}, rivals)) {
			switch {
			case a.Status == 409:
				require.Equal(t, "Idempotency-Key is in use", a.failure(t).Message)
			case a.Header.Get("Idempotent-Replayed") == "true":
				replayed = append(replayed, a)
			default:
				first = append(first, a)
			}
		}
		require.Len(t, first, 1)
		require.Equal(t, 201, first[0].Status, "%s", first[0].Body)
		replayed = append(replayed, d.call(one.method, one.path, token, one.body, one.headers...))
		for _, a := range replayed {
			require.Equal(t, 201, a.Status)
			require.Equal(t, string(first[0].Body), string(a.Body))
			require.Equal(t, first[0].Header.Get("Location"), a.Header.Get("Location"))
		}
		require.Len(t, d.list(token, "/order?reference=once"), 1)
	})
}

// TestConcurrentIfMatch changes one record from one state many times at once.
func TestConcurrentIfMatch(t *testing.T) {
	onDesks(t, func(t *testing.T, d *desk, token string) {
		path := fmt.Sprintf("/contact/%d", d.create(token, "contact", newContact))
		for range 4 {
			etag := d.call("GET", path, token, "").Header.Get("ETag")
			require.NotEmpty(t, etag)
			won := d.race(token, 412, "Record has been changed", func(i int) rival {
				return rival{method: "PUT", path: path, body: fmt.Sprintf(`{"note":"by %d"}`, i), headers: []string{"If-Match", etag}}
			})
			now := d.call("GET", path, token, "")
			require.Equal(t, won.data(t), now.data(t))
			require.Equal(t, won.Header.Get("ETag"), now.Header.Get("ETag"))
			require.NotEqual(t, etag, now.Header.Get("ETag"))
		}
	})
}

// TestConcurrentNumbers creates orders, some of which are refused, and expects
// numbers without a gap.
func TestConcurrentNumbers(t *testing.T) {
	onDesks(t, func(t *testing.T, d *desk, token string) {
		contact := d.create(token, "contact", newContact)
		first := d.call("POST", "/order", token, fmt.Sprintf(newOrder, contact, "")).data(t)["number"].(string)
		var requests []rival
		for i := range rivals * 3 {
			who := contact
			if i%3 == 0 {
				who = 999_999
			}
			requests = append(requests, rival{method: "POST", path: "/order", body: fmt.Sprintf(newOrder, who, "")})
		}
		var numbers []string
		for i, a := range d.atOnce(token, requests) {
			if i%3 == 0 {
				require.Equal(t, 404, a.Status, "%s", a.Body)
				continue
			}
			require.Equal(t, 201, a.Status, "%s", a.Body)
			numbers = append(numbers, a.data(t)["number"].(string))
		}
		slices.Sort(numbers)
		var last int
		_, err := fmt.Sscanf(first, "O%d", &last)
		require.NoError(t, err)
		for i, number := range numbers {
			require.Equal(t, fmt.Sprintf("O%06d", last+1+i), number)
		}
		require.Len(t, numbers, rivals*2)
	})
}
