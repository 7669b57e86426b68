# `make` alone lists the targets.

TOOL := go tool -modfile=tools/go.mod

.DEFAULT_GOAL := help

.PHONY: help
help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "%-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: run
run: ## Start the service with no configuration, for development
	go run ./cmd/touchline serve

.PHONY: test
test: ## Run the tests
	go test ./...

.PHONY: check
check: ## Everything that CI runs
	.ci/run

.PHONY: drill
drill: ## Everything that CI runs, and what takes longer: more rounds of races and kills, what an operator does, a failover under load
	.ci/run
	TOUCHLINE_TEST_REQUIRE_PROGRAMS=on go test -race -tags drill -timeout 60m ./...
	go -C tools/release run . -platforms linux/amd64
	deploy/check/operator dist/touchline_*_linux_amd64.deb
	deploy/check/failover
	.ci/bare all

.PHONY: mutants
mutants: ## Plant faults one by one, and run the tests that must find each (half an hour); ARGS are flags of tools/mutants
	go -C tools run ./mutants $(ARGS)

.PHONY: fmt
fmt: ## Format the Go files
	$(TOOL) gofumpt -w $$(find . -name '*.go' -not -name '*[._]gen.go' -not -path '*/node_modules/*')

.PHONY: bench
bench: ## Measure this build over HTTP; ARGS are flags of bench/load
	go -C bench run ./load $(ARGS)

.PHONY: release
release: ## Build the files of a release in dist/
	go -C tools/release run .

.PHONY: vuln
vuln: ## Look for known vulnerabilities (fetches the database)
	@curl -fsS --max-time 20 -o /dev/null "$${GOVULNDB:-https://vuln.go.dev}/index/db.json" || \
		{ echo "nothing was checked: there is no database of vulnerabilities at $${GOVULNDB:-https://vuln.go.dev}" >&2; exit 1; }
	$(TOOL) govulncheck ./...

.PHONY: changes
changes: ## Print what changed in the API since the last release, for integrators
	@release=$$(.ci/last-release) && if [ -z "$$release" ]; then echo "there is no release yet: nothing to compare with"; exit; fi; \
	for document in api admin; do \
		git show "$$release:internal/$$document/openapi.yaml" >/tmp/released.$$$$.yaml && \
		$(TOOL) oasdiff changelog /tmp/released.$$$$.yaml internal/$$document/openapi.yaml --format markdown; rm -f /tmp/released.$$$$.yaml; \
	done
