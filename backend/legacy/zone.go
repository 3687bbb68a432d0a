package legacy

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"frontdesk/backend/sqlrecord"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

// moment is an instant, in seconds since 1970, and what a clock of the session shows then.
type moment struct{ at, shown int64 }

// moments reads the session's clock at one instant per month, from a year ago to a year ahead, so that
// every zone shows both its summer and its winter time.
func (i *inspector) moments(ctx context.Context) (all []moment, err error) {
	const month = 30 * 24 * time.Hour
	var selected []string
	for n := range 25 {
		at := i.now().Add(time.Duration(n-12) * month).Unix()
		all, selected = append(all, moment{at: at}), append(selected, fmt.Sprintf(i.d.Clock, at))
	}
	columns := slices.Repeat([]sqlrecord.Column{{Type: mapping.Timestamp, Foreign: true}}, len(all))
	row, err := sqlrecord.One(ctx, i.conn, "SELECT "+strings.Join(selected, ", "), columns)
	if err == nil && len(row) != len(all) {
		err = errors.New("it did not answer")
	}
	if err != nil {
		return nil, fmt.Errorf("ask the session for its time zone: %w", err)
	}
	for n, v := range row {
		all[n].shown = v.Int() / 1000
	}
	return all, nil
}

// differs describes how the session's clock differs from one in a zone; "" if it does not.
func differs(all []moment, zone *time.Location) string {
	for _, m := range slices.Backward(all) {
		at := time.Unix(m.at, 0).In(zone)
		if _, offset := at.Zone(); m.at+int64(offset) != m.shown {
			return fmt.Sprintf("%s where it is %s in %s", time.Unix(m.shown, 0).UTC().Format("2006-01-02 15:04"), at.Format("15:04"), zone)
		}
	}
	return ""
}

// judgeZones refuses a sheet whose times are certain to shift: in TIMESTAMP columns of MySQL, which
// are shown in the session's zone, and in columns that only the database fills, by its own clock.
func (i *inspector) judgeZones(ctx context.Context) error {
	moments, err := i.moments(ctx)
	if err != nil {
		return err
	}
	var problems []error
	for _, of := range i.sheet.Model.Resources {
		r := i.sheet.Resources[of]
		for n, f := range mapping.Each(r.Fields) {
			how, words := &r.SQL.Fields[n], ""
			if isInstant := how.Kind == sheet.KindTimestamp || how.Kind == sheet.KindEpoch || how.Kind == sheet.KindEpochMillis; isInstant || how.Zone == nil || len(how.Names) != 1 {
				continue
			}
			shift := differs(moments, how.Zone)
			if c := i.known.columnOf(r.Read, how); c != nil && c.Type == "timestamp" && !i.d.FlexibleTypes {
				words = fmt.Sprintf("%s.%s is shown in the zone of the session, as", r.Read, c.Name)
			} else if c := i.known.columnOf(r.Table, how); c != nil && c.Sort != sqlrecord.Instants && isPresent(c.Default) && i.onlyDatabaseFills(r, f.Field, how) {
				words = fmt.Sprintf("%s.%s is filled by the database with the time of the session,", r.Table, c.Name)
			}
			if words != "" && shift != "" {
				problems = append(problems, &Problem{sheet.PathOf(r, "fields", f.Name), fmt.Errorf("resource %s: field %s: %s %s", r.Name, f.Name, words, shift), i.cure(moments, how.Zone)})
			}
		}
	}
	return errors.Join(problems...)
}

// onlyDatabaseFills reports whether nothing but the column's default sets it in a new row.
func (i *inspector) onlyDatabaseFills(r *sheet.Resource, f *mapping.Field, how *sheet.Column) bool {
	filled := len(how.Write) > 0 && (f.Required || !how.Default.IsAbsent() || how.Stamp != sheet.StampNever || f.Default != "")
	statements := r.SQL.Statements[mapping.OpCreate]
	return !filled && r.Operations[mapping.OpCreate] && (statements == nil || slices.Contains(statements, sheet.OwnStatement)) && len(i.known.Table(r.Table).Triggers) == 0 &&
		!slices.ContainsFunc(r.SQL.Constants, func(a sheet.Assign) bool { return a.Column == how.Names[0] })
}

// cure is what to write in the sheet if the session's zone differs from that of a field.
func (i *inspector) cure(moments []moment, zone *time.Location) string {
	const utc = "time_zone: UTC of the field"
	if i.d.SetZone == "" {
		return utc
	}
	cure := fmt.Sprintf("source.sql.session: [\""+i.d.SetZone+"\"]", zone)
	if differs(moments, time.UTC) == "" {
		return utc + ", or " + cure
	}
	return cure
}

// columnOf is the column of a field in a table; nil if there is none.
func (s *schema) columnOf(table string, how *sheet.Column) *Column {
	if t := s.Table(table); t != nil {
		return t.Column(how.Names[0])
	}
	return nil
}

// isPresent reports whether a column's default is the present time by the session's clock.
func isPresent(value string) bool {
	value = strings.ToLower(value)
	if strings.Contains(value, "timezone(") || strings.Contains(value, "at time zone") || strings.Contains(value, "utc") {
		return false // the default names a zone of its own
	}
	return slices.ContainsFunc([]string{"now()", "current_timestamp", "localtimestamp", "clock_timestamp", "current_date", "curdate", "sysdate"}, func(word string) bool { return strings.Contains(value, word) })
}
