package records

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/cmd/frontdesk/rig"
	"frontdesk/cmd/frontdesk/rig/must"
)

// TestConcurrent has many clients want the same at once, on a desk of every engine.
func TestConcurrent(t *testing.T) {
	t.Parallel()
	rig.OnEngines(t, func(t *testing.T, dsn string) {
		t.Parallel()
		d := rig.Start(t, rig.Options{DSN: dsn})
		token := d.Login(rig.FullKey, "demo")
		for _, race := range []struct {
			name string
			run  func(t *testing.T, d *rig.Desk, token string)
		}{
			{"one of its kind", raceOneOfItsKind}, {"closing", raceClosing}, {"deleting a contact", raceDeletingContact},
			{"Idempotency-Key", raceIdempotencyKey}, {"If-Match", raceIfMatch}, {"numbers", raceNumbers}, {"many records", raceBulk},
		} {
			t.Run(race.name, func(t *testing.T) { race.run(t, d, token) })
		}
	})
}

// raceOneOfItsKind has many clients want what only one can have: one gets it, the others
// are told why not, and it is there once. # in a path or a body is the number of the client.
func raceOneOfItsKind(t *testing.T, d *rig.Desk, token string) {
	contact, rate := d.Create(token, "contact", rig.NewContact), d.Create(token, "flatrate", `{"number":"RACE-1","description":"Race"}`)
	car := func(plate string) int {
		return d.Create(token, "vehicle", fmt.Sprintf(`{"license_plate":%q,"brand":"Fiat","model":"500"}`, plate))
	}
	owned, driven := car("ZX-123-B"), car("ZX-124-B")
	role := `{"vehicle_id":%d,"contact_id":%d,"role":%q}`
	var lines, vehicles []int
	for i := range rig.Rivals {
		lines = append(lines, d.Create(token, "vehicleroleline", fmt.Sprintf(role, driven, contact, "driver")))
		vehicles = append(vehicles, car(fmt.Sprintf("ZY-%03d-B", i)))
	}
	const owner, duplicate = "Vehicleroleline is invalid a Vehicle can only have one owner", "Field: number value: %s has a duplicate illegal value"
	for _, c := range []struct {
		what, ask, list string
		status          int
		message         string
		of              []int // the IDs that $ stands for, one for each client
	}{
		{"owner of a vehicle", "POST /vehicleroleline " + fmt.Sprintf(role, owned, contact, "owner"), fmt.Sprintf("/vehicleroleline?vehicle_id=%d", owned), 403, owner, nil},
		{"role line made owner", `PUT /vehicleroleline/$ {"role":"owner"}`, fmt.Sprintf("/vehicleroleline?vehicle_id=%d&role=owner", driven), 403, owner, lines},
		{"preferred e-mail", fmt.Sprintf(`POST /contactcommunication {"contact_id":%d,"type":4,"value":"v#@example.nl","is_prefered_email":1}`, contact),
			fmt.Sprintf("/contactcommunication?contact_id=%d", contact), 409, "Field: is_prefered_email value: 1 has a duplicate illegal value", nil},
		{"place of a flat rate line", fmt.Sprintf(`POST /flatrateline {"flatrate_id":%d,"sort_order":7}`, rate),
			fmt.Sprintf("/flatrateline?flatrate_id=%d", rate), 403, "Field: sort_order has an invalid value 7", nil},
		{"number of an employee", `POST /employee {"number":"E-900","username":"race#","last_name":"Visser"}`, "/employee?number=E-900", 409, fmt.Sprintf(duplicate, "E-900"), nil},
		{"number of an article", "POST /article " + article("RACE-900"), "/article?number=RACE-900", 409, fmt.Sprintf(duplicate, "RACE-900"), nil},
		// Half of them write the plate without its dashes.
		{"plate", `POST /vehicle {"license_plate":"ZX-900-B","brand":"Fiat","model":"500"}`, "/vehicle?license_plate=ZX-900-B", 409, "", nil},
		{"changed plate", `PUT /updatelicenseplate {"id":$,"license_plate":"ZW-900-B"}`, "/vehicle?license_plate=ZW-900-B", 409, "", vehicles},
	} {
		t.Run(c.what, func(t *testing.T) {
			d.Race(token, c.status, c.message, func(i int) rig.Rival {
				ask := strings.ReplaceAll(c.ask, "#", fmt.Sprint(i))
				if c.of != nil {
					ask = strings.ReplaceAll(ask, "$", fmt.Sprint(c.of[i]))
				}
				if i%2 == 1 {
					ask = strings.NewReplacer("ZX-900-B", "ZX900B", "ZW-900-B", "ZW900B").Replace(ask)
				}
				method, rest, _ := strings.Cut(ask, " ")
				path, body, _ := strings.Cut(rest, " ")
				return rig.Rival{Method: method, Path: path, Body: body}
			})
			require.Len(t, d.List(token, c.list), 1)
		})
	}
}

// raceClosing closes orders while lines are added to them, changed and
// deleted: what was accepted is in the total that the closing answered, and
// nothing comes after it.
func raceClosing(t *testing.T, d *rig.Desk, token string) {
	contact := d.Create(token, "contact", rig.NewContact)
	group := int(d.List(token, "/turnovergroup?page_size=1000")[0]["id"].(float64))
	line := func(order int, price int) string {
		return fmt.Sprintf(`{"order_id":%d,"description":"Line","quantity":1,"price":%d,"turnover_group_id":%d}`, order, price, group)
	}
	before, after := 0, 0
	for round := range 8 {
		order := d.Create(token, "order", fmt.Sprintf(rig.NewOrder, contact, ""))
		changed := d.Create(token, "orderline", line(order, 1000))
		deleted := d.Create(token, "orderline", line(order, 2000))
		closing := round * 4 // early in the volley in some rounds, late in others
		var requests []rig.Rival
		for i := range rig.Rivals {
			switch i {
			case closing:
				requests = append(requests, rig.Rival{Method: "PUT", Path: fmt.Sprintf("/order/%d", order), Body: `{"order_status":"invoiced"}`})
			case closing + 1:
				requests = append(requests, rig.Rival{Method: "PUT", Path: fmt.Sprintf("/orderline/%d", changed), Body: `{"price":4000}`})
			case closing + 2:
				requests = append(requests, rig.Rival{Method: "DELETE", Path: fmt.Sprintf("/orderline/%d", deleted)})
			default:
				requests = append(requests, rig.Rival{Method: "POST", Path: "/orderline", Body: line(order, i+1)})
			}
		}
		answers := d.AtOnce(token, requests)
		require.Equal(t, 200, answers[closing].Status, "%s", answers[closing].Body)
		sum, ids := 3000, []int{changed, deleted}
		for i, a := range answers {
			if i == closing {
				continue
			}
			if a.Status >= 300 {
				require.Equal(t, 409, a.Status, "%s", a.Body)
				require.Equal(t, "order_status is invoiced, cannot add/update/delete", a.Failure(t).Message)
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
				sum, ids = sum+i+1, append(ids, a.ID(t))
			}
		}
		invoiced := answers[closing].Data(t)
		now := d.Call("GET", fmt.Sprintf("/order/%d", order), token, "").Data(t)
		require.EqualValues(t, sum, now["total_excl"])
		require.Equal(t, invoiced, now, "the order has changed since it was closed")
		require.NotEmpty(t, now["invoice_number"])
		var stored []int
		for _, l := range d.List(token, fmt.Sprintf("/orderline?order_id=%d", order)) {
			stored = append(stored, int(l["id"].(float64)))
		}
		require.ElementsMatch(t, ids, stored)
		require.Equal(t, 409, d.Call("POST", "/orderline", token, line(order, 1)).Status)
	}
	t.Logf("%d writes came before the closing, %d after it", before, after)
}

// raceDeletingContact deletes contacts while orders for them are
// created: an order never lacks its contact.
func raceDeletingContact(t *testing.T, d *rig.Desk, token string) {
	gone := 0
	for round := range 16 {
		contact := d.Create(token, "contact", rig.NewContact)
		isOrder := func(i int) bool { return i%(round+1) == 1 } // half of them at first, later fewer
		if round%2 == 0 {
			isOrder = func(i int) bool { return i != rig.Rivals-1 }
		}
		var requests []rig.Rival
		for i := range rig.Rivals {
			r := rig.Rival{Method: "DELETE", Path: fmt.Sprintf("/contact/%d", contact)}
			if isOrder(i) {
				r = rig.Rival{Method: "POST", Path: "/order", Body: fmt.Sprintf(rig.NewOrder, contact, "")}
			}
			requests = append(requests, r)
		}
		answers := d.AtOnce(token, requests)
		created, deleted := 0, 0
		for i, a := range answers {
			switch {
			case a.Status == 201:
				created++
			case a.Status == 200:
				deleted++
			case isOrder(i):
				require.Equal(t, 404, a.Status, "%s", a.Body)
				require.Equal(t, fmt.Sprintf("Field: contact_id value: %d ID not found", contact), a.Failure(t).Message)
			case a.Status == 406:
				require.Equal(t, "Field: id in use at: order", a.Failure(t).Message)
			default:
				require.Equal(t, 404, a.Status, "%s", a.Body)
				require.Equal(t, fmt.Sprintf("Field: id value: %d not found", contact), a.Failure(t).Message)
			}
		}
		require.Len(t, d.List(token, fmt.Sprintf("/order?contact_id=%d", contact)), created)
		stays := d.Call("GET", fmt.Sprintf("/contact/%d", contact), token, "").Status
		if deleted > 0 {
			require.Equal(t, []int{1, 0, 404}, []int{deleted, created, stays})
			gone++
		} else {
			require.Equal(t, 200, stays)
			require.Positive(t, created)
		}
	}
	t.Logf("%d of 16 contacts were deleted before their first order", gone)
}

// raceIdempotencyKey sends one request many times at once.
func raceIdempotencyKey(t *testing.T, d *rig.Desk, token string) {
	contact := d.Create(token, "contact", rig.NewContact)
	one := rig.Rival{
		Method: "POST", Path: "/order", Body: fmt.Sprintf(rig.NewOrder, contact, `,"reference":"once"`),
		Headers: []string{"Idempotency-Key", "race-1"},
	}
	var first, replayed []rig.Answer
	for _, a := range d.AtOnce(token, slices.Repeat([]rig.Rival{one}, rig.Rivals)) {
		switch {
		case a.Status == 409:
			require.Equal(t, "Idempotency-Key is in use", a.Failure(t).Message)
		case a.Header.Get("Idempotent-Replayed") == "true":
			replayed = append(replayed, a)
		default:
			first = append(first, a)
		}
	}
	require.Len(t, first, 1)
	require.Equal(t, 201, first[0].Status, "%s", first[0].Body)
	replayed = append(replayed, d.Call(one.Method, one.Path, token, one.Body, one.Headers...))
	for _, a := range replayed {
		require.Equal(t, 201, a.Status)
		require.Equal(t, string(first[0].Body), string(a.Body))
		require.Equal(t, first[0].Header.Get("Location"), a.Header.Get("Location"))
	}
	require.Len(t, d.List(token, "/order?reference=once"), 1)
}

// raceIfMatch changes one record from one state many times at once.
func raceIfMatch(t *testing.T, d *rig.Desk, token string) {
	path := fmt.Sprintf("/contact/%d", d.Create(token, "contact", rig.NewContact))
	for round := range 4 {
		etag := d.Call("GET", path, token, "").Header.Get("ETag")
		require.NotEmpty(t, etag)
		// Each time by other words: what changes nothing wins beside what does.
		won := d.Race(token, 412, "Record has been changed", func(i int) rig.Rival {
			return rig.Rival{Method: "PUT", Path: path, Body: fmt.Sprintf(`{"note":"by %d in %d"}`, i, round), Headers: []string{"If-Match", etag}}
		})
		now := d.Call("GET", path, token, "")
		require.Equal(t, won.Data(t), now.Data(t))
		require.Equal(t, won.Header.Get("ETag"), now.Header.Get("ETag"))
		require.NotEqual(t, etag, now.Header.Get("ETag"))
	}
}

// raceNumbers creates orders, some of which are refused, and expects
// numbers without a gap.
func raceNumbers(t *testing.T, d *rig.Desk, token string) {
	contact := d.Create(token, "contact", rig.NewContact)
	first := d.Call("POST", "/order", token, fmt.Sprintf(rig.NewOrder, contact, "")).Data(t)["number"].(string)
	var requests []rig.Rival
	for i := range rig.Rivals * 3 {
		who := contact
		if i%3 == 0 {
			who = 999_999
		}
		requests = append(requests, rig.Rival{Method: "POST", Path: "/order", Body: fmt.Sprintf(rig.NewOrder, who, "")})
	}
	var numbers []string
	for i, a := range d.AtOnce(token, requests) {
		if i%3 == 0 {
			require.Equal(t, 404, a.Status, "%s", a.Body)
			continue
		}
		require.Equal(t, 201, a.Status, "%s", a.Body)
		numbers = append(numbers, a.Data(t)["number"].(string))
	}
	slices.Sort(numbers)
	var last int
	must.Have(fmt.Sscanf(first, "O%d", &last))(t)
	for i, number := range numbers {
		require.Equal(t, fmt.Sprintf("O%06d", last+1+i), number)
	}
	require.Len(t, numbers, rig.Rivals*2)
}
