package backend

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"frontdesk/mapping"
)

// rule is a business rule that a resource's file can name.
type rule struct {
	judge     step // judges the record as the change would leave it
	ownRecord step // the part of judge that needs no other record; nil if there is none
	// needs are the fields that the rule uses, in the resource that names it.
	// Alternatives are joined by |.
	needs []string
	// related are the fields of other resources that it uses.
	related []string
	// words is the unique field for which the rule has its own message if the value is
	// taken; fixes is the field that the rule forbids to change.
	words, fixes string
	raises       map[mapping.Scope][]mapping.Reason
}

// rules are all rules, by name.
func rules() map[string]rule {
	const create, update, remove = mapping.OpCreate, mapping.OpUpdate, mapping.OpDelete
	type by = map[mapping.Scope][]mapping.Reason
	both := func(reasons ...mapping.Reason) by { return by{create: reasons, update: reasons} }
	closed := []mapping.Reason{mapping.StatusForbidsChange}
	return map[string]rule{
		"order_status": {
			judge: orderStatus, ownRecord: ownStatus, needs: []string{"order_status|order_id"}, related: []string{"order.order_status"},
			raises: by{create: closed, update: closed, remove: closed},
		},
		"license_plate": {
			judge: licensePlate, ownRecord: plateStays, needs: []string{"license_plate", "country_id"}, related: []string{"country.code"}, fixes: "license_plate",
			raises: by{create: {mapping.ValidationFailed}, update: {mapping.LicensePlateChange, mapping.ValidationFailed}},
		},
		"published": {
			judge: published, ownRecord: published, needs: []string{"publish_status"},
			raises: by{remove: {mapping.VehiclePublished}},
		},
		"one_owner": {
			judge: oneOwner, needs: []string{"role", "vehicle_id"}, words: "role",
			raises: both(mapping.SecondOwner),
		},
		"prefered_email": {
			judge: preferredEmail, needs: []string{"is_prefered_email", "type", "contact_id"}, words: "is_prefered_email",
			raises: both(mapping.PreferredEmailDuplicate, mapping.PreferredEmailNotAllowed),
		},
		"email_value": {
			judge: emailValue, ownRecord: emailValue, needs: []string{"type", "value"},
			raises: both(mapping.ValidationFailed),
		},
		"postcode": {
			judge: postcode, needs: []string{"postcode", "country_id"}, related: []string{"country.code"},
			raises: both(mapping.ValidationFailed),
		},
		"flatrate_line": {
			judge: flatrateLine, words: "sort_order", related: []string{"article.number"},
			needs: []string{
				"flatrate_id", "article_id", "article_number", "article_kind", "unit_type", "quantity", "turnover_group_id",
				"is_manual_input", "is_no_article_price", "price", "sort_order",
			},
			raises: both(
				mapping.FlatrateTurnoverGroupRequired, mapping.FlatrateManualInputWithArticle, mapping.FlatrateNoArticlePriceAlone,
				mapping.FlatratePriceRequired, mapping.FlatrateArticleRequired, mapping.FlatrateManualInputWithArticleNo,
				mapping.FlatrateSortOrderInUse, mapping.FlatrateArticleNumberRequired, mapping.FlatrateArticleNumberMismatch,
				mapping.FlatrateArticleKindRequired, mapping.FlatrateUnitTypeRequired,
			),
		},
	}
}

// RuleFields are the fields that a rule uses, in the resource that names it; alternatives
// are joined by |. ok is false if there is no such rule.
func RuleFields(name string) (fields []string, ok bool) {
	r, ok := rules()[name]
	return r.needs, ok
}

// RuleRaises are the reasons for which a rule refuses a change.
func RuleRaises(name string) (all []mapping.Reason) {
	for _, reasons := range rules()[name].raises {
		all = append(all, reasons...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// DecidesDelete reports whether a rule of a resource can refuse to delete a record because of
// the value of a field.
func DecidesDelete(r *mapping.Resource, field string) bool {
	all := rules()
	return slices.ContainsFunc(r.Rules, func(name string) bool {
		return len(all[name].raises[mapping.OpDelete]) > 0 && slices.ContainsFunc(all[name].needs, func(needs string) bool {
			return slices.Contains(strings.Split(needs, "|"), field)
		})
	})
}

// elements are the records in the array fields of a create, each as its own Change.
func (c *Change) elements() []*Change {
	var all []*Change
	for i := range c.Resource.Fields {
		f := &c.Resource.Fields[i]
		lines := c.Patch.Children[i]
		for n, line := range lines {
			all = append(all, &Change{
				Op: mapping.OpCreate, Client: c.Client, Resource: line.Resource, Body: c.Body.Line(i, n),
				After: line, Patch: line, Path: fmt.Sprintf("%s[%d]", f.Name, n), Siblings: lines[:n],
			})
		}
	}
	return all
}

// hold reads the record that a field refers to, and locks it until the transaction
// ends, so that decisions based on it stay true. hold returns false if the field is
// empty: in an element whose record is being created.
func hold(ctx context.Context, tx Reader, c *Change, field string) (mapping.Record, bool, error) {
	f := c.Resource.Field(field)
	if !c.After.Values[f.Index].IsSet() {
		return mapping.Record{}, false, nil
	}
	rec, ok := c.held[f]
	if ok {
		return rec, true, nil
	}
	rec, err := related(ctx, tx, c, f, true)
	if err != nil {
		return rec, false, err
	}
	if c.held == nil {
		c.held = map[*mapping.Field]mapping.Record{}
	}
	c.held[f] = rec
	return rec, true, nil
}

// related reads the record that a field refers to. Its existence was judged before: if it
// is gone, the write must be judged again.
func related(ctx context.Context, tx Reader, c *Change, f *mapping.Field, forUpdate bool) (mapping.Record, error) {
	q := Query{Client: c.Client, ID: int32(c.After.Values[f.Index].Int()), ForUpdate: forUpdate}
	rec, err := tx.Get(ctx, f.Target(), q)
	if errors.Is(err, ErrNotFound) {
		err = fmt.Errorf("%w: %s of %s went away", ErrStale, f.Name, c.Resource.Name)
	}
	return rec, err
}

// isNetherlands reports whether the country that a field refers to is NL.
func isNetherlands(ctx context.Context, tx Reader, c *Change, field string) (bool, error) {
	country, err := related(ctx, tx, c, c.Resource.Field(field), false)
	return country.Resource != nil && country.Get("code").Text() == "NL", err
}
