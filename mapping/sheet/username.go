package sheet

// UsernamePlace is where Facts have the user's name, by which one is found; ""
// where they have none.
func (f *Facts) UsernamePlace() string {
	if from := f.fields[factUsername].From; len(from) > 0 {
		return from[0]
	}
	return ""
}
