# make test is all there is to know; the rest is for those who work on frontdesk.

GO      ?= go
FUZZ    ?= 30s

# The real parts that the tests want; a test whose part is missing fails.
PARTS = postgres,mariadb,redis,aiosmtpd,python3,chromium,npm,curl,openssl,systemd-analyze,systemd-socket-activate,packages,buildah,promtool,haproxy,pgbouncer

.PHONY: test check fmt lint bench fuzz soak build deb image

# Everything, race detector on: on SQLite and on a real PostgreSQL, MariaDB and
# Redis, with a real mail server, the pages in a real browser, the description
# before its linters, the client kits, and what is shipped: units, package, image
# and manifests. What is missing is installed from Debian's packages and, at the
# versions of the lock files, from npm.
test:
	.ci/install-servers
	.ci/install-node
	.ci/kits
	FRONTDESK_REQUIRE=$(PARTS) $(GO) test -race -timeout 55m ./...

# What .ci/run adds to the tests.
check: fmt lint

fmt:
	@unformatted=$$(gofmt -l $$(git ls-files '*.go')); test -z "$$unformatted" || { echo "gofmt would change:"; echo "$$unformatted"; exit 1; }

lint:
	$(GO) vet ./...
	.ci/lint

build:
	CGO_ENABLED=0 $(GO) build -trimpath -o bin/frontdesk ./cmd/frontdesk

# bin/frontdesk_VERSION_ARCH.deb, and a container image.
deb:
	deploy/debian/build
image:
	deploy/docker/build

# Real HTTP on loopback over 100,000 records; figures belong into docs/performance.md.
bench:
	$(GO) test -run '^$$' -bench . -benchmem -timeout 30m ./mapping ./auth ./backend/... ./gateway ./cmd/frontdesk

# Each fuzz target for FUZZ.
fuzz:
	.ci/fuzz $(FUZZ)

# Long loops: many kills and restarts, many clients, a backup of 1,000,000 orders.
soak:
	.ci/install-servers
	FRONTDESK_REQUIRE=$(PARTS) FRONTDESK_SOAK=1 $(GO) test -timeout 60m -run 'Kill|Concurrent|Soak' -v ./cmd/frontdesk
	FRONTDESK_REQUIRE=$(PARTS) FRONTDESK_SOAK=1 $(GO) test -timeout 120m -run Soak -v ./backend/reference
