package backend

import (
	"context"

	"frontdesk/auth"
	"frontdesk/mapping"
)

// licensePlate keeps plates: PUT never changes one, and one of the Netherlands
// (or of no country) has a Dutch form, which it is written in.
func licensePlate(ctx context.Context, tx Driver, c *Change) error {
	if c.Op == mapping.OpDelete {
		return nil
	}
	var found mapping.Violations
	if err := found.Add(plateStays(ctx, tx, c)); err != nil {
		return err
	}
	plate := c.After.Get("license_plate").Text()
	if c.Op == mapping.OpUpdate && !c.PlateMayChange && !c.sets(c.Resource.Field("country_id").Index) {
		return found.Err()
	}
	if c.After.Get("country_id").IsSet() {
		dutch, err := isNetherlands(ctx, tx, c, "country_id")
		if err != nil {
			return err
		}
		if !dutch {
			return found.Err()
		}
	}
	if dutch, ok := mapping.DutchPlate(plate); ok {
		c.normalize("license_plate", mapping.TextValue(dutch))
	} else {
		f := c.Resource.Field("license_plate")
		found = append(found, c.fail(mapping.ValidationFailed, f.Name, plate, mapping.Literal(f.Validation())))
	}
	return found.Err()
}

// plateStays has PUT leave the plate as it is stored.
func plateStays(_ context.Context, _ Driver, c *Change) error {
	if c.Op != mapping.OpUpdate || c.PlateMayChange {
		return nil
	}
	sent, stored := c.After.Get("license_plate"), c.Before.Get("license_plate")
	c.normalize("license_plate", stored)
	if mapping.BarePlate(sent.Text()) != mapping.BarePlate(stored.Text()) {
		return mapping.Fail(mapping.LicensePlateChange)
	}
	return nil
}

// published keeps a vehicle that is advertised from being deleted.
func published(_ context.Context, _ Driver, c *Change) error {
	if c.Op == mapping.OpDelete && isPublished(c.Before) {
		return mapping.Fail(mapping.VehiclePublished, c.Before.ID())
	}
	return nil
}

func isPublished(vehicle mapping.Record) bool {
	return vehicle.Get("publish_status").Text() == "published"
}

// oneOwner lets a vehicle have one role line of the role owner.
func oneOwner(ctx context.Context, tx Driver, c *Change) error {
	role := c.After.Get("role")
	if c.Op == mapping.OpDelete || role.Text() != "owner" || !c.sets(c.Resource.Field("role").Index) {
		return nil
	}
	if _, ok, err := hold(ctx, tx, c, "vehicle_id"); !ok {
		return err
	}
	other, err := another(ctx, tx, c, c.Resource.Field("role"))
	if err != nil || !other {
		return err
	}
	return mapping.Fail(mapping.SecondOwner)
}

// PublishStart judges whether a vehicle can be advertised and, unless it is
// only asked to judge, publishes it. A published vehicle stays as it is.
func (c *Client) PublishStart(ctx context.Context, client auth.Client, id int32, judgeOnly bool, w Write) (mapping.Record, error) {
	if judgeOnly {
		w.readOnly = true
	}
	return c.publish(ctx, client, id, "published", w, func(ctx context.Context, tx Driver, change *Change) (bool, error) {
		if err := publishable(ctx, tx, change); err != nil {
			return false, err
		}
		return !judgeOnly && !isPublished(change.Before), nil
	})
}

// PublishStop ends the advertising of a vehicle. One that is not published
// stays as it is.
func (c *Client) PublishStop(ctx context.Context, client auth.Client, id int32, w Write) (mapping.Record, error) {
	return c.publish(ctx, client, id, "not_published", w, func(_ context.Context, _ Driver, change *Change) (bool, error) {
		return isPublished(change.Before), nil
	})
}

// publish sets the publish status where decide says so.
func (c *Client) publish(ctx context.Context, client auth.Client, id int32, status string, w Write, decide func(context.Context, Driver, *Change) (bool, error)) (mapping.Record, error) {
	r := c.model.Resource("vehicle")
	return c.write(ctx, client, r, "update", w, func(ctx context.Context, tx Driver) (mapping.Record, error) {
		before, err := c.held(ctx, tx, client, r, id, w)
		if err != nil {
			return before, err
		}
		patch := mapping.NewRecord(r)
		patch.Set("publish_status", mapping.TextValue(status))
		change := &Change{Op: mapping.OpUpdate, Client: client, Resource: r, Before: before, After: before.Merge(patch), Patch: patch}
		if err := recordState(ctx, tx, change); err != nil {
			return before, err
		}
		if c.driver.Capabilities().OwnRules && !w.readOnly {
			return tx.Update(ctx, client, before, patch)
		}
		if do, err := decide(ctx, tx, change); err != nil || !do {
			return before, err
		}
		return tx.Update(ctx, client, before, patch)
	})
}

// publishable tells what a vehicle lacks for being advertised.
func publishable(ctx context.Context, tx Driver, c *Change) error {
	var found mapping.Violations
	if c.Before.Get("tax_kind").IsEmpty() {
		found = append(found, mapping.Fail(mapping.PublishFieldRequired))
	}
	sites := c.Resource.Model().Resource("vehicleadvertisementsite")
	page, err := tx.List(ctx, sites, Query{
		Client: c.Client, Limit: 1, Fields: []int{sites.ID},
		Filters: []Filter{{Field: sites.Field("vehicle_id"), Value: mapping.IntValue(int64(c.Before.ID()))}},
	})
	if err != nil {
		return err
	}
	if len(page.Records) == 0 {
		found = append(found, mapping.Fail(mapping.AdvertisementSiteRequired))
	}
	return found.Err()
}

// ChangeLicensePlate gives a vehicle another plate, which PUT does not.
func (c *Client) ChangeLicensePlate(ctx context.Context, client auth.Client, id int32, plate string, w Write) (mapping.Record, error) {
	rec := mapping.NewRecord(c.model.Resource("vehicle"))
	rec.Set("license_plate", mapping.TextValue(plate))
	allowed := func(ctx context.Context, tx Driver, change *Change) error {
		change.PlateMayChange = true
		return licensePlate(ctx, tx, change)
	}
	steps := []step{recordState, mergedRecord, allowed, uniqueness}
	if c.driver.Capabilities().OwnRules {
		steps = []step{recordState, mergedRecord}
	}
	return c.update(ctx, client, id, mapping.BodyOf(rec), w, steps)
}
