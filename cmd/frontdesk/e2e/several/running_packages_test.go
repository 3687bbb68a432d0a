package several

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"frontdesk/backend/sqlrecord/sqltest"
	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/cmd/frontdesk/rig"
	"frontdesk/cmd/frontdesk/rig/must"
	"frontdesk/config"
)

// TestForeignDebianPackage builds the package, installs it into a folder of its own,
// where it creates user and folders, runs what it brought, removes and purges it.
func TestForeignDebianPackage(t *testing.T) {
	rig.PackageTools(t)
	if os.Geteuid() != 0 && !sqltest.Required(t, "dpkg") {
		t.Skip("dpkg gives files to other accounts, which takes root: no package is installed")
	}
	dpkg := sqltest.Tool(t, "dpkg", "dpkg")
	out := t.TempDir()
	build := exec.Command(rig.Repository(t, "deploy", "debian", "build"), out)
	build.Env = append(os.Environ(), "FRONTDESK_BINARY="+rig.Binary(t))
	output, err := build.CombinedOutput()
	require.NoError(t, err, "%s", output)
	made := must.Have(filepath.Glob(filepath.Join(out, "frontdesk_*.deb")))(t)
	require.Len(t, made, 1)

	root := filepath.Join(t.TempDir(), "root")
	for _, folder := range []string{"etc", "var/lib/dpkg/updates", "var/lib/dpkg/info"} {
		require.NoError(t, os.MkdirAll(filepath.Join(root, folder), 0o755))
	}
	for _, file := range []string{"var/lib/dpkg/status", "var/lib/dpkg/available"} {
		require.NoError(t, os.WriteFile(filepath.Join(root, file), nil, 0o644))
	}
	inRoot := func(arguments ...string) string {
		command := exec.Command(dpkg, append([]string{"--root=" + root, "--force-depends", "--force-script-chrootless", "--force-not-root"}, arguments...)...)
		output, err := command.CombinedOutput()
		require.NoError(t, err, "%s", output)
		return string(output)
	}
	assert.Contains(t, inRoot("--install", made[0]), "frontdesk is installed and not started.")
	assert.Contains(t, rig.Read(t, filepath.Join(root, "etc/passwd")), "frontdesk:x:")
	config := filepath.Join(root, "etc/frontdesk/frontdesk.yaml")
	for file, mode := range map[string]os.FileMode{
		config: 0o640, filepath.Join(root, "etc/frontdesk/keys.d"): 0o750, filepath.Join(root, "var/lib/frontdesk"): 0o700,
		filepath.Join(root, "usr/bin/frontdesk"): 0o755, filepath.Join(root, "usr/lib/systemd/system/frontdesk.service"): 0o644,
		filepath.Join(root, "usr/lib/systemd/system/frontdesk.socket"): 0o644, filepath.Join(root, "usr/share/doc/frontdesk/docs/operators.md"): 0o644,
	} {
		info, err := os.Stat(file)
		if assert.NoError(t, err) {
			assert.Equal(t, mode, info.Mode().Perm(), file)
		}
	}
	program := filepath.Join(root, "usr/bin/frontdesk")
	output, err = exec.Command(program, "version").CombinedOutput()
	require.NoError(t, err, "%s", output)
	version, _, _ := strings.Cut(strings.TrimPrefix(string(output), "frontdesk v"), "\n")
	version = strings.NewReplacer("-rc", "~rc", "-beta", "~beta", "-alpha", "~alpha", "-", "+").Replace(version)
	assert.Contains(t, made[0], "frontdesk_"+version+"_", "the package and the program are of one version")
	doc := filepath.Join(root, "usr/share/doc/frontdesk")
	assert.Contains(t, rig.Read(t, filepath.Join(doc, "copyright")), "modernc.org/sqlite v")
	for _, page := range []string{"CHANGELOG.md", "docs/kits/go/main.go", "deploy/grafana/frontdesk.json", "deploy/kubernetes/README.md"} {
		assert.FileExists(t, filepath.Join(doc, page))
	}
	output, err = exec.Command(program, "key", "new", "webshop", "--config", config, "--allow", "GET /order").CombinedOutput()
	require.NoError(t, err, "%s", output)
	require.FileExists(t, filepath.Join(root, "etc/frontdesk/keys.d/webshop.yaml"))
	require.NoError(t, os.WriteFile(filepath.Join(root, "var/lib/frontdesk/frontdesk.db"), []byte("records"), 0o600))

	inRoot("--remove", "frontdesk")
	assert.NoFileExists(t, program)
	assert.FileExists(t, config, "a configuration outlives a removal")
	purged := inRoot("--purge", "frontdesk")
	assert.NoFileExists(t, config)
	assert.FileExists(t, filepath.Join(root, "var/lib/frontdesk/frontdesk.db"), "records outlive everything")
	assert.Contains(t, purged, "var/lib/frontdesk were left")
}

// TestKubernetes loads the configurations of one gateway and of several by the loader of
// serve, and compares the time that they take to stop with what the manifests allow.
func TestKubernetes(t *testing.T) {
	base := rig.Read(t, rig.Repository(t, "deploy", "kubernetes", "base", "frontdesk.yaml"))
	grace := regexp.MustCompile(`terminationGracePeriodSeconds: (\d+)`).FindStringSubmatch(base)
	seconds := must.Have(strconv.Atoi(grace[1]))(t)
	for _, folder := range []string{"one", "several"} {
		for line := range strings.Lines(rig.Read(t, rig.Repository(t, "deploy", "kubernetes", folder, "secret.env.example"))) {
			if name, value, found := strings.Cut(strings.TrimSpace(line), "="); found && !strings.HasPrefix(line, "#") {
				t.Setenv(name, value)
			}
		}
		c := must.Have(desk.LoadConfig(rig.Repository(t, "deploy", "kubernetes", folder, "frontdesk.yaml")))(t)
		assert.Greater(t, time.Duration(seconds)*time.Second, c.Server.DrainDelay+c.Server.ShutdownTimeout+5*time.Second)
		assert.Equal(t, folder == "one", c.Sessions.Store == config.MemoryStore)
	}
}

// TestDebianConfiguration loads the configuration that the package brings.
func TestDebianConfiguration(t *testing.T) {
	must.Have(desk.LoadConfig(rig.Repository(t, "deploy", "debian", "frontdesk.yaml")))(t)
}

// TestForeignImage builds the container image, where FRONTDESK_REQUIRE names buildah,
// and runs the program in it, with nothing around it.
func TestForeignImage(t *testing.T) {
	if !sqltest.Required(t, "buildah") {
		t.Skip("FRONTDESK_REQUIRE does not name buildah: no image is built")
	}
	buildah := sqltest.Tool(t, "buildah", "buildah")
	storage := []string{"--storage-driver", "vfs", "--root", filepath.Join(t.TempDir(), "root"), "--runroot", filepath.Join(t.TempDir(), "run")}
	in := func(arguments ...string) string {
		output, err := exec.Command(buildah, append(storage, arguments...)...).CombinedOutput()
		require.NoError(t, err, "%s", output)
		return strings.TrimSpace(string(output))
	}
	build := exec.Command(rig.Repository(t, "deploy", "docker", "build"), "frontdesk:test")
	build.Env = append(os.Environ(), "FRONTDESK_BINARY="+rig.Binary(t), "BUILDER=buildah", "BUILD_FLAGS=--isolation chroot",
		"STORAGE_FLAGS="+strings.Join(storage, " "))
	output, err := build.CombinedOutput()
	require.NoError(t, err, "%s", output)
	container := in("from", "localhost/frontdesk:test")
	version, _, _ := strings.Cut(in("run", "--isolation", "chroot", container, "--", "/usr/bin/frontdesk", "version"), "\n")
	assert.Regexp(t, `^frontdesk v\d`, version)
	assert.Equal(t, "frontdesk "+in("inspect", "--format", `{{index .OCIv1.Config.Labels "org.opencontainers.image.version"}}`, container), version)
	// As compose.yaml runs it: what is mounted can be read by its user.
	check := append([]string{"run", "--isolation", "chroot", "--volume", rig.Repository(t, "deploy", "compose", "config") + ":/etc/frontdesk:ro"},
		"--env", "FRONTDESK_DSN=postgres://postgres/frontdesk", "--env", "FRONTDESK_SESSIONS=redis://redis:6379/0",
		"--env", "FRONTDESK_SMTP=smtp://localhost", "--env", "FRONTDESK_PUBLIC_URL=https://api.example.nl/webservice_v2",
		container, "--", "/usr/bin/frontdesk", "check", "--config", "/etc/frontdesk/frontdesk.yaml")
	assert.Contains(t, in(check...), "/etc/frontdesk/frontdesk.yaml is right")
	assert.Equal(t, "65532:65532", in("inspect", "--format", "{{.OCIv1.Config.User}}", container))
	in("rm", "--all")
}
