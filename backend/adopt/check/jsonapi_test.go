package check

import (
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/auth"
	"frontdesk/backend/adopt/draft"
	"frontdesk/backend/remote/foreigntest"
	"frontdesk/mapping"
)

// TestForeignDraftOfJSONAPI: of a service that keeps to JSON:API, and that nobody here wrote, the draft
// reads, filters and writes, with references and errors, as it is.
func TestForeignDraftOfJSONAPI(t *testing.T) {
	system := foreigntest.JSONAPI(t)
	model, err := mapping.LoadModel("")
	require.NoError(t, err)
	o := draft.Options{Model: model}
	for _, path := range []string{"groups", "customers", "articles"} {
		s, err := draft.Asked{URL: system.URL}.Sample(t.Context(), "/rest/"+path+"?page[limit]=10")
		require.NoError(t, err)
		o.Samples = append(o.Samples, s)
	}
	draft, err := draft.New(t.Context(), o)
	require.NoError(t, err)
	for _, line := range []string{
		`expressions: {wildcards: ",<>~:*"}`, "client: attributes.tenant #", "constants: {relationships.group.data.type: groups, relationships.supplier.data.type: customers}",
		`query: {"page[limit]": "{limit}", "filter[tenant]": "{client.id}"`, `"filter[group]": "{filter.turnover_group_id}"`, "paging: {style: link, next: links.next}", "total: {result: meta.page.total}",
		`update: {method: PATCH, path: "/rest/articles/{key}", content_type: application/vnd.api+json, result: data, body: '{"data": {"type": "articles", "id": "{key}", "attributes": {fields.attributes}, "relationships": {fields.relationships}}}'}`,
	} {
		require.Contains(t, draft.Text, line)
	}
	check := func(replace ...string) *Report {
		store, of, problems := inFront(t, draft.Text, map[string]string{"SERVICE_URL": system.URL}, replace...)
		require.Empty(t, problems)
		noord := auth.Client{ID: 1, Name: "noord"}
		if of.Other = (auth.Client{ID: 2, Name: "zuid"}); len(replace) > 0 {
			of.Write = noord
		}
		report, err := HTTP(t.Context(), store, noord, of)
		require.NoError(t, err)
		return report
	}
	require.NotEmpty(t, check().has("ask.filter-none", "resources.article.fields.description"), "it counts what it does not list")
	report := check(
		"        total: {result: meta.page.total}\n", "", // which is that of all records, filtered or not
		`client: "" #`, `shared: true #`,
	)
	require.Zero(t, report.Count(Error)+report.Count(Warning), "%s\n%s", words(t, report), draft.Text)
}
