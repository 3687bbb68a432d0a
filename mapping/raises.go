package mapping

import "slices"

// CreateRaises returns the reasons for which a body can be refused as a new record of r: by
// DecodeBody and by CheckCreate. Arrays that are not in arrays are not in the model.
func (r *Resource) CreateRaises(arrays Arrays) []Reason { return r.bodyRaises(arrays, true) }

// UpdateRaises returns the reasons for which a body can be refused as an update of a record of
// r: by DecodeBody and by CheckUpdate. CheckMerged has some of its own.
func (r *Resource) UpdateRaises(arrays Arrays) []Reason { return r.bodyRaises(arrays, false) }

func (r *Resource) bodyRaises(arrays Arrays, create bool) []Reason {
	all := []Reason{EmptyBody, BodyNotJSON, FieldNotInModel}
	for _, f := range Each(r.Fields) {
		switch {
		case f.Primary && create:
			all = append(all, PrimaryIDSupplied)
		case f.Primary, !f.In(arrays):
		case f.Readonly:
			all = append(all, FieldReadonly)
		default:
			all = append(all, f.raises()...)
			if f.Required && create {
				all = append(all, FieldRequired)
			} else if f.Required {
				all = append(all, FieldEmpty)
			}
			if f.after != nil && create {
				all = append(all, DateNotAfter)
			}
			if f.Type == Array && create {
				all = append(all, slices.DeleteFunc(f.target.CreateRaises(arrays), func(reason Reason) bool { return reason == EmptyBody })...)
			}
		}
	}
	return unrepeated(all)
}

// MergedRaises returns the reasons that CheckMerged can find.
func (r *Resource) MergedRaises() []Reason {
	var all []Reason
	for i := range r.Fields {
		if r.Fields[i].Required {
			all = append(all, FieldRequired)
		}
		if r.Fields[i].after != nil {
			all = append(all, DateNotAfter)
		}
	}
	return unrepeated(all)
}

// raises returns the reasons for which a value of the field can be refused by itself.
func (f *Field) raises() []Reason {
	var all []Reason
	switch f.Type {
	case Array:
		return []Reason{ArrayEmpty, VarcharInvalid}
	case Varchar:
		all = append(all, VarcharTooLong)
	case Text:
		all = append(all, TextTooLong)
	}
	all = append(all, f.Unreadable())
	if f.Validation() != "" {
		all = append(all, ValidationFailed)
	}
	return all
}

func unrepeated(all []Reason) []Reason {
	var once []Reason
	for _, r := range all {
		if !slices.Contains(once, r) {
			once = append(once, r)
		}
	}
	return once
}
