# make test is all there is to know; the rest is for those who work on frontdesk.

GO      ?= go
FUZZ    ?= 30s

# What has goroutines of its own, and the end-to-end tests of it. The longest come first.
RACE    ?= ./backend/remote ./gateway/webhook ./auth/... ./backend/... ./config/... ./gateway/... $(addprefix ./cmd/frontdesk/,desk e2e/bounds e2e/records e2e/callbacks e2e/foreign)
# The longest come first, so that none is at work alone at the end.
TESTS   ?= ./cmd/frontdesk/e2e/simulation ./cmd/frontdesk/e2e/secrets ./backend/legacy ./cmd/frontdesk ./cmd/frontdesk-kit ./cmd/frontdesk/e2e/several ./cmd/frontdesk/e2e/pages ./cmd/frontdesk/e2e/callbacks ./backend/reference ./...
# The packages below these folders with tests that want more than that.
IN      ?= auth backend cmd gateway
FOREIGN ?= $(addprefix ./,$(sort $(dir $(shell grep -rl --include='*_test.go' '^func TestForeign' $(IN)))))
# Packages at once, and tests of one that run side by side: they wait for half of
# their time.
AT_ONCE ?= 4

# What is compiled does not name the folder of the tree, so that another clone finds it
# in the compiler's cache.
export GOFLAGS := -trimpath $(GOFLAGS)

run     = -p $(AT_ONCE) -parallel $(AT_ONCE) -timeout 20m

.PHONY: test test-times foreign pages pictures race others check fmt lint bench fuzz soak siege build release deb image

# What everybody runs: PostgreSQL, MariaDB, Redis, Chromium and Node are all that it wants.
# What of them is missing is installed where that can be done without asking, and else left
# out, with a word about how to get it.
test:
	.ci/test $(run) -skip '^TestForeign' $(TESTS)

# The same, and then where the minutes went, by package and by test.
test-times:
	.ci/test times $(run) -skip '^TestForeign' $(TESTS)

# Before and behind what nobody here wrote, and what compiles the program anew: administrations, services, poolers, balancers, mail
# servers, linters and generators, client kits in five languages, and what is shipped before the
# systems that it is for.
foreign:
	.ci/test foreign $(run) -run '^TestForeign' $(FOREIGN)

# The pages in every state, photographed into tmp/pages at 1280 and 390 pixels, light and
# dark, each checked by axe.
pages:
	FRONTDESK_SCREENSHOTS=$(CURDIR)/tmp/pages .ci/test -timeout 20m -run TestBrowser ./cmd/frontdesk/e2e/pages

# The pictures of README.md, which show the pages as they are.
pictures:
	FRONTDESK_PICTURES=$(CURDIR)/docs .ci/test -timeout 20m -run TestBrowserPictures ./cmd/frontdesk/e2e/pages

# The race detector.
race:
	.ci/test -race $(run) -skip '^TestForeign' $(RACE)

# Whether what is published compiles for the systems that no test runs on.
others:
	for system in darwin windows; do GOOS=$$system CGO_ENABLED=0 $(GO) build -o /dev/null ./cmd/frontdesk && GOOS=$$system CGO_ENABLED=0 $(GO) build -o /dev/null ./cmd/frontdesk-kit || exit 1; done

# What .ci/run adds to the tests.
check: fmt lint

fmt:
	@unformatted=$$(gofmt -l $$(git ls-files '*.go')); test -z "$$unformatted" || { echo "gofmt would change:"; echo "$$unformatted"; exit 1; }

lint:
	$(GO) vet ./...
	.ci/lint

build:
	deploy/build bin/frontdesk
	deploy/build bin/frontdesk-kit frontdesk-kit

# What is published: dist/frontdesk_VERSION_SYSTEM_ARCH.tar.gz or .zip with both programs,
# packages for Debian, SBOMs, and SHA256SUMS. It wants a tag and a clean tree;
# SNAPSHOT=--snapshot makes it of any other. Minutes: every platform is compiled.
release:
	deploy/release $(SNAPSHOT)

# bin/frontdesk_VERSION_ARCH.deb, and a container image.
deb:
	deploy/debian/build
image:
	deploy/docker/build

# Real HTTP on loopback over 100,000 records; figures belong into docs/performance.md.
bench:
	$(GO) test -run '^$$' -bench . -benchmem -timeout 30m ./mapping ./auth ./backend/... ./gateway ./cmd/frontdesk/...

# Each fuzz target for FUZZ.
fuzz:
	.ci/fuzz $(FUZZ)

# Long loops: many kills and restarts, many clients, a backup of 1,000,000 orders; 200 simulated days of each
# system, and days without each of some mends.
soak:
	FRONTDESK_SOAK=1 .ci/test foreign -p 1 -timeout 120m -run 'Kill|Cop(y|ies)|Concurrent|Soak|UnderLoad|Foreign|Hostile|NobodyCanTell|AreWhole|ToolsAgree|TestWindowIsTheLog|TestBrowser' ./cmd/frontdesk/... ./cmd/frontdesk-kit ./backend/reference ./backend/legacy ./backend/remote
	FRONTDESK_SOAK=1 .ci/test foreign -p 1 -timeout 300m -run '^Test(BuiltIn|Database|Service)' ./cmd/frontdesk/e2e/simulation

# Attacks on a frontdesk that serves, one after the other, beside a client that behaves:
# whether the aims of docs/reliability.md are met, as the table that stands there.
siege:
	$(GO) test -count=1 -timeout 60m -v -run '^TestSiege$$' ./cmd/frontdesk/e2e/siege -args -long $(SIEGE)
