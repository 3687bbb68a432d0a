package backend

import (
	"context"

	"frontdesk/mapping"
)

// flatrateLine judges which fields of a flat rate line may be combined, in the order of
// the interface's rows.
func flatrateLine(ctx context.Context, tx Reader, c *Change) error {
	if c.Op == mapping.OpDelete {
		return nil
	}
	var found mapping.Violations
	add := func(reason mapping.Reason, args ...any) {
		found = append(found, mapping.Fail(reason, args...).At(c.Path))
	}
	has := func(field string) bool { return !c.After.Get(field).IsEmpty() }
	is := func(field string) bool { return c.After.Get(field).Int() == 1 }

	article, number := has("article_id"), has("article_number")
	if article && has("quantity") && !has("turnover_group_id") {
		add(mapping.FlatrateTurnoverGroupRequired)
	}
	if article && is("is_manual_input") { // the interface has two rows with the same message
		reason := mapping.FlatrateManualInputWithArticle
		if number {
			reason = mapping.FlatrateManualInputWithArticleNo
		}
		add(reason)
	}
	if is("is_no_article_price") && !article {
		add(mapping.FlatrateNoArticlePriceAlone)
	}
	if is("is_no_article_price") && c.After.Get("price").Decimal().IsZero() {
		add(mapping.FlatratePriceRequired)
	}
	if number && !is("is_manual_input") && !article {
		add(mapping.FlatrateArticleRequired)
	}
	taken, err := sortOrderTaken(ctx, tx, c)
	if err != nil {
		return err
	}
	if taken {
		add(mapping.FlatrateSortOrderInUse, c.After.Get("sort_order").String())
	}
	if article && !number {
		add(mapping.FlatrateArticleNumberRequired)
	}
	if article && number {
		same, err := articleHasNumber(ctx, tx, c)
		if err != nil {
			return err
		}
		if !same {
			add(mapping.FlatrateArticleNumberMismatch, c.After.Get("article_number").Text())
		}
	}
	if has("unit_type") && !has("article_kind") {
		add(mapping.FlatrateArticleKindRequired)
	}
	if has("article_kind") && !has("unit_type") {
		add(mapping.FlatrateUnitTypeRequired)
	}
	return found.Err()
}

// sortOrderTaken reports whether another line of the flat rate has the same sort_order.
func sortOrderTaken(ctx context.Context, tx Reader, c *Change) (bool, error) {
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

func articleHasNumber(ctx context.Context, tx Reader, c *Change) (bool, error) {
	article, err := related(ctx, tx, c, c.Resource.Field("article_id"), false)
	if err != nil {
		return false, err
	}
	return article.Get("number").Text() == c.After.Get("article_number").Text(), nil
}
