package backendtest

import (
	"fmt"
	"slices"

	"frontdesk/config/strictyaml"
)

// Exception is a case that is known to fail, and why that is accepted.
type Exception struct {
	Case     string `yaml:"case"`
	Resource string `yaml:"resource"` // "" for all of those it runs on
	Reason   string `yaml:"reason"`
}

// ReadExceptions decodes a file of exceptions: a list of case, reason and, if the
// exception is for one resource only, resource.
func ReadExceptions(file string, src []byte) ([]Exception, strictyaml.Problems) {
	var list []Exception
	document, problems := strictyaml.Decode(file, src, &list, strictyaml.Options{})
	report := func(path, format string, args ...any) {
		if document.Broken(path) {
			return
		}
		p := document.At(path)
		p.Path, p.Message = path, fmt.Sprintf(format, args...)
		problems = append(problems, p)
	}
	seen := map[[2]string]bool{}
	for i, e := range list {
		path := fmt.Sprintf("[%d]", i)
		switch c := caseNamed(e.Case); {
		case e.Case == "":
			report(path+".case", "missing, expected the ID of a case; frontdesk-kit conform --list shows them all")
		case c == nil:
			report(path+".case", "no case is called %s%s", e.Case, suggestCase(e.Case))
		case e.Resource != "" && !c.Each:
			report(path+".resource", "%s chooses its resource itself, leave this out", e.Case)
		case seen[[2]string{e.Case, e.Resource}]:
			report(path+".case", "%s is excepted twice", e.Case)
		}
		if e.Reason == "" {
			report(path+".reason", "missing, expected why the failure is accepted")
		}
		seen[[2]string{e.Case, e.Resource}] = true
	}
	problems.Sort()
	return list, problems
}

func caseNamed(id string) *Case {
	all := Cases()
	if i := slices.IndexFunc(all, func(c Case) bool { return c.ID == id }); i >= 0 {
		return &all[i]
	}
	return nil
}

// suggestCase names the case that was probably meant.
func suggestCase(id string) string {
	var ids []string
	for _, c := range Cases() {
		ids = append(ids, c.ID)
	}
	return strictyaml.Suggest(id, ids)
}

// except marks the failures that are known. An exception whose cases all passed
// is a failure itself, so that the list stays honest.
func except(results []Result, exceptions []Exception) []Result {
	for _, e := range exceptions {
		failed, passed := false, -1
		for i := range results {
			r := &results[i]
			if r.Case.ID != e.Case || e.Resource != "" && r.Resource != e.Resource {
				continue
			}
			switch {
			case r.Status == Failed && !r.unneeded:
				r.Status, r.Reason = Known, e.Reason
				fallthrough
			case r.Status == Known:
				failed = true
			case r.Status == Passed:
				passed = i
			}
		}
		if !failed && passed >= 0 { // otherwise no case of it was selected, or possible
			r := &results[passed]
			r.Status, r.unneeded, r.Exchanges = Failed, true, nil
			r.Reason = "the case passes, although an exception says that it fails"
			r.Expected, r.Got = "a failure: "+e.Reason, "it passed"
			r.Case.Hint = "Take the exception out of the file."
		}
	}
	return results
}
