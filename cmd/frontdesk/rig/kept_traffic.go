package rig

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/valyala/fasthttp"
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

// Traffic asks for each of trafficPaths as fast as it can until it is stopped.
func (k *Kept) Traffic(token string) (stop func() (answered int64)) {
	var ended atomic.Bool
	var answered atomic.Int64
	var all sync.WaitGroup
	for _, path := range trafficPaths {
		all.Go(func() {
			for !ended.Load() {
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

// How TrafficAt asks: over few connections, each of which sends what is due at once, up to so
// many requests.
const (
	trafficConnections = 4
	trafficPipelined   = 32
	trafficPace        = 5 * time.Millisecond
)

// TrafficAt asks so many times a second, with whichever token there is by then, until it is
// stopped. What it was late with it makes up for. It costs so little that it and the desk
// find room on two processors at 2,000 requests a second.
func (k *Kept) TrafficAt(token func() string, perSecond int) (stop func() (answered int64)) {
	var ended atomic.Bool
	var answered atomic.Int64
	var all sync.WaitGroup
	for range trafficConnections {
		c, err := net.Dial("tcp", k.Host())
		require.NoError(k.T, err)
		t := trafficConnection{kept: k, conn: c, in: bufio.NewReader(c), judged: map[string]bool{}, began: time.Now(), each: time.Second * trafficConnections / time.Duration(perSecond)}
		all.Go(func() {
			defer c.Close()
			pace := time.NewTicker(trafficPace)
			defer pace.Stop()
			for !ended.Load() {
				n, err := t.send(token())
				if err != nil {
					k.T.Errorf("requests that are sent at once: %v", err)
					return
				}
				if answered.Add(int64(n)); n < trafficPipelined {
					<-pace.C
				}
			}
		})
	}
	return func() int64 {
		ended.Store(true)
		all.Wait()
		return answered.Load()
	}
}

// trafficConnection is one connection of TrafficAt.
type trafficConnection struct {
	kept   *Kept
	conn   net.Conn
	in     *bufio.Reader
	out    []byte
	judged map[string]bool // answers; many are alike
	began  time.Time
	each   time.Duration // between two requests
	sent   int
}

// send asks what is due by now, and reads the answers.
func (t *trafficConnection) send(token string) (n int, err error) {
	n = min(int(time.Since(t.began)/t.each)-t.sent, trafficPipelined)
	if n <= 0 {
		return 0, nil
	}
	path := func(i int) string { return trafficPaths[(t.sent+i)%len(trafficPaths)] }
	t.out = t.out[:0]
	for i := range n {
		t.out = fmt.Appendf(t.out, "GET /webservice_v2%s HTTP/1.1\r\nHost: desk\r\nToken: %s\r\n\r\n", path(i), token)
	}
	if _, err := t.conn.Write(t.out); err != nil {
		return 0, err
	}
	var resp fasthttp.Response
	for i := range n {
		if err := resp.Read(t.in); err != nil {
			return 0, err
		}
		if answer := path(i) + strconv.Itoa(resp.StatusCode()) + string(resp.Body()); !t.judged[answer] {
			t.kept.judgeAnswer(path(i), Answer{Status: resp.StatusCode(), Body: resp.Body()})
			t.judged[answer] = len(t.judged) < 1000
		}
	}
	t.sent += n
	return n, nil
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
