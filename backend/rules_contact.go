package backend

import (
	"context"

	"frontdesk/mapping"
)

// emailType is the type of a contact communication that is an e-mail address.
const emailType = 4

// preferredEmail lets a contact have one preferred e-mail address, and no
// preferred communication of another type.
func preferredEmail(ctx context.Context, tx Reader, c *Change) error {
	flag := c.Resource.Field("is_prefered_email")
	if c.Op == mapping.OpDelete || !c.After.Flag(flag.Index) {
		return nil
	}
	if !c.sets(flag.Index) && !c.sets(c.Resource.Field("type").Index) {
		return nil
	}
	if c.After.Get("type").Int() != emailType {
		return mapping.Fail(mapping.PreferredEmailNotAllowed)
	}
	if _, ok, err := hold(ctx, tx, c, "contact_id"); !ok {
		return err
	}
	if other, err := another(ctx, tx, c, flag); err != nil || !other {
		return err
	}
	return mapping.Fail(mapping.PreferredEmailDuplicate)
}

// emailValue wants an e-mail address where the type says so.
func emailValue(_ context.Context, _ Reader, c *Change) error {
	value := c.Resource.Field("value")
	if c.Op == mapping.OpDelete || c.After.Get("type").Int() != emailType {
		return nil
	}
	if !c.sets(value.Index) && !c.sets(c.Resource.Field("type").Index) {
		return nil
	}
	if text := c.After.Values[value.Index].Text(); !mapping.IsEmail(text) {
		return c.fail(mapping.ValidationFailed, value.Name, text, mapping.Literal("email"))
	}
	return nil
}

// postcode wants the Dutch form of an address in the Netherlands.
func postcode(ctx context.Context, tx Reader, c *Change) error {
	f := c.Resource.Field("postcode")
	if c.Op == mapping.OpDelete || !c.sets(f.Index) && !c.sets(c.Resource.Field("country_id").Index) {
		return nil
	}
	code := c.After.Values[f.Index].Text()
	if mapping.DutchPostcode(code) {
		return nil
	}
	dutch, err := isNetherlands(ctx, tx, c, "country_id")
	if err != nil || !dutch {
		return err
	}
	return c.fail(mapping.ValidationFailed, f.Name, code, mapping.Literal(f.Validation()))
}
