package legacy

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

// Shift is a field whose times the database shows or writes in another zone than the sheet
// reads them in.
type Shift struct {
	Resource *sheet.Resource
	Field    *sheet.Field
	// Certain tells that records will have wrong times; if not, a trigger may set them right.
	Certain bool
	Words   string // what is so
	Cure    string // what to write in the sheet
}

// moment is an instant, in seconds since 1970, and what a clock of the session shows then.
type moment struct{ at, shown int64 }

// moments asks the session's clock for one instant per month, from a year ago to a year ahead:
// so summer and winter time are among them in every zone.
func (s *Store) moments(ctx context.Context, now time.Time) (all []moment, err error) {
	const month = 30 * 24 * time.Hour
	b := newStatement(s.d).add("SELECT ")
	for n := range 25 {
		at := now.Add(time.Duration(n-12) * month).Unix()
		if b.add(comma(n)); !s.d.shown(b, intRaw(at)) {
			return nil, nil
		}
		all = append(all, moment{at: at})
	}
	row, err := queryOne(ctx, s.db, b)
	if err == nil && len(row) != len(all) {
		err = errors.New("it did not answer")
	}
	if err != nil {
		return nil, fmt.Errorf("ask the session for its time zone: %w", err)
	}
	for i, v := range row {
		if v.Kind != sheet.RawWall {
			v = textTimeRaw(v.String())
		}
		all[i].shown = v.Int / 1000
	}
	return all, nil
}

// differs describes how the session's clock differs from one in a zone; "" if it does not.
func differs(all []moment, zone *time.Location) string {
	for i := range all {
		m := all[len(all)-1-i]
		at := time.Unix(m.at, 0).In(zone)
		if _, offset := at.Zone(); m.at+int64(offset) != m.shown {
			return fmt.Sprintf("%s where it is %s in %s", time.Unix(m.shown, 0).UTC().Format("2006-01-02 15:04"), at.Format("15:04"), zone)
		}
	}
	return ""
}

// shifts finds the fields of resources that shift: TIMESTAMP columns of MySQL, which are shown
// in the session's zone, and columns that the database fills by itself with what its clock
// shows.
func (s *Store) shifts(ctx context.Context, schema Schema, of []*sheet.Resource, now time.Time) (all []Shift, err error) {
	moments, err := s.moments(ctx, now)
	if err != nil {
		return nil, err
	}
	for _, r := range of {
		for _, f := range mapping.Each(r.Fields) {
			zone := f.Zone()
			if zone == nil {
				continue
			}
			how := differs(moments, zone)
			if how == "" {
				continue
			}
			shift := Shift{Resource: r, Field: f, Cure: s.cure(moments, zone)}
			if c := columnOf(schema, r.Read, f); c != nil && c.Type == "timestamp" && s.isMySQL() {
				shift.Certain, shift.Words = true, fmt.Sprintf("%s.%s is shown in the zone of the session, as %s", r.Read, c.Name, how)
			} else if c := columnOf(schema, r.Table, f); c != nil && !hasZone(c.Type) && isPresent(c.Default) && !f.Traits().Filled {
				create := r.Operations[mapping.OpCreate]
				shift.Certain = create != nil && create.Procedure == "" && len(schema.Table(r.Table).Triggers) == 0 && !slices.Contains(r.Constants(), c.Name)
				shift.Words = fmt.Sprintf("%s.%s is filled by the database with the time of the session, %s", r.Table, c.Name, how)
			} else {
				continue
			}
			all = append(all, shift)
		}
	}
	return all, nil
}

// cure is what to write in the sheet if the session's zone is not that of a field.
func (s *Store) cure(moments []moment, zone *time.Location) string {
	var cures []string
	if differs(moments, time.UTC) == "" {
		cures = append(cures, "time_zone: UTC of the field")
	}
	switch s.d.engine() {
	case "mysql", "mariadb":
		cures = append(cures, fmt.Sprintf("source.sql.session: [\"SET time_zone = '%s'\"]", zone))
	case "postgres":
		cures = append(cures, fmt.Sprintf("source.sql.session: [\"SET TIME ZONE '%s'\"]", zone))
	}
	return strings.Join(cures, ", or ")
}

func (s *Store) isMySQL() bool { _, ok := s.d.(mysqlDialect); return ok }

// columnOf is the only column of a field in a table; nil if there is none.
func columnOf(schema Schema, table string, f *sheet.Field) *Column {
	if t := schema.Table(table); t != nil && len(f.From) == 1 {
		return t.Column(f.From[0])
	}
	return nil
}

// hasZone tells whether a type of columns is one of instants.
func hasZone(kind string) bool { return kind == "timestamp with time zone" }

// isPresent tells whether a column's default is the present time by the session's clock.
func isPresent(value string) bool {
	value = strings.ToLower(value)
	if strings.Contains(value, "timezone(") || strings.Contains(value, "at time zone") || strings.Contains(value, "utc") {
		return false // a zone of its own
	}
	return slices.ContainsFunc([]string{"now()", "current_timestamp", "localtimestamp", "clock_timestamp", "current_date", "curdate", "sysdate"}, func(word string) bool { return strings.Contains(value, word) })
}

// judgeZones refuses a sheet whose times are certain to shift.
func (s *Store) judgeZones(ctx context.Context, schema Schema) error {
	var of []*sheet.Resource
	for _, r := range s.sheet.Model.Resources {
		of = append(of, s.sheet.Resources[r])
	}
	shifts, err := s.shifts(ctx, schema, of, s.now())
	var problems []error
	for _, shift := range shifts {
		if shift.Certain {
			problems = append(problems, fmt.Errorf("resource %s: field %s: %s: expected %s", shift.Resource.Name, shift.Field.Name, shift.Words, shift.Cure))
		}
	}
	return errors.Join(append(problems, err)...)
}

// Shifts finds the fields of a sheet whose times shift.
func (r *Reader) Shifts(ctx context.Context, of *sheet.Resource, schema Schema) ([]Shift, error) {
	return r.store.shifts(ctx, schema, []*sheet.Resource{of}, time.Now())
}
