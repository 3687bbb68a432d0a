package backend

import (
	"context"

	"frontdesk/mapping"
)

// flatrateLine judges which fields of a flat rate line may stand together, in
// the order of the interface's rows.
func flatrateLine(ctx context.Context, tx Driver, c *Change) error {
	if c.Op == mapping.OpDelete {
		return nil
	}
	var found mapping.Violations
	missing := func(reason mapping.Reason, field string) {
		if c.Path != "" { // an element has a place, which the row's own words lack
			found = append(found, c.fail(mapping.FieldRequired, field))
			return
		}
		found = append(found, mapping.Fail(reason))
	}
	has := func(field string) bool { return !c.After.Get(field).IsEmpty() }
	is := func(field string) bool { return c.After.Get(field).Int() == 1 }

	article, number := has("article_id"), has("article_number")
	if article && has("quantity") && !has("turnover_group_id") {
		missing(mapping.FlatrateTurnoverGroupRequired, "turnover_group_id")
	}
	if article && is("is_manual_input") && !number {
		found = append(found, mapping.Fail(mapping.FlatrateManualInputWithArticle))
	}
	if is("is_no_article_price") && !article {
		found = append(found, mapping.Fail(mapping.FlatrateNoArticlePriceAlone))
	}
	if is("is_no_article_price") && c.After.Get("price").Int() == 0 {
		missing(mapping.FlatratePriceRequired, "price")
	}
	if number && !is("is_manual_input") && !article {
		missing(mapping.FlatrateArticleRequired, "article_id")
	}
	if article && number && is("is_manual_input") {
		found = append(found, mapping.Fail(mapping.FlatrateManualInputWithArticleNo))
	}
	taken, err := sortOrderTaken(ctx, tx, c)
	if err != nil {
		return err
	}
	if taken {
		found = append(found, mapping.Fail(mapping.FlatrateSortOrderInUse, c.After.Get("sort_order").String()))
	}
	if article && !number {
		missing(mapping.FlatrateArticleNumberRequired, "article_number")
	}
	if article && number {
		same, err := articleHasNumber(ctx, tx, c)
		if err != nil {
			return err
		}
		if !same {
			found = append(found, mapping.Fail(mapping.FlatrateArticleNumberMismatch, c.After.Get("article_number").Text()))
		}
	}
	if has("unit_type") && !has("article_kind") {
		missing(mapping.FlatrateArticleKindRequired, "article_kind")
	}
	if has("article_kind") && !has("unit_type") {
		missing(mapping.FlatrateUnitTypeRequired, "unit_type")
	}
	return found.Err()
}

// sortOrderTaken tells whether another line of the flat rate has the place.
func sortOrderTaken(ctx context.Context, tx Driver, c *Change) (bool, error) {
	f := c.Resource.Field("sort_order")
	value := c.After.Values[f.Index]
	if !value.IsSet() || !c.sets(f.Index) {
		return false, nil
	}
	if _, _, err := hold(ctx, tx, c, "flatrate_id"); err != nil {
		return false, err
	}
	return another(ctx, tx, c, f)
}

func articleHasNumber(ctx context.Context, tx Driver, c *Change) (bool, error) {
	article, err := related(ctx, tx, c, c.Resource.Field("article_id"), false)
	if err != nil {
		return false, err
	}
	return article.Get("number").Text() == c.After.Get("article_number").Text(), nil
}
