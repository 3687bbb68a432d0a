package remote

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

// play is a script that is under way.
type play struct {
	*testing.T
	c      *connector
	d      *Driver // of a case that is asked of a gateway's front
	front  *backend.Client
	made   int32 // what came of its front last
	who    auth.Client
	known  map[string]taken // by resource and key, as they came last
	owners map[int32]int64
	texts  map[int64]string // of clients that the service knows by a text
}

func (p *play) ownersOf(context.Context, auth.Client, *mapping.Resource, []int32) (map[int32]int64, error) {
	return p.owners, nil
}

// step does what a line says, and compares what comes of it.
func (p *play) step(s scriptStep) {
	p.Helper()
	verb, rest, _ := strings.Cut(s.line, " ")
	name, rest, _ := strings.Cut(rest, " ")
	if p.front != nil {
		p.atFront(s, verb, name, rest)
		return
	}
	ctx, r := p.Context(), p.c.of(name)
	switch verb {
	case "as":
		numbers, err := p.c.clientNumbers(ctx, []string{name})
		require.NoError(p, err)
		p.who = auth.Client{ID: numbers[name], Name: cmp.Or(rest, name)}
		p.texts[p.who.ID] = name
	case "owner":
		id, err := strconv.Atoi(p.named(name))
		require.NoError(p, err)
		p.owners[int32(id)], err = strconv.ParseInt(rest, 10, 64)
		require.NoError(p, err)
	case "have":
		all, err := p.c.take(ctx, r, p.who, []sheet.JSON{p.row(rest)})
		if len(s.want) > 0 {
			p.told(s, all, err)
			return
		}
		require.NoError(p, err)
		p.keeps(all[0])
	case "create":
		of, err := p.c.create(ctx, nil, r, p.who, p.sent(r, rest))
		p.told(s, []taken{of}, err)
	case "update":
		key, change, _ := strings.Cut(rest, " {")
		of, err := p.c.update(ctx, nil, r, p.who, p.one(name, key), p.sent(r, "{"+change))
		p.told(s, []taken{of}, err)
	case "delete":
		p.told(s, nil, p.c.delete(ctx, nil, r, p.who, p.one(name, rest)))
	case "get":
		row, err := p.c.get(ctx, r, p.who, rest)
		var all []taken
		if err == nil {
			all, err = p.c.take(ctx, r, p.who, []sheet.JSON{row})
		}
		p.told(s, all, err)
	case "walk":
		p.walks(s, r, rest)
	case "verify", "find":
		p.user(s, verb, name, rest)
	default:
		require.Fail(p, "no step", s.line)
	}
}

// row is what a service has: an object, with members of another after &.
func (p *play) row(text string) sheet.JSON {
	p.Helper()
	all := map[string]any{}
	for text := range strings.SplitSeq(text, " & ") {
		d := json.NewDecoder(strings.NewReader(text))
		d.UseNumber()
		require.NoError(p, d.Decode(&all), text)
	}
	return jsonOf(p, all)
}

// atFront asks the front for something: a write may have a key.
func (p *play) atFront(s scriptStep, verb, name, rest string) {
	p.Helper()
	rest, key, _ := strings.Cut(strings.ReplaceAll(rest, "$made", strconv.Itoa(int(p.made))), " key ")
	key, begun := strings.CutSuffix(key, " begun") // as somebody knows though no key does
	id, sent, _ := strings.Cut(rest, " ")
	number, _ := strconv.Atoi(id)
	w := backend.Write{}
	if key != "" {
		w = keyedBy(key)
		w.Idempotency.Begun = begun
	}
	var rec mapping.Record
	var err error
	switch r := p.d.Sheet.Model.Resource(name); verb {
	case "create":
		rec, err = p.front.Create(p.Context(), p.who, mapping.BodyOf(p.decoded(r, rest)), w)
	case "update":
		rec, err = p.front.Update(p.Context(), p.who, int32(number), patch(p, r, sent), w)
	case "delete":
		err = p.front.Delete(p.Context(), p.who, r, int32(number), w)
	case "get":
		rec, err = p.front.Get(p.Context(), r, backend.Query{Client: p.who, ID: int32(number)})
	case "ping":
		err = p.d.Ping(p.Context())
	default:
		require.Fail(p, "no step", s.line)
	}
	require.Len(p, s.want, 1, "%s: %v", s.line, err)
	if err != nil {
		p.failed(s.line, s.want[0], err)
		return
	}
	p.made = cmp.Or(rec.ID(), p.made)
	p.shows(rec, strings.ReplaceAll(strings.TrimPrefix(s.want[0], "= "), "$made", strconv.Itoa(int(p.made))))
}

// sent is a record of what a client sends, with the IDs of what is named.
func (p *play) sent(r *sheet.Resource, text string) mapping.Record {
	p.Helper()
	return p.decoded(r.Resource, p.named(text))
}

func (p *play) decoded(r *mapping.Resource, text string) mapping.Record {
	p.Helper()
	b, err := mapping.DecodeBody(r, []byte(text), time.UTC)
	require.NoError(p, err)
	return b.Record
}

// named has $RESOURCE/KEY stand for an ID.
func (p *play) named(text string) string {
	for name, of := range p.known {
		text = strings.ReplaceAll(text, "$"+name, strconv.Itoa(int(of.rec.ID())))
	}
	require.NotContains(p, text, "$")
	return text
}

func (p *play) one(resource, key string) taken {
	p.Helper()
	of, is := p.known[resource+"/"+key]
	require.True(p, is, "%s %s", resource, key)
	return of
}

// walks walks over all that a client has (mine) or that all have, or what has changed since a cursor.
func (p *play) walks(s scriptStep, r *sheet.Resource, which string) {
	p.Helper()
	var since *string
	who := auth.Client{}
	if cursor, is := strings.CutPrefix(which, "since "); is {
		since = &cursor
	} else if which == "mine" {
		who = p.who
	}
	var all []taken
	next, err := p.c.walk(p.Context(), r, who, since, func(rows []sheet.JSON) error {
		some, err := p.c.take(p.Context(), r, who, rows)
		all = append(all, some...)
		return err
	}, auth.Sleep)
	if err != nil {
		all = nil
	}
	if next != "" {
		require.NotEmpty(p, s.want, s.line)
		require.Equal(p, "= next "+next, s.want[len(s.want)-1])
		s.want = s.want[:len(s.want)-1]
	}
	p.told(s, all, err)
}

// told compares what came with what is to come: for each record its key, its client, and members that it
// has, or why it cannot be shown.
func (p *play) told(s scriptStep, all []taken, err error) {
	p.Helper()
	if err != nil {
		require.Len(p, s.want, 1, "%s: %v", s.line, err)
		p.failed(s.line, s.want[0], err)
		return
	}
	require.Len(p, s.want, len(all), s.line)
	for i, of := range all {
		want := strings.TrimPrefix(s.want[i], "= ")
		if _, why, fails := strings.Cut(want, " ! "); fails {
			p.failed(s.line, "! "+why, of.err)
			require.NotZero(p, of.rec.ID())
			continue
		}
		require.NoError(p, of.err, s.line)
		require.True(p, of.hidden || of.rec.Version > 0, s.line)
		head, members, _ := strings.Cut(want, " {")
		got := p.c.keyOf(of) + " " + p.client(of.client)
		for word, is := range map[string]bool{" hidden": of.hidden, fmt.Sprint(" without ", len(of.absent)): len(of.absent) > 0} {
			if is {
				got += word
			}
		}
		require.Equal(p, head, got, s.line)
		p.keeps(of)
		p.shows(of.rec, p.named("{"+members))
	}
}

func (p *play) client(id int64) string { return cmp.Or(p.texts[id], strconv.FormatInt(id, 10)) }

// keeps has a record and its elements be known.
func (p *play) keeps(of taken) {
	p.known[of.rec.Resource.Name+"/"+p.c.keyOf(of)] = of
	for _, e := range of.elements {
		p.keeps(*e)
	}
}

// shows compares those members of a record that are said.
func (p *play) shows(rec mapping.Record, members string) {
	p.Helper()
	if members == "{" {
		return
	}
	var all []int
	for i := range rec.Resource.Fields {
		all = append(all, i)
	}
	var want, got any
	require.NoError(p, json.Unmarshal([]byte(members), &want), members)
	require.NoError(p, json.Unmarshal(rec.AppendJSON(nil, all), &got))
	require.Equal(p, want, said(got, want))
}

// said is what has the members, of objects within it too, that another has.
func said(v, as any) any {
	switch of := v.(type) {
	case map[string]any:
		for name := range of {
			if in, is := as.(map[string]any)[name]; !is {
				delete(of, name)
			} else {
				of[name] = said(of[name], in)
			}
		}
	case []any:
		for i := range min(len(of), len(as.([]any))) {
			of[i] = said(of[i], as.([]any)[i])
		}
	}
	return v
}

// failures are the errors that are told from others, by their names.
var failures = []struct {
	name string
	err  error
}{
	{"changed", backend.ErrChanged}, {"unexpected", backend.ErrUnexpected}, {"stale", backend.ErrStale}, {"not found", backend.ErrNotFound}, {"of another", errOther},
	{"of nobody", errNoOwner}, {"unsettled", backend.ErrUnsettled}, {"credentials", auth.ErrCredentials}, {"unknown user", auth.ErrUnknownUser},
}

// errorKind is all that an error is, the reason that a client is told, or "fails".
func errorKind(err error) string {
	var is []string
	for _, f := range failures {
		if errors.Is(err, f.err) {
			is = append(is, f.name)
		}
	}
	v, told := mapping.AsViolations(err)
	if told && v[0].Reason != mapping.InternalError && (len(is) == 0 || is[0] == "unexpected") {
		return string(v[0].Reason)
	}
	return cmp.Or(strings.Join(is, ", "), "fails")
}

// failed compares an error: what it is, and words of it, or all the arguments of a reason.
func (p *play) failed(line, want string, err error) {
	p.Helper()
	require.Error(p, err, line)
	want, words, _ := strings.Cut(strings.TrimPrefix(want, "! "), ": ")
	kind := errorKind(err)
	require.Equal(p, want, kind, "%s: %v", line, err)
	if v, told := mapping.AsViolations(err); told && kind == string(v[0].Reason) {
		require.Equal(p, words, strings.Join(v[0].Args, ", "), line)
	} else {
		require.Contains(p, err.Error(), words, line)
	}
	require.NotContains(p, err.Error(), "hunter2", "what an answer has of a password")
}

// user verifies or finds one, and compares him.
func (p *play) user(s scriptStep, verb, name, password string) {
	p.Helper()
	name, err := strconv.Unquote(`"` + strings.TrimPrefix(name, "-") + `"`) // - is no name
	require.NoError(p, err)
	var user auth.User
	if verb == "verify" {
		user, err = p.c.verify(p.Context(), auth.Credentials{Username: name, Password: password})
	} else {
		user, err = p.c.find(p.Context(), name)
	}
	require.Len(p, s.want, 1, s.line)
	if err != nil {
		p.failed(s.line, s.want[0], err)
		return
	}
	require.Equal(p, s.want[0], fmt.Sprintf("= %s %s %s %s external=%t", user.Username, user.Email, p.client(user.Client.ID), user.Client.Name, user.External))
}
