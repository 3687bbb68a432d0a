package check

import (
	"context"
	"errors"
	"fmt"

	"frontdesk/backend/follow"
	"frontdesk/config/strictyaml"
	"frontdesk/mapping/sheet"
)

// changes asks what the system itself says has changed (by: table): whether that can be
// read, and leads to records.
func (x *asked) changes(ctx context.Context) {
	how := x.Sheet.Changes(x.Resource)
	if x.journal == nil || !how.IsTold() {
		return
	}
	at := strictyaml.Child(x.path, "changes")
	_, err := x.journal.Position(ctx, x.Resource, x.of)
	if err != nil {
		x.add(Error, "ask.changes", at, "what has changed cannot be read: "+hidden(err), "mend it as the message says")
		return
	}
	keys, nameless, err := x.noted(ctx, how)
	switch {
	case err != nil:
		x.add(Error, "ask.changes", at, "what has changed cannot be read: "+hidden(err), "mend it as the message says")
		return
	case nameless > 0:
		x.add(Error, "ask.changes-key", strictyaml.Child(at, "key"), fmt.Sprintf("%d of %d changes have no key there", nameless, nameless+len(keys)), "name where a change has the key of its record: what names none is not told")
	}
	last := keys[max(0, len(keys)-askedPage):]
	for _, who := range x.clients {
		records, _, err := x.journal.Named(ctx, x.Resource, who, last)
		if err != nil {
			x.add(Error, "ask.changes", at, "what has changed cannot be read: "+hidden(err), "mend it as the message says")
			return
		}
		if len(records) > 0 {
			x.Looked = append(x.Looked, fmt.Sprintf("%s: %d of the %d changes that were read lead to a record of client %d", x.Name, len(records), len(last), who.ID))
			return
		}
	}
	if len(last) > 0 {
		x.add(Warning, "ask.changes-lead-nowhere", at, fmt.Sprintf("none of the %d changes that were read leads to a record", len(last)), "see that key, where and only name changes of this resource; where all of these records were deleted, all is well")
	}
}

// noted reads changes from the beginning, and the keys in them.
func (x *asked) noted(ctx context.Context, how sheet.Changes) (keys [][]string, nameless int, err error) {
	after := ""
	for range mostPages {
		page, err := x.journal.Entries(ctx, x.Resource, x.of, after, how.Page)
		switch {
		case errors.Is(err, follow.ErrPositionGone) && after == "": // too many at once, or it tells nothing of the past
			return keys, nameless, nil
		case err != nil:
			return keys, nameless, err
		}
		keys, nameless = append(keys, page.Keys...), nameless+page.Nameless
		if after = page.Next; !page.More {
			break
		}
	}
	return keys, nameless, nil
}
