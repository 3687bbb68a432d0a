package rig

import (
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stretchr/testify/require"
)

// Two configurations that agree on little: what a request is told shows by which
// of them it was judged, and whether by one alone.
var (
	AllowedByA = []string{"/contact", "/order", "/model/*"}
	AllowedByB = []string{"/contact", "/country", "/vehicle"}
)

// Traffic asks for what both configurations allow, for what one allows, and for
// what may be called at all, as fast as it can until it is stopped.
func (k *Kept) Traffic(token string) (stop func() (answered int64)) {
	return k.traffic(token, 1, func() {})
}

// TrafficAt is Traffic of so many requests a second.
func (k *Kept) TrafficAt(token string, perSecond int) (stop func() (answered int64)) {
	pace := time.NewTicker(time.Second / time.Duration(perSecond))
	end := k.traffic(token, 4, func() { <-pace.C })
	return func() int64 {
		defer pace.Stop()
		return end()
	}
}

// traffic is Traffic in so many loops for each path, whose requests wait each for its turn.
func (k *Kept) traffic(token string, loops int, turn func()) (stop func() (answered int64)) {
	var ended atomic.Bool
	var answered atomic.Int64
	var all sync.WaitGroup
	paths := []string{"/contact/1", "/order?page_size=1", "/country?page_size=1", "/authenticate/acces"}
	for _, path := range slices.Repeat(paths, loops) {
		all.Go(func() {
			for !ended.Load() {
				turn()
				a, err := k.Try("GET", path, token, "")
				if err != nil {
					k.T.Errorf("GET %s: %v", path, err)
					return
				}
				answered.Add(1)
				k.judgeAnswer(path, a)
			}
		})
	}
	return func() int64 {
		ended.Store(true)
		all.Wait()
		return answered.Load()
	}
}

func (k *Kept) judgeAnswer(path string, a Answer) {
	switch path {
	case "/authenticate/acces":
		var body struct {
			Data struct{ Endpoints []struct{ Path string } }
		}
		if err := json.Unmarshal(a.Body, &body); err != nil {
			k.T.Errorf("%s: %v", a.Body, err)
		}
		var listed []string
		for _, e := range body.Data.Endpoints {
			listed = append(listed, e.Path)
		}
		slices.Sort(listed)
		sortedA, sortedB := slices.Sorted(slices.Values(AllowedByA)), slices.Sorted(slices.Values(AllowedByB))
		if !slices.Equal(listed, sortedA) && !slices.Equal(listed, sortedB) {
			k.T.Errorf("neither configuration allows just %q", listed)
		}
	case "/contact/1":
		if a.Status != 200 {
			k.T.Errorf("both configurations allow GET %s, which is answered %d: %s", path, a.Status, a.Body)
		}
	default:
		if a.Status != 200 && (a.Status != 400 || !strings.Contains(string(a.Body), "Invalid endpoint")) {
			k.T.Errorf("GET %s: %d %s", path, a.Status, a.Body)
		}
	}
}

// JudgedByOne holds every line of the access log to the configuration it names, and
// returns how many there were on what only one of them allows.
func (k *Kept) JudgedByOne(judgedBy map[string][]string) (judged int) {
	for line := range strings.Lines(k.Log.String()) {
		var l struct {
			Msg, Endpoint, Config string
			Status                int
		}
		require.NoError(k.T, json.Unmarshal([]byte(line), &l), line)
		path := strings.TrimSuffix(l.Endpoint, "/{id}")
		if l.Msg != "request" || path != "/order" && path != "/country" {
			continue
		}
		allowed, known := judgedBy[l.Config]
		require.True(k.T, known, line)
		require.Equal(k.T, slices.Contains(allowed, path), l.Status == 200, line)
		judged++
	}
	return judged
}
