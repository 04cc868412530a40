# Aliases for what is done often. `make demo` and `make test` need git and Go, nothing else.

GO      ?= go
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
LDFLAGS = -s -w -X kb/vault.Version=$(VERSION)
BIN     ?= bin/kb

.PHONY: build site-assets demo test race browser pictures check golden fuzz bench lint cross
build: ## the program
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '$(LDFLAGS)' -o $(BIN) ./cmd/kb

demo: build ## the main job, on this repository's own manual
	@KB=$(BIN) sh docs/demo.sh

site-assets: ## the site's scripts, from their sources
	cd site/web && $(GO) run . && $(GO) test .

test: ## what every change must pass
	$(GO) test ./...

lint: ## formatting, vet, staticcheck
	@test -z "$$(gofmt -l $$(git ls-files '*.go'))" || { gofmt -l $$(git ls-files '*.go'); echo 'gofmt -w these files'; exit 1; }
	$(GO) vet ./...
	$(GO) run honnef.co/go/tools/cmd/staticcheck@v0.8.2 ./...

cross: ## the default build on every platform
	for p in linux/arm64 darwin/arm64 windows/amd64; do CGO_ENABLED=0 GOOS=$${p%/*} GOARCH=$${p#*/} $(GO) build -o /dev/null ./... || exit 1; done

race: ## the tests under the race detector
	$(GO) test -race ./...

browser: ## the site in Chromium: barriers, keys, hostile notes, Lighthouse; skipped where npm or Chromium is missing
	if command -v npm > /dev/null; then npm ci --prefix site/testdata/browser --ignore-scripts --no-audit --no-fund; fi
	KB_LONG=1 $(GO) test -count=1 -timeout 30m -run Browser ./site

pictures: ## the manual's pictures of a site, anew
	npm ci --prefix site/testdata/browser --ignore-scripts --no-audit --no-fund
	KB_PICTURES=$(CURDIR)/docs/img $(GO) test -count=1 -run BrowserPictures ./site

check: lint test race cross browser ## everything before a release

golden: ## rewrite the golden files; read the diff
	$(GO) test ./cmd/kb ./cmd/kb/tui ./mcp ./vault ./internal/imports -update

FUZZTIME ?= 20s
fuzz: ## every fuzz target for a while
	@for p in $$($(GO) list ./...); do for f in $$($(GO) test -list '^Fuzz' $$p | grep '^Fuzz'); do \
		$(GO) test -run '^$$' -fuzz "^$$f$$" -fuzztime $(FUZZTIME) $$p || exit 1; done; done

bench: build ## against SQLite FTS5, ripgrep, git grep, Hugo and Pagefind; see docs/benchmarks.md
	$(GO) run ./bench -kb $(BIN)
