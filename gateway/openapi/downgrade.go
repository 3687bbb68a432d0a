package openapi

import "slices"

// The versions of OpenAPI; Downgrade converts to Version30.
const (
	Version30 = "3.0.3"
	Version31 = "3.1.1"
)

// Downgrade makes a 3.1 document the 3.0.3 document that says the same. It
// changes d, and must be called once.
func (d *Document) Downgrade() {
	d.OpenAPI, d.Info.Summary = Version30, ""
	for _, s := range d.Components.Schemas {
		s.Value.each((*Schema).downgrade)
	}
	for _, p := range d.Components.Parameters {
		p.Value.Schema.each((*Schema).downgrade)
	}
	for _, h := range d.Components.Headers {
		h.Value.Schema.each((*Schema).downgrade)
	}
	for _, r := range d.Components.Responses {
		r.Value.downgrade()
	}
	for _, p := range d.Paths {
		p.Value.downgrade()
	}
}

func (p *PathItem) downgrade() {
	p.Each(func(_ string, op *Operation) {
		for _, p := range op.Parameters {
			p.Schema.each((*Schema).downgrade)
		}
		if op.RequestBody != nil {
			downgradeContent(op.RequestBody.Content)
		}
		for _, r := range op.Responses {
			r.Value.downgrade()
		}
		for _, c := range op.Callbacks {
			for _, at := range c.Value {
				at.Value.downgrade()
			}
		}
	})
}

func (r *Response) downgrade() {
	downgradeContent(r.Content)
	for _, h := range r.Headers {
		h.Value.Schema.each((*Schema).downgrade)
	}
}

func downgradeContent(content Map[*MediaType]) {
	for _, m := range content {
		m.Value.Schema.each((*Schema).downgrade)
	}
}

// downgrade converts one schema, without its parts. It can be called again.
func (s *Schema) downgrade() {
	s.withoutNull()
	if i := slices.Index(s.Type, Null); i >= 0 {
		s.Type, s.Nullable = slices.Delete(slices.Clone(s.Type), i, i+1), true
	}
	if s.Const != nil {
		s.Enum, s.Const = []any{s.Const}, nil
	}
	if s.Encoding == "base64" {
		s.Encoding, s.Format = "", "byte"
	}
	if len(s.Examples) > 0 {
		s.Example, s.Examples = s.Examples[0], nil
	}
}

// withoutNull turns null among other schemas into nullable, which requires a type. An enum does not
// get null as a value, although 3.0.3 requires that to the letter: readers of 3.0 are content with
// nullable, and few generators accept null as a value.
func (s *Schema) withoutNull() {
	i := slices.IndexFunc(s.AnyOf, func(a *Schema) bool { return len(a.Type) == 1 && a.Type[0] == Null })
	if i < 0 {
		return
	}
	s.AnyOf = slices.Delete(slices.Clone(s.AnyOf), i, i+1)
	s.Type, s.Nullable = Types{"object"}, true
	if len(s.AnyOf) == 1 && s.AnyOf[0].Ref == "" {
		one := s.AnyOf[0]
		s.Type, s.Format, s.Enum, s.AnyOf = one.Type, one.Format, one.Enum, nil
	}
}
