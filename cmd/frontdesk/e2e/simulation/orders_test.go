package simulation

import (
	"context"
	"fmt"
	"reflect"
	"slices"

	"frontdesk/cmd/frontdesk/rig"
)

// orderer creates orders with lines, and invoices some.
type orderer struct {
	*asking
	contact, group int
	count          int
	open           []int
	invoiced       map[int]map[string]any
}

func (c *orderer) work(ctx context.Context) {
	if c.contact == 0 {
		c.invoiced = map[int]map[string]any{}
		a, known := c.want([]int{201}, "POST", "/contact", rig.NewContact)
		groups, listed := c.want([]int{200}, "GET", "/turnovergroup?page_size=1", "")
		if !known || !listed {
			return
		}
		var page struct{ Data []map[string]any }
		c.read(groups, &page)
		c.contact, c.group = number(record(a)["id"]), number(page.Data[0]["id"])
	}
	for ; ctx.Err() == nil; c.pause() {
		switch n := c.random.IntN(6); {
		case n < 3:
			c.create()
		case n == 3 && len(c.open) > 0:
			c.invoice()
		default: // what is invoiced does not change
			for id := range c.invoiced {
				c.want([]int{409}, "PUT", fmt.Sprint("/order/", id), `{"reference":"changed"}`)
				break
			}
		}
	}
}

// create creates an order of lines at 12.95, one of the first, two of the second …, once.
func (c *orderer) create() {
	c.count++
	lines, sum := "", 0
	for i := range 1 + c.random.IntN(3) {
		lines += fmt.Sprintf(`,{"description":"Line","quantity":%d,"price":12.95,"turnover_group_id":%d}`, i+1, c.group)
		sum += 1295 * (i + 1)
	}
	body := fmt.Sprintf(rig.NewOrder, c.contact, fmt.Sprintf(`,"reference":"%s-%d","orderlines":[%s]`, c.name, c.count, lines[1:]))
	for range 2 {
		a, known := c.want([]int{201, 409}, "POST", "/order", body, keyed(fmt.Sprintf("order-%d", c.count))...)
		if known && a.Status == 201 {
			c.open = append(c.open, number(record(a)["id"]))
			if total := record(a)["total_excl"]; total != float64(sum)/100 {
				c.fault("%s: %d lines make %v, not %d cents", c.name, sum/1295, total, sum)
			}
			return
		}
	}
}

func (c *orderer) invoice() {
	i := c.random.IntN(len(c.open))
	id := c.open[i]
	c.open = slices.Delete(c.open, i, i+1)
	if a, known := c.want([]int{200}, "PUT", fmt.Sprint("/order/", id), `{"order_status":"invoiced"}`); known {
		c.invoiced[id] = record(a)
	}
}

// check wants numbers without gaps and doubles, each order once and whole, and what is invoiced as it was.
func (c *orderer) check() {
	var numbers []int
	references := map[string]int{}
	for _, order := range c.list("/order") {
		var n int
		if _, err := fmt.Sscanf(fmt.Sprint(order["number"]), "O%d", &n); err == nil {
			numbers = append(numbers, n)
		}
		id := number(order["id"])
		if was := c.invoiced[id]; was != nil && !reflect.DeepEqual(was, order) {
			c.fault("%s: the invoiced order %d was %v, and is %v", c.name, id, was, order)
		}
		if ref, _ := order["reference"].(string); ref != "" && number(order["contact_id"]) == c.contact {
			if references[ref]++; references[ref] > 1 {
				c.fault("%s: %s was created %d times", c.name, ref, references[ref])
			}
		}
	}
	slices.Sort(numbers)
	for i := 1; i < len(numbers); i++ { // there are none where the list was not answered
		if numbers[i] != numbers[i-1]+1 {
			c.fault("%s: the number %d follows %d", c.name, numbers[i], numbers[i-1])
		}
	}
}
