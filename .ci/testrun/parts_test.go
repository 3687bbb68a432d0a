package main

import (
	"bytes"
	"context"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// always are the programs that nobody runs the tests without.
var always = []string{"sh", "/bin/sh", "go", "git"}

// isProgram tells whether a part of that name has the program; "" is any part.
func isProgram(name, program string) bool {
	return slices.ContainsFunc(parts, func(p part) bool {
		return (name == "" || p.name == name) && slices.ContainsFunc(p.programs, func(any string) bool { return slices.Contains(strings.Split(any, "|"), program) })
	})
}

// TestWhatTestsNeedIsOfAPart holds what tests ask for and start to the table. Where all
// parts are demanded, nobody would miss what is in none.
func TestWhatTestsNeedIsOfAPart(t *testing.T) {
	seen := map[string]int{}
	eachCall(t, func(at, function string, said []string) {
		seen[function]++
		switch function {
		case "Required":
			if !slices.ContainsFunc(parts, func(p part) bool { return p.name == said[0] }) {
				t.Errorf("%s: %q is no part", at, said[0])
			}
		case "Tool":
			if said[1] == "" || !isProgram(said[1], said[2]) {
				t.Errorf("%s: %q is no program of a part %q", at, said[2], said[1])
			}
		case "LookPath":
			if !isProgram("", said[0]) {
				t.Errorf("%s looks for %q, which is of no part", at, said[0])
			}
		case "Command":
			if program := said[0]; program != "" && !slices.Contains(always, program) {
				t.Errorf("%s starts %s, which may be missing: sqltest.Tool finds it", at, program)
			}
		}
	})
	for _, function := range []string{"Required", "Tool", "LookPath", "Command"} {
		if seen[function] == 0 {
			t.Errorf("%s is called nowhere", function)
		}
	}
}

// eachCall calls f with the calls in tests, and in what is made for them, that have to
// do with programs, and their arguments: "" for one that is no literal.
func eachCall(t *testing.T, f func(at, function string, said []string)) {
	t.Helper()
	err := filepath.WalkDir("../..", func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(file) != ".go" || strings.HasSuffix(file, "sqltest/tool.go") {
			return err
		}
		files := token.NewFileSet()
		parsed, err := parser.ParseFile(files, file, nil, parser.SkipObjectResolution)
		if err != nil || !slices.ContainsFunc(parsed.Imports, func(i *ast.ImportSpec) bool { return i.Path.Value == `"testing"` }) {
			return err
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			function := ""
			switch called := call.Fun.(type) {
			case *ast.Ident:
				function = called.Name
			case *ast.SelectorExpr:
				if of, ok := called.X.(*ast.Ident); ok && (of.Name == "exec" || of.Name == "sqltest") {
					function = called.Sel.Name
				}
			}
			var said []string
			for _, arg := range call.Args {
				text := ""
				if literal, ok := arg.(*ast.BasicLit); ok && literal.Kind == token.STRING {
					text, _ = strconv.Unquote(literal.Value)
				}
				said = append(said, text)
			}
			if function == "CommandContext" {
				function, said = "Command", said[1:]
			}
			if slices.Contains([]string{"Required", "Tool", "LookPath", "Command"}, function) && len(said) > 0 {
				f(files.Position(call.Pos()).String(), function, said)
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func TestLeftOut(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	all := []part{
		{name: "stone", what: "what stands on stone", programs: []string{"stone|/no/stone", "mortar"}, debian: "stone-server"},
		{name: "there", what: "nothing", programs: []string{"/"}},
		{name: "late", what: "what is fetched", programs: []string{"/"}, ready: func(context.Context, io.Writer) error { return errors.New("no network") }, cure: "the network"},
	}
	var out bytes.Buffer
	left := provide(context.Background(), &out, all)
	left.print(&out)
	requireMatches(t, out.String(), `stone: what stands on stone\n +not found: stone or /no/stone, mortar\n +to get it: as root, apt-get install stone-server`,
		`late: what is fetched\n +no network\n +to get it: the network\n`, `What is missing was not installed: there is no apt-get here`)
	if len(left.of) != 2 || left.lack("there") != nil || left.lack("") != nil {
		t.Error("what is there is left out:", left)
	}
	if left.lack("there,stone") == nil || left.lack("all") == nil {
		t.Error("what is left out is not demanded")
	}
}
