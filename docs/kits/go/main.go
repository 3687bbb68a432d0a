// Command orders shows the generated client at work: it logs in, lists, creates
// once, updates what nobody else has changed, reads every error of an answer,
// and walks a list to its end. What keeps a copy is in copier.
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/google/uuid"

	"example.com/orders/frontdesk"
)

func main() {
	s := &session{
		base:     cmp.Or(os.Getenv("BASE"), "http://127.0.0.1:8080/webservice_v2"),
		key:      uuid.MustParse(cmp.Or(os.Getenv("API_KEY"), "11111111-1111-4111-8111-111111111111")),
		username: cmp.Or(os.Getenv("FRONTDESK_USER"), "demo"), password: cmp.Or(os.Getenv("FRONTDESK_PASSWORD"), "demo"),
	}
	if err := run(context.Background(), s); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, s *session) error {
	api, err := frontdesk.NewClientWithResponses(s.base, frontdesk.WithHTTPClient(s))
	if err != nil {
		return err
	}
	for _, step := range []func(context.Context, *frontdesk.ClientWithResponses) error{list, createAndUpdate, mistaken, walk} {
		if err := step(ctx, api); err != nil {
			return err
		}
	}
	return nil
}

func list(ctx context.Context, api *frontdesk.ClientWithResponses) error {
	page, err := api.ListOrdersWithResponse(ctx, &frontdesk.ListOrdersParams{
		PageSize: new(int32(2)), Total: new(frontdesk.ListOrdersParamsTotal(1)),
		OrderStatus: new(frontdesk.ListOrdersParamsOrderStatusOpen),
	})
	if err != nil {
		return err
	}
	if page.JSON200 == nil {
		return refusal(page.StatusCode(), page.Body)
	}
	fmt.Println("open orders:", *page.JSON200.Total)
	return nil
}

func createAndUpdate(ctx context.Context, api *frontdesk.ClientWithResponses) error {
	// One key for what is to be done once, kept until it is known to be done.
	key := uuid.NewString()
	order := frontdesk.OrderCreate{
		ContactId: 1, Kind: frontdesk.OrderCreateKindWorkshop, OrderStatus: frontdesk.OrderCreateOrderStatusOpen,
		OrderDate: "2026-07-01T10:00:00+02:00", Reference: new("PO-118"),
	}
	var id int32
	var etag string
	for range 2 { // as after an answer that got lost on its way
		created, err := api.CreateOrderWithResponse(ctx, &frontdesk.CreateOrderParams{IdempotencyKey: &key}, order)
		if err != nil {
			return err
		}
		if created.JSON201 == nil {
			return refusal(created.StatusCode(), created.Body)
		}
		replayed := created.HTTPResponse.Header.Get("Idempotent-Replayed") == "true"
		id, etag = created.JSON201.Data.Id, created.HTTPResponse.Header.Get("ETag")
		fmt.Printf("created order %d, replayed: %t\n", id, replayed)
	}

	change := frontdesk.OrderUpdate{OrderStatus: new(frontdesk.OrderUpdateOrderStatusInProgress)}
	for range 2 { // the second time the ETag is out of date
		updated, err := api.UpdateOrderWithResponse(ctx, id, &frontdesk.UpdateOrderParams{IfMatch: &etag}, change)
		switch {
		case err != nil:
			return err
		case updated.JSON200 != nil:
			fmt.Println("order is now", *updated.JSON200.Data.OrderStatus)
		case updated.JSON412 != nil:
			fmt.Println("not updated:", updated.JSON412.Message)
		default:
			return refusal(updated.StatusCode(), updated.Body)
		}
	}
	return nil
}

// mistaken sends an order with three faults, and reads them all of one answer.
func mistaken(ctx context.Context, api *frontdesk.ClientWithResponses) error {
	answer, err := api.CreateOrderWithResponse(ctx, nil, frontdesk.OrderCreate{
		ContactId: 1, Kind: "repair", OrderStatus: frontdesk.OrderCreateOrderStatusOpen, OrderDate: "soon", DeliveryDate: new("later"),
	})
	if err != nil {
		return err
	}
	var refused *Refusal
	if !errors.As(refusal(answer.StatusCode(), answer.Body), &refused) {
		return fmt.Errorf("status %d where a refusal was expected", answer.StatusCode())
	}
	fmt.Println("refused with status", refused.Status)
	for _, v := range refused.Violations {
		fmt.Printf("- %s (%s)\n", v.Message, v.Reason)
	}
	return nil
}

// walk reads all orders, page by page, each after the last one of the page before.
func walk(ctx context.Context, api *frontdesk.ClientWithResponses) error {
	orders, pages, after := 0, 0, int32(0)
	for more := true; more; {
		page, err := api.ListOrdersWithResponse(ctx, &frontdesk.ListOrdersParams{
			After: &after, PageSize: new(int32(100)), Fields: new("id"),
		})
		if err != nil {
			return err
		}
		if page.JSON200 == nil {
			return refusal(page.StatusCode(), page.Body)
		}
		pages++
		orders += len(page.JSON200.Data)
		if more = page.JSON200.Next != nil; more {
			after = *page.JSON200.Data[len(page.JSON200.Data)-1].Id
		}
	}
	fmt.Printf("walked %d orders on %d pages\n", orders, pages)
	return nil
}

// Refusal is an answer that is an error. Go by the reasons; the messages are for
// people.
type Refusal struct {
	Status     int
	RequestID  string
	Violations []frontdesk.Violation // all that is wrong
}

func (r *Refusal) Error() string {
	return fmt.Sprintf("status %d: %s (request %s)", r.Status, r.Violations[0].Message, r.RequestID)
}

// refusal reads an error of the one shape that all have.
func refusal(status int, body []byte) error {
	var e frontdesk.Error
	if err := json.Unmarshal(body, &e); err != nil {
		return fmt.Errorf("status %d, and no JSON: %w", status, err)
	}
	r := &Refusal{Status: status, RequestID: e.RequestId, Violations: []frontdesk.Violation{{Message: e.Message, Reason: e.Reason, Field: e.Field}}}
	if e.Errors != nil {
		r.Violations = *e.Errors
	}
	return r
}
