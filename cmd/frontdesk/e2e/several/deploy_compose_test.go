package several

import (
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"frontdesk/auth/redis/redistest"
	"frontdesk/backend/sqlrecord/sqltest"
	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/cmd/frontdesk/rig"
	"frontdesk/cmd/frontdesk/rig/await"
	"frontdesk/cmd/frontdesk/rig/must"
	"frontdesk/config"
	"frontdesk/gateway/webhook/webhooktest"
)

// composed is what a test wants to know of deploy/compose/compose.yaml, as Compose
// itself reads it.
type composed struct {
	Services map[string]struct {
		Command     []string
		Environment map[string]string
		Healthcheck struct{ Test []string }
		Networks    map[string]*struct {
			Address string `json:"ipv4_address"`
		}
		Grace    string   `json:"stop_grace_period"`
		ReadOnly bool     `json:"read_only"`
		Drop     []string `json:"cap_drop"`
		Add      []string `json:"cap_add"`
		Security []string `json:"security_opt"`
		Restart  string
		Ports    []struct {
			Host   string `json:"host_ip"`
			Target int
		}
		Deploy struct {
			Resources struct{ Limits struct{ Memory string } }
		}
		Volumes []struct {
			Type, Source string
			ReadOnly     bool `json:"read_only"`
		}
	}
	Networks map[string]struct{ Internal bool }
	Configs  map[string]struct{ Content string }
}

const (
	composePassword = "a1b2c3" // each of them is another one, made of this
	composeAddress  = "172.30.80.10"
)

// loadCompose holds the compose file to the specification before it returns it.
func loadCompose(t *testing.T) composed {
	t.Helper()
	rig.PackageTools(t)
	load := exec.Command("go", "run", ".")
	load.Dir = rig.Repository(t, "deploy", "compose", "validate")
	load.Env = append(os.Environ(), "POSTGRES_PASSWORD=p"+composePassword, "FRONTDESK_PASSWORD=f"+composePassword, "REDIS_PASSWORD=r"+composePassword)
	var problems rig.LockedBuffer
	load.Stderr = &problems
	output, err := load.Output()
	require.NoError(t, err, "%s", &problems)
	c := must.JSON[composed](t, output)
	return c
}

// TestForeignCompose starts the programs of the compose file with the options, the
// configuration and the environment that it has for them, as far as that can be
// done without containers, and does what its README says.
func TestForeignCompose(t *testing.T) {
	c := loadCompose(t)
	instances := startComposed(t, c)
	dir := t.TempDir()
	certificate, key := filepath.Join(dir, "certificate.pem"), filepath.Join(dir, "key.pem")
	authority := webhooktest.NewAuthority(t)
	rig.WriteCertificate(t, authority, certificate, key, 30)
	pem := filepath.Join(dir, "frontdesk.pem")
	require.NoError(t, os.WriteFile(pem, []byte(rig.Read(t, certificate)+rig.Read(t, key)), 0o600))
	address, operators := startHAProxy(t, instances, "BALANCER_CERTIFICATE="+pem)

	t.Run("health of HAProxy", func(t *testing.T) {
		check := c.Services["haproxy"].Healthcheck.Test
		require.Equal(t, []string{"CMD", "bash"}, check[:2])
		last := len(check) - 1
		_, port, _ := strings.Cut(operators, ":")
		script := strings.Replace(strings.ReplaceAll(check[last], "$$", "$"), "/8404", "/"+port, 1)
		output, err := exec.Command(sqltest.Tool(t, "bash", "bash"), append(check[2:last:last], script)...).CombinedOutput()
		require.NoError(t, err, "%s", output)
	})
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: authority.Roots()}, ForceAttemptHTTP2: true}
	client := http.Client{Transport: transport}
	t.Cleanup(client.CloseIdleConnections)
	ask := func(path, token string) (int, http.Header, string) {
		request := must.Have(http.NewRequest("GET", "https://"+address+"/webservice_v2"+path, nil))(t)
		request.Header.Set("token", token)
		request.Header.Set("X-Forwarded-For", "203.0.113.66")
		response := must.Have(client.Do(request))(t)
		defer response.Body.Close()
		return response.StatusCode, response.Header, string(must.Have(io.ReadAll(response.Body))(t))
	}
	apiKey := firstKey(t, instances)
	status, _, body := ask(rig.LoginPath(apiKey, "jan", "a-good-password"), "")
	require.Equal(t, http.StatusOK, status, body)
	login := must.JSON[struct{ Token string }](t, body)
	for range 3 {
		status, _, body = ask("/order", login.Token)
		require.Equal(t, http.StatusOK, status, body)
	}
	status, _, body = ask("/order?note="+strings.Repeat("a", 20<<10), login.Token)
	assert.Equal(t, http.StatusRequestHeaderFieldsTooLarge, status, "frontdesk says so, not HAProxy: %s", body)
	for _, i := range instances {
		require.NoError(t, i.Process.Process.Signal(syscall.SIGTERM))
	}
	for _, i := range instances {
		<-i.Ended
		assert.Zero(t, i.Code, "%s", i.Log)
		assert.Contains(t, i.Log.String(), `"address":"127.0.0.1"`, "HAProxy reaches each of them")
		assert.NotContains(t, i.Log.String(), "203.0.113.66", "clients do not say where they call from")
	}
	status, header, body := ask("/order", login.Token)
	assert.Equal(t, http.StatusServiceUnavailable, status)
	assert.Equal(t, "5", header.Get("Retry-After"))
	assert.Contains(t, body, `"reason":"backend_unavailable"`)
}

// startComposed starts PostgreSQL, Redis and three gateways.
func startComposed(t *testing.T, c composed) (instances []*instance) {
	t.Helper()
	database, cache := c.Services["postgres"], c.Services["redis"]
	require.Equal(t, "postgres", database.Command[0])
	var settings []string
	for pair := range slices.Chunk(database.Command[1:], 2) {
		require.Equal(t, "-c", pair[0])
		settings = append(settings, pair[1])
	}
	password := database.Environment["POSTGRES_PASSWORD"]
	host, port, err := net.SplitHostPort(sqltest.Guarded(t, password, strings.Fields(database.Environment["POSTGRES_INITDB_ARGS"]), settings...).Address())
	require.NoError(t, err)
	psql := exec.Command(sqltest.Tool(t, "postgres", "psql"), "-X", "-v", "ON_ERROR_STOP=1", "-h", host, "-p", port, "-U", "postgres",
		"-f", rig.Repository(t, "deploy", "compose", "postgres", "frontdesk.sql"))
	psql.Env = append(os.Environ(), "PGPASSWORD="+password, "FRONTDESK_PASSWORD="+database.Environment["FRONTDESK_PASSWORD"])
	output, err := psql.CombinedOutput()
	require.NoError(t, err, "%s", output)

	require.Equal(t, []string{"redis-server", "/etc/redis.conf"}, cache.Command)
	var options []string
	for line := range strings.Lines(c.Configs["redis.conf"].Content) {
		if name, value, found := strings.Cut(strings.TrimSpace(line), " "); found && name != "#" {
			options = append(options, "--"+name, strings.Trim(value, `"`))
		}
	}
	redis := redistest.Start(t, options...)

	for name, value := range c.Services["frontdesk1"].Environment {
		value = strings.Replace(value, "@postgres/", "@"+net.JoinHostPort(host, port)+"/", 1)
		t.Setenv(name, strings.Replace(value, "@redis:6379/", fmt.Sprintf("@127.0.0.1:%d/", redis.Port()), 1))
	}
	for range 3 {
		i := newInstance(t)
		require.NoError(t, os.CopyFS(i.dir, os.DirFS(rig.Repository(t, "deploy", "compose", "config"))))
		text := rig.Read(t, i.file())
		for from, to := range map[string]string{"0.0.0.0:8080": i.listen, "0.0.0.0:9090": i.Ops, composeAddress: "127.0.0.1"} {
			require.Equal(t, 1, strings.Count(text, from), from)
			text = strings.Replace(text, from, to, 1)
		}
		i.write(text)
		i.start()
		instances = append(instances, i)
	}
	return instances
}

// firstKey makes the first user and the first api_key, and returns when all
// gateways know it.
func firstKey(t *testing.T, instances []*instance) string {
	t.Helper()
	code, _, stderr := rig.Command(t, "a-good-password\n", "user", "add", "jan", "--client", "Garage Jansen", "--email", "jan@example.nl", "--config", instances[0].file())
	require.Zero(t, code, stderr)
	code, printed, stderr := rig.Command(t, "", "key", "new", "webshop", "--allow", "GET /order")
	require.Zero(t, code, stderr)
	_, text, found := strings.Cut(printed, "Into the configuration:\n")
	require.True(t, found)
	for _, i := range instances {
		before := i.configHash()
		require.NoError(t, os.WriteFile(filepath.Join(i.dir, "keys.d", "webshop.yaml"), []byte(text), 0o644))
		await.True(t, func() bool { return i.configHash() != before })
	}
	return regexp.MustCompile(`(?m)^api_key: (\S+)$`).FindStringSubmatch(printed)[1]
}

// TestForeignComposeIsClosed: no service may do more than it has to, or is reached from
// further than it should be.
func TestForeignComposeIsClosed(t *testing.T) {
	c := loadCompose(t)
	for name, s := range c.Services {
		assert.Greater(t, len(s.Healthcheck.Test), 1, name)
		assert.True(t, s.ReadOnly, name)
		assert.Equal(t, []string{"ALL"}, s.Drop, name)
		assert.Empty(t, s.Add, name)
		assert.Contains(t, s.Security, "no-new-privileges:true", name)
		assert.Equal(t, "unless-stopped", s.Restart, name)
		assert.NotEmpty(t, s.Grace, name)
		assert.NotEmpty(t, s.Deploy.Resources.Limits.Memory, name)
		for _, v := range s.Volumes {
			if v.Type == "bind" {
				assert.DirExists(t, v.Source, "changes of a single file that is mounted are not seen")
				assert.True(t, v.ReadOnly, "%s may write %s", name, v.Source)
			}
		}
		for _, port := range s.Ports {
			assert.True(t, name == "haproxy" && (port.Target == 8443 || port.Host == "127.0.0.1"), "port %d of %s is published", port.Target, name)
		}
		assert.NotEmpty(t, s.Networks, name)
		for network := range s.Networks {
			assert.False(t, name == "haproxy" && c.Networks[network].Internal, "it can reach what holds data")
			assert.False(t, (name == "postgres" || name == "redis") && !c.Networks[network].Internal, "%s can be reached over %s", name, network)
		}
	}
}

// TestForeignComposeFits: what the compose file, HAProxy and frontdesk's configuration say
// of each other is the same.
func TestForeignComposeFits(t *testing.T) {
	c := loadCompose(t)
	for name, value := range c.Services["frontdesk1"].Environment {
		t.Setenv(name, value)
	}
	file := rig.Repository(t, "deploy", "compose", "config", "frontdesk.yaml")
	code, stdout, _ := rig.Command(t, "", "check", "--elsewhere", "--config", file)
	require.Zero(t, code, stdout)
	code, stdout, _ = rig.Command(t, "", "audit", "--config", file, "--fail-on", "error")
	assert.Zero(t, code, stdout)
	desk := must.Have(desk.LoadConfig(file))(t)

	proxy := rig.Read(t, rig.Repository(t, "deploy", "compose", "haproxy", "haproxy.cfg"))
	assert.Equal(t, composeAddress, c.Services["haproxy"].Networks["clients"].Address)
	assert.Equal(t, []config.Network{{Prefix: netip.MustParsePrefix(composeAddress + "/32")}}, desk.Server.TrustedProxies)
	connections := 0
	for n := range 3 {
		name := fmt.Sprintf("frontdesk%d", n+1)
		s, there := c.Services[name]
		require.True(t, there)
		_, public, _ := strings.Cut(desk.Server.Listen, ":")
		_, ops, _ := strings.Cut(desk.Ops.Listen, ":")
		assert.Contains(t, proxy, fmt.Sprintf(`server %[1]s "${GATEWAY%[2]d-%[1]s:%[3]s}" port "${GATEWAY%[2]d_OPS-%[4]s}"`, name, n+1, public, ops))
		grace := must.Have(time.ParseDuration(s.Grace))(t)
		assert.Greater(t, grace, desk.Server.DrainDelay+desk.Server.ShutdownTimeout+5*time.Second)
		pool := must.Have(strconv.Atoi(must.Have(url.Parse(s.Environment["FRONTDESK_DSN"]))(t).Query().Get("pool_max_conns")))(t)
		connections += pool
	}
	limit := regexp.MustCompile(`max_connections=(\d+)`).FindStringSubmatch(strings.Join(c.Services["postgres"].Command, " "))
	room := must.Have(strconv.Atoi(limit[1]))(t)
	const forTools = 20
	assert.GreaterOrEqual(t, room, connections+forTools)
	assert.Greater(t, desk.Server.DrainDelay, balancerSees)
	const answers = 30 * time.Second // that one may take to leave
	assert.Greater(t, 90*time.Second, desk.Backend.Timeout+answers)
}
