package redistest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/rueidis"

	"frontdesk/backend/sqlrecord/sqltest"
)

// StartSentinel starts a primary, a replica and a sentinel that watches them, and returns the
// URL of the sentinel. failOver kills the primary, and returns when the sentinel has promoted
// the replica.
func StartSentinel(t testing.TB) (url string, failOver func()) {
	t.Helper()
	primary := Start(t)
	Start(t, "--replicaof", "127.0.0.1 "+strconv.Itoa(primary.port))
	primary.do(func(c rueidis.Client) rueidis.Completed { return c.B().Wait().Numreplicas(1).Timeout(0).Build() })
	config := filepath.Join(t.TempDir(), "sentinel.conf")
	text := fmt.Sprintf("sentinel monitor desk 127.0.0.1 %d 1\nsentinel down-after-milliseconds desk 500\nsentinel failover-timeout desk 5000\n", primary.port)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	sentinel := start(t, func(port string) []string { return []string{config, "--sentinel", "--port", port} }, "+slave ")
	return fmt.Sprintf("redis://127.0.0.1:%d?master_set=desk", sentinel.port), func() {
		t.Helper()
		switched := sentinel.subscribe("+switch-master")
		primary.Kill()
		if err := <-switched; err != nil {
			t.Fatal(err)
		}
	}
}

// StartCluster starts a cluster of three servers and returns the URL of one.
func StartCluster(t testing.TB) (url string) {
	t.Helper()
	args := []string{"--cluster", "create"}
	var nodes []*Redis
	for range 3 {
		bus, err := sqltest.FreePort() // the default, 10,000 above the server's port, may be in use
		if err != nil {
			t.Fatal(err)
		}
		node := Start(t, "--cluster-enabled", "yes", "--cluster-port", strconv.Itoa(bus))
		nodes = append(nodes, node)
		args = append(args, fmt.Sprintf("127.0.0.1:%d@%d", node.port, bus))
	}
	if out, err := exec.Command(sqltest.Tool(t, "redis", "redis-cli"), append(args, "--cluster-yes")...).CombinedOutput(); err != nil {
		t.Fatalf("redis-cli --cluster create: %v\n%s", err, out)
	}
	for _, node := range nodes {
		node.awaitCluster()
	}
	return nodes[0].URL()
}

// awaitCluster returns when the server reports that its cluster works.
func (r *Redis) awaitCluster() {
	r.t.Helper()
	c := r.client()
	defer c.Close()
	ticker, end := time.NewTicker(10*time.Millisecond), time.After(time.Minute)
	defer ticker.Stop()
	for {
		info, err := c.Do(context.Background(), c.B().ClusterInfo().Build()).ToString()
		if err != nil {
			r.t.Fatal(err)
		}
		if strings.Contains(info, "cluster_state:ok") {
			return
		}
		select {
		case <-ticker.C:
		case <-end:
			r.t.Fatalf("no cluster:\n%s", info)
		}
	}
}

// client connects to this server itself, also if it is a sentinel or a node of a cluster.
func (r *Redis) client() rueidis.Client {
	r.t.Helper()
	c, err := rueidis.NewClient(rueidis.ClientOption{
		InitAddress: []string{fmt.Sprintf("127.0.0.1:%d", r.port)}, ForceSingleClient: true, DisableCache: true,
	})
	if err != nil {
		r.t.Fatal(err)
	}
	return c
}

func (r *Redis) do(command func(rueidis.Client) rueidis.Completed) {
	r.t.Helper()
	c := r.client()
	defer c.Close()
	if err := c.Do(context.Background(), command(c)).Error(); err != nil {
		r.t.Fatal(err)
	}
}

// subscribe subscribes to the channel before it returns. The result gets nil when a message
// is published, or the error that prevented it.
func (r *Redis) subscribe(channel string) <-chan error {
	r.t.Helper()
	c, published := r.client(), make(chan error, 1)
	dedicated, release := c.Dedicate()
	failed := dedicated.SetPubSubHooks(rueidis.PubSubHooks{OnMessage: func(rueidis.PubSubMessage) { published <- nil }})
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	if err := dedicated.Do(ctx, dedicated.B().Subscribe().Channel(channel).Build()).Error(); err != nil {
		r.t.Fatal(err)
	}
	result := make(chan error, 1)
	go func() {
		defer c.Close()
		defer release()
		defer cancel()
		select {
		case <-published:
			result <- nil
		case err := <-failed:
			result <- err
		case <-ctx.Done():
			result <- ctx.Err()
		}
	}()
	return result
}
