package rig

import (
	"bufio"
	"bytes"
	"net"
	"net/url"
	"strconv"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

// BenchRecords is how many orders the benchmarks run over.
const BenchRecords = 100_000

// BenchOrder is the body of an order that benchmarks create.
const BenchOrder = `{"contact_id":11,"vehicle_id":15,"employee_id":2,"kind":"workshop","order_status":"open","order_date":"2026-05-06T07:08:09Z",` +
	`"delivery_date":"2026-06-07T08:09:10Z","mileage":123456,"reference":"REF-0000012345","description":"Winter service and tyre change. ` +
	`Customer waits in the showroom; call before replacing the brake discs.","is_blocked":0,"is_archived":0}`

// Drive sends requests over 32 kept connections, spread over the servers, and
// reads the answers. next returns a request and the status it is to be answered by.
func Drive(b *testing.B, servers []string, next func() ([]byte, int)) {
	var hosts []string
	for _, base := range servers {
		u, err := url.Parse(base)
		require.NoError(b, err)
		hosts = append(hosts, u.Host)
	}
	var connections atomic.Int64
	b.SetParallelism(16) // times two cores
	b.RunParallel(func(pb *testing.PB) {
		conn, err := net.Dial("tcp", hosts[int(connections.Add(1))%len(hosts)])
		if err != nil {
			b.Error(err)
			return
		}
		defer conn.Close()
		r := bufio.NewReaderSize(conn, 64<<10)
		for pb.Next() {
			request, status := next()
			if _, err := conn.Write(request); err != nil {
				b.Error(err)
				return
			}
			if got, err := readAnswer(r); err != nil || got != status {
				b.Errorf("answered %d, %v", got, err)
				return
			}
		}
	})
}

// readAnswer reads one answer with as little work as can be.
func readAnswer(r *bufio.Reader) (status int, err error) {
	length := 0
	for {
		line, err := r.ReadSlice('\n')
		if err != nil {
			return 0, err
		}
		line = bytes.TrimSpace(line)
		if len(line) == 0 {
			break
		}
		if status == 0 {
			status, _ = strconv.Atoi(string(line[9:12]))
		}
		if value, ok := bytes.CutPrefix(line, []byte("Content-Length: ")); ok {
			length, _ = strconv.Atoi(string(value))
		}
	}
	_, err = r.Discard(length)
	return status, err
}
