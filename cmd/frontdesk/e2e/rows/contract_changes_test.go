package rows

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/cmd/frontdesk/rig"
)

// changesPage is an answer of /changes.
type changesPage struct {
	Data []struct {
		Resource string         `json:"resource"`
		ID       int            `json:"id"`
		Kind     string         `json:"kind"`
		At       time.Time      `json:"at"`
		Record   map[string]any `json:"record"`
	} `json:"data"`
	Cursor string  `json:"cursor"`
	More   bool    `json:"more"`
	Next   *string `json:"next"`
}

func changes(p *rig.Practice, path string) (page changesPage) {
	p.T.Helper()
	p.Settled()
	a := p.Call("GET", path, p.Token, "")
	require.Equal(p.T, 200, a.Status, "%s", a.Body)
	require.NoError(p.T, json.Unmarshal(a.Body, &page))
	require.NotNil(p.T, page.Data)
	require.NotEmpty(p.T, page.Cursor)
	require.Equal(p.T, page.More, page.Next != nil)
	return page
}

// beginning is the cursor of now.
func beginning(p *rig.Practice) string {
	p.T.Helper()
	begin := changes(p, "/changes")
	require.Empty(p.T, begin.Data)
	require.False(p.T, begin.More)
	return begin.Cursor
}

func kinds(page changesPage) (all []string) {
	for _, c := range page.Data {
		all = append(all, fmt.Sprintf("%s %s %d", c.Kind, c.Resource, c.ID))
	}
	return all
}

// contractChanges follows records through all that becomes of them.
func contractChanges(t *testing.T, p *rig.Practice) {
	begin := beginning(p)
	after := "after=" + url.QueryEscape(begin)
	require.Empty(t, changes(p, "/changes?"+after).Data)

	order := p.Order("open")
	line := p.Line(order)
	require.Equal(t, []string{fmt.Sprint("created orderline ", line), fmt.Sprint("created order ", order)}, kinds(changes(p, "/changes?"+after+"&resource=order,orderline")),
		"the order has changed with its line: its last state comes last, and it is new to who asks")
	first := changes(p, "/changes?"+after+"&resource=order,orderline&page_size=1&records=1")
	require.True(t, first.More)
	require.Contains(t, *first.Next, "/webservice_v2/changes?")
	require.Contains(t, *first.Next, "records=1")
	require.Equal(t, []string{fmt.Sprint("created order ", order)}, kinds(first))
	next := changes(p, strings.TrimPrefix(*first.Next, "/webservice_v2"))
	require.Equal(t, []string{fmt.Sprint("created orderline ", line)}, kinds(next))
	next = changes(p, strings.TrimPrefix(*next.Next, "/webservice_v2"))
	require.Equal(t, []string{fmt.Sprint("updated order ", order)}, kinds(next))
	require.Equal(t, "10.00", fmt.Sprintf("%.2f", next.Data[0].Record["total_excl"]))
	require.NotContains(t, next.Data[0].Record, "orderlines")

	require.Equal(t, 200, p.Call("DELETE", fmt.Sprint("/orderline/", line), p.Token, "").Status)
	after = "after=" + url.QueryEscape(next.Cursor)
	page := changes(p, "/changes?"+after+"&records=1")
	require.Equal(t, []string{fmt.Sprint("deleted orderline ", line), fmt.Sprint("updated order ", order)}, kinds(page))
	require.Nil(t, page.Data[0].Record)
	raw := p.Call("GET", "/changes?"+after, p.Token, "")
	require.NotContains(t, string(raw.Body), `"record"`)

	vehicle := p.Vehicle("")
	require.Len(t, changes(p, "/changes?"+after+"&resource=vehicle").Data, 1)
	p.Put("/updatelicenseplate", fmt.Sprintf(`{"id":%d,"license_plate":%q}`, vehicle, p.Plate()))
	p.Put(fmt.Sprintf("/vehicle/publishstop?id=%d", vehicle), "")
	require.Equal(t, []string{fmt.Sprint("created vehicle ", vehicle)}, kinds(changes(p, "/changes?"+after+"&resource=vehicle")))
	made := func(path string, id int) string { return fmt.Sprint(p.Get(fmt.Sprint(path, id))["created_at"]) }
	between := []string{made("/order/", order), page.Data[0].At.UTC().Format("2006-01-02T15:04:05.000Z"), made("/vehicle/", vehicle)}
	require.True(t, slices.IsSorted(between), "when it was: %v", between)
}

// contractChangesOfOthers has keys and clients hear only of what they may.
func contractChangesOfOthers(t *testing.T, p *rig.Practice) {
	begin := beginning(p)
	other := p.As(p.Login(rig.FullKey, "other"))
	theirs := changes(other, "/changes")
	order := p.Order("open")
	contact := p.Post("contact", `{"kind":"person","name":"Told"}`)
	told := changes(p, "/changes?after="+begin)
	require.Equal(t, []string{fmt.Sprint("created order ", order), fmt.Sprint("created contact ", contact)}, kinds(told))
	require.Empty(t, changes(other, "/changes?after="+theirs.Cursor).Data)

	few := p.As(p.Login(rig.ChangesKey, "demo"))
	require.Equal(t, []string{fmt.Sprint("created contact ", contact)}, kinds(changes(few, "/changes?after="+begin)))
}

// contractDigest compares sums with those of the records.
func contractDigest(t *testing.T, p *rig.Practice) {
	type sums struct {
		Data []struct {
			From, To, Count int
			Digest          string
		}
		Cursor string
	}
	digest := func(query string) (d sums) {
		a := p.Call("GET", "/changes/digest?resource=contact"+query, p.Token, "")
		require.Equal(t, 200, a.Status, "%s", a.Body)
		require.NoError(t, json.Unmarshal(a.Body, &d))
		changes(p, "/changes?after="+d.Cursor)
		return d
	}
	var all struct {
		Data []struct {
			ID       int    `json:"id"`
			Modified string `json:"modified_at"`
		}
	}
	require.NoError(t, json.Unmarshal(p.Call("GET", "/contact?page_size=1000&fields=id,modified_at", p.Token, "").Body, &all))
	d := digest("")
	require.Len(t, d.Data, 64)
	require.Equal(t, 1, d.Data[0].From)
	require.Equal(t, 1<<31-1, d.Data[63].To)
	count := 0
	for _, r := range d.Data {
		var lines strings.Builder
		for _, rec := range all.Data {
			if rec.ID >= r.From && rec.ID <= r.To {
				fmt.Fprintf(&lines, "%d %s\n", rec.ID, rec.Modified)
			}
		}
		require.Equal(t, fmt.Sprintf("%x", sha256.Sum256([]byte(lines.String()))), r.Digest)
		count += r.Count
	}
	require.Equal(t, len(all.Data), count)
	part := digest("&ranges=2&from=3&to=10")
	require.Len(t, part.Data, 2)
	require.Equal(t, []int{3, 6, 7, 10}, []int{part.Data[0].From, part.Data[0].To, part.Data[1].From, part.Data[1].To})
}
