package rig

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Two configurations that agree on little: what a request is told shows by which
// of them it was judged, and whether by one alone.
var (
	AllowedByA = []string{"/contact", "/order", "/model/*"}
	AllowedByB = []string{"/contact", "/country", "/vehicle"}
)

// trafficPaths are what both configurations allow, what one of them allows, and what may be
// called at all.
var trafficPaths = []string{"/contact/1", "/order?page_size=1", "/country?page_size=1", "/authenticate/acces"}

// Traffic asks for each of trafficPaths as fast as it can until it is stopped. The id of a request is when it began,
// in nanoseconds since 1970.
func (k *Kept) Traffic(token string) (stop func() (answered int64)) {
	var ended atomic.Bool
	var answered atomic.Int64
	var all sync.WaitGroup
	for _, path := range trafficPaths {
		all.Go(func() {
			for !ended.Load() {
				a, err := k.Try("GET", path, token, "", "X-Request-Id", strconv.FormatInt(time.Now().UnixNano(), 10))
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
