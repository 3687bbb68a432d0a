package backend

import (
	"context"

	"frontdesk/auth"
	"frontdesk/mapping"
)

// licensePlate judges plates: PUT never changes one. A plate of the Netherlands (or of no
// country) must have a Dutch form, and is stored in its canonical form.
func licensePlate(ctx context.Context, tx Reader, c *Change) error {
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

// plateStays refuses a PUT that changes the plate.
func plateStays(_ context.Context, _ Reader, c *Change) error {
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

// published refuses to delete a vehicle that is advertised.
func published(_ context.Context, _ Reader, c *Change) error {
	if c.Op == mapping.OpDelete && isPublished(c.Before) {
		return mapping.Fail(mapping.VehiclePublished, c.Before.ID())
	}
	return nil
}

func isPublished(vehicle mapping.Record) bool {
	return vehicle.Get("publish_status").Text() == "published"
}

// oneOwner lets a vehicle have one role line of the role owner.
func oneOwner(ctx context.Context, tx Reader, c *Change) error {
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

// PublishStart judges whether a vehicle can be advertised and, unless asked only to
// judge, publishes it. A vehicle that is published already does not change.
func (c *Client) PublishStart(ctx context.Context, client auth.Client, id int32, judgeOnly bool, w Write) (mapping.Record, error) {
	if !judgeOnly {
		return c.publish(ctx, client, id, "published", w, publishable)
	}
	var change *Change
	err := c.call(ctx, c.sections[c.model.Resource("vehicle")].reads, client, "update", func(ctx context.Context) (err error) {
		if change, err = c.newStatus(ctx, c.driver, client, id, "published", w); err != nil {
			return err
		}
		return publishable(ctx, c.driver, change)
	})
	if err != nil {
		return mapping.Record{}, err
	}
	return change.Before, nil
}

// PublishStop ends the advertising of a vehicle. A vehicle that is not published does not
// change.
func (c *Client) PublishStop(ctx context.Context, client auth.Client, id int32, w Write) (mapping.Record, error) {
	return c.publish(ctx, client, id, "not_published", w, func(context.Context, Reader, *Change) error { return nil })
}

// publish gives a vehicle a publish status that it does not have yet.
func (c *Client) publish(ctx context.Context, client auth.Client, id int32, status string, w Write, allowed step) (mapping.Record, error) {
	return c.write(ctx, client, c.model.Resource("vehicle"), "update", w, func(ctx context.Context, tx Tx) (mapping.Record, error) {
		change, err := c.newStatus(ctx, tx, client, id, status, w)
		if err != nil {
			return mapping.Record{}, err
		}
		if !c.driver.Capabilities().OwnRules {
			if err := allowed(ctx, tx, change); err != nil {
				return mapping.Record{}, err
			}
			if isPublished(change.Before) == isPublished(change.After) {
				return change.Before, nil
			}
		}
		stored, err := tx.Update(ctx, client, change.Before, c.derive(change))
		return stored, notFound(id, err)
	})
}

// newStatus is the change of a vehicle's publish status.
func (c *Client) newStatus(ctx context.Context, tx Reader, client auth.Client, id int32, status string, w Write) (*Change, error) {
	r := c.model.Resource("vehicle")
	before, err := c.held(ctx, tx, client, r, id, w)
	if err != nil {
		return nil, err
	}
	patch := mapping.NewRecord(r)
	patch.Set("publish_status", mapping.TextValue(status))
	change := &Change{Op: mapping.OpUpdate, Client: client, Resource: r, Before: before, After: before.Merge(patch), Patch: patch}
	return change, recordState(ctx, tx, change)
}

// publishable returns what a vehicle lacks for being advertised.
func publishable(ctx context.Context, tx Reader, c *Change) error {
	var found mapping.Violations
	if c.Before.Get("tax_kind").IsEmpty() {
		found = append(found, mapping.Fail(mapping.PublishFieldRequired))
	}
	sites := c.Resource.Model().Resource("vehicleadvertisementsite")
	page, err := tx.List(ctx, sites, Query{
		Client: c.Client, Limit: 1, Fields: []int{sites.ID}, Decides: true,
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

// ChangeLicensePlate gives a vehicle another plate. Update refuses to.
func (c *Client) ChangeLicensePlate(ctx context.Context, client auth.Client, id int32, plate string, w Write) (mapping.Record, error) {
	rec := mapping.NewRecord(c.model.Resource("vehicle"))
	rec.Set("license_plate", mapping.TextValue(plate))
	allowed := func(ctx context.Context, tx Reader, change *Change) error {
		change.PlateMayChange = true
		return licensePlate(ctx, tx, change)
	}
	steps := []step{recordState, c.mergedRecord, allowed, uniqueness}
	if c.driver.Capabilities().OwnRules {
		steps = []step{recordState, c.mergedRecord}
	}
	return c.update(ctx, client, id, mapping.BodyOf(rec), w, steps)
}
