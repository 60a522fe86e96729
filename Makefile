# Every command of the project. `make` alone lists them.
PYTHON ?= python3
# Without a Python by name, set-up takes the oldest suitable one of the machine.
export SINEMORA_PYTHON_CHOSEN := $(filter-out file,$(firstword $(origin PYTHON)))
PREPARE = @$(PYTHON) infra/toolchain/prepare.py
RUN = $(PYTHON) infra/toolchain/run.py
SINEMORA = @$(RUN) sinemora-embedded

.DEFAULT_GOAL := help
.PHONY: help

help:
	@$(PYTHON) infra/toolchain/help.py $(MAKEFILE_LIST)

##@ Run the product
.PHONY: up down wait demo status logs replace restore-drill clean-data
up: ## Bring everything needed, build, and run all of it here until Ctrl-C
	$(PREPARE) up
down: ## Stop what `make up` started, from another terminal
	$(SINEMORA) down
wait: ## Return when every planned path of the demonstration mesh is measured (SINEMORA_WAIT_S)
	@$(PYTHON) infra/toolchain/wait.py
demo: ## Load a simulated tenant of 100 VMs and 30 days, then keep it current (SEED=2; again from the start: FRESH=1; return: ONCE=1)
	$(SINEMORA) demo $(if $(SEED),--seed $(SEED)) $(if $(filter 1,$(FRESH)),--fresh) $(if $(filter 1,$(ONCE)),--once)
status: ## Show each process, since when it runs and how often it was restarted
	$(SINEMORA) status
logs: ## Follow the logs; one of them: make logs OF=api
	$(SINEMORA) logs $(OF)
replace: ## Migrate the database, then replace API, gateway and workers by new starts of their programs while agents upload; no connection is refused
	@$(RUN) --in backend python hatch_build.py
	$(SINEMORA) replace
restore-drill: ## Restore the running database next to it, check it, and print RPO and RTO (from the object storage: STORAGE=1; to a time: UNTIL=2026-11-26T02:00:00Z)
	$(SINEMORA) run sinemora drill $(if $(filter 1,$(STORAGE)),--storage) $(if $(UNTIL),--until $(UNTIL))
clean-data: ## Delete the data folder; without a question: make clean-data YES=1
	$(SINEMORA) clean-data $(if $(filter 1,$(YES)),--yes)

##@ Check
.PHONY: test check conformance test-backend test-agent test-interop fuzz-agent test-frontend test-e2e test-guests screenshots recording test-bare test-compose test-chart lint prose
test: ## Everything CI runs: lint, types, units, drift, end to end (some suites: SUITES='pytest vitest'; all random cases, not a quarter: SEEDS=all)
	$(PREPARE) test
	@$(PYTHON) infra/test/suites.py $(SUITES)
check: ## The quick part: lint, types, tests of pure code and of the front end's units
	$(PREPARE) check
	@$(PYTHON) infra/test/suites.py --check
conformance: ## Schemathesis against a running product: does the API keep its contract? (ARGS='--only /v1/zones --share 1')
	$(PREPARE) test-backend
	@$(RUN) --in backend python -m lab.conformance $(ARGS)
test-backend: ## Python tests against a real database (those that use one, on a server or cluster of Citus that runs: CLUSTER=URL of a superuser; spread by VM: BY=vm)
	$(PREPARE) test-backend
	@SINEMORA_TEST_DATABASE_URL="$(CLUSTER)" SINEMORA_TEST_SPREAD_BY="$(BY)" $(PYTHON) infra/test/suites.py pytest
test-agent: ## Rust tests of the agent
	$(PREPARE) agent
	@$(PYTHON) infra/test/suites.py cargo-test
test-interop: ## Our agent and stock PTP daemons (ptpd, ptp4l) measure one another
	$(PREPARE) test-interop
	@$(PYTHON) infra/test/suites.py interop
test-guests: ## Two emulated machines with agents measure one another: real clocks, stepped, stopped, suspended (root; Debian)
	$(PREPARE) test-guests
	@$(PYTHON) infra/test/suites.py guests
fuzz-agent: ## Fuzz what agent and backend read from others, SECONDS=600 each; keep new inputs: KEEP=1
	$(PREPARE) fuzz-agent
	@$(RUN) --in agent/fuzz $(PYTHON) run.py $(SECONDS) $(if $(filter 1,$(KEEP)),--keep)
test-frontend: ## Unit tests of the front end
	$(PREPARE) frontend
	@$(PYTHON) infra/test/suites.py vitest
test-e2e: ## Journeys in a real browser against the running product
	$(PREPARE) test
	@$(PYTHON) infra/test/suites.py playwright
screenshots: ## Renew the kept pictures of pages, after a look at what changed (e2e/screenshots)
	$(PREPARE) screenshots
	@$(RUN) --in e2e npm run --silent screenshots
recording: ## Record again, from a product of its own, the answers that screenshots show; then: make screenshots
	$(PREPARE) test
	@$(RUN) --in e2e npm run --silent record
# make itself gives AS the value "as", the assembler.
test-bare: AS =
test-bare: ## Both commands of the README on a bare Debian, as root and as a user (root; AS=user ONLY=up SUITES=… KEEP=/dir)
	@AS="$(AS)" ONLY="$(ONLY)" SUITES="$(SUITES)" ARGS="$(ARGS)" KEEP="$(KEEP)" $(PYTHON) infra/test/bare.py
test-compose: ## The production stack in containers, on real networks (root; Debian)
	@$(PYTHON) infra/test/compose.py
test-chart: ## The Helm chart: linted, rendered by Helm, and valid by the schemas of Kubernetes
	$(PREPARE) test-chart
	@$(RUN) --in backend pytest -q -p no:cacheprovider ../infra/test/test_chart.py
lint: ## Linters, formatters and type checks, changing nothing
	$(PREPARE) tools
	@$(PYTHON) infra/test/suites.py --lint
prose: ## List sentences worth a second reading (a reading aid; some files: ARGS='docs backend/sinemora/alerts')
	@$(PYTHON) infra/prose/prose.py $(ARGS)

##@ Distribute
.PHONY: packages release test-packages sbom audit
packages: ## Build the agent's packages, install script and checksums (signed: SINEMORA_SIGNING_KEY=…)
	$(PREPARE) packages
	@$(PYTHON) infra/supply_chain/sbom.py
	@$(PYTHON) infra/packages/build.py
release: ## Build everything that a release consists of into release/ (signed: SINEMORA_SIGNING_KEY=…)
	$(PREPARE) setup
	$(PREPARE) packages
	@$(PYTHON) infra/packages/release.py
sbom: ## Write bills of materials (CycloneDX) of backend, front end and agent into agent/dist, validated
	$(PREPARE) sbom
	@$(PYTHON) infra/supply_chain/sbom.py
audit: ## Look for vulnerable dependencies and record the result in docs/security.md (a copy of RustSec's advisories: RUSTSEC_DB=folder)
	$(PREPARE) audit
	@RUSTSEC_DB="$(RUSTSEC_DB)" $(PYTHON) infra/supply_chain/audit.py
test-packages: packages ## Install .deb and .rpm in a copy of the machine, run, upgrade and remove them (root; Debian)
	$(PREPARE) test-packages
	@$(PYTHON) infra/packages/trial.py

##@ Change
.PHONY: setup format gen examples lock
setup: ## Bring the toolchains and build, without starting anything
	$(PREPARE) setup
format: ## Format Python, Rust and TypeScript
	$(PREPARE) tools
	@$(RUN) --in backend ruff check --fix-only --quiet . ../infra ../migrations ../agent/bench ../agent/fuzz ../agent/guests ../agent/interop
	@$(RUN) --in backend ruff format . ../infra ../migrations ../agent/bench ../agent/fuzz ../agent/guests ../agent/interop
	@$(RUN) --in agent cargo fmt
	@$(RUN) --in frontend npm run --silent format
	@$(RUN) --in e2e npm run --silent format
gen: ## Write the problem codes and openapi.json again, then generate the code that follows from them
	$(PREPARE) tools
	@$(RUN) --in backend python -m lab.conformance.problem_codes --output sinemora/contract/problem_codes.json
	@$(RUN) --in backend sinemora openapi --output openapi.json
	$(PREPARE) generated
examples: ## Record the examples of the API reference again, from the answers that the tests get; then: make gen (some of both: TESTS='tests/jobs' ONLY='jobs artifacts')
	$(PREPARE) test-backend
	@TESTS="$(TESTS)" ONLY="$(ONLY)" $(RUN) --in backend python -m tests.recorded_examples
lock: ## Write the lock files again; newer versions: make lock UPGRADE=1
	$(PREPARE) tools
	@UPGRADE=$(UPGRADE) $(PYTHON) infra/toolchain/lock.py

##@ Measure
.PHONY: bench-size bench-curves bench-placement bench-recommendations bench-simulation bench-store bench-agent bench-alerts bench-ui bench-security bench-scale bench-first-hour bench-badday bench-traffic soak
bench-curves: ## How well curves are recovered, a JSON object a figure (other noise: SEED=2; some groups: ONLY=classes)
	$(PREPARE) backend >&2
	@SEED=$(SEED) ONLY=$(ONLY) $(RUN) --in backend python -m lab.benchmarks.curves
bench-recommendations: ## Whether intervals, probabilities, verdicts and proofs are right (SEED=2; one group: ONLY=optimality; WORLDS=600; TENANTS=50; PAIRS=200)
	$(PREPARE) backend >&2
	@SEED=$(SEED) ONLY=$(ONLY) WORLDS=$(WORLDS) TENANTS=$(TENANTS) PAIRS=$(PAIRS) $(RUN) --in backend python -m lab.benchmarks.recommendations
bench-traffic: ## Whether applications are found in traffic and advice can be carried out (SEED=2; one group: ONLY=plans)
	$(PREPARE) bench-traffic >&2
	@SEED=$(SEED) ONLY=$(ONLY) $(RUN) --in backend python -m lab.benchmarks.traffic
bench-placement: ## What placement finds and how fast (job sizes of a trace: TRACE=folder; one group: ONLY=full)
	$(PREPARE) backend >&2
	@TRACE=$(TRACE) ONLY=$(ONLY) $(RUN) --in backend python -m lab.benchmarks.placement
bench-simulation: ## Placement policies through time on a slice of a cluster (HOURS=19.5 TRACE=folder: all of the trace)
	$(PREPARE) backend >&2
	@MACHINES=$(MACHINES) HOURS=$(HOURS) TRACE=$(TRACE) SEED=$(SEED) $(RUN) --in backend python -m lab.benchmarks.simulation
bench-store: ## What the store takes in and how fast it answers (some groups: ONLY=ingest,rss; memory: SECONDS=600)
	$(PREPARE) backend >&2
	@ONLY="$(ONLY)" SECONDS_OF_LOAD="$(SECONDS)" $(RUN) --in backend python -m lab.benchmarks.store
bench-agent: ## What the agent costs and how right it is, beside stock daemons (one group: ONLY=cpu)
	$(PREPARE) bench-agent >&2
	@ONLY="$(ONLY)" $(RUN) --in backend python ../agent/bench
bench-alerts: ## What alerts find, miss and cost, against known truth (other noise: SEED=2; some groups: ONLY=eval,outage)
	$(PREPARE) backend >&2
	@SEED="$(SEED)" ONLY="$(ONLY)" $(RUN) --in backend python -m lab.benchmarks.alerts
bench-ui: ## How fast and how right the console is in a browser (some groups: ONLY=faults,keys; SEED=2; MINUTES=30 of heap)
	$(PREPARE) bench-ui >&2
	@ONLY="$(ONLY)" SEED="$(SEED)" MINUTES="$(MINUTES)" $(RUN) --in backend python -m lab.benchmarks.ui
bench-security: ## What keeps others out and what stops the API (some groups: ONLY=fuzz; other requests: SEED=2; fewer: REQUESTS=20000)
	$(PREPARE) bench-security >&2
	@ONLY="$(ONLY)" SEED="$(SEED)" REQUESTS="$(REQUESTS)" $(RUN) --in backend python -m lab.benchmarks.security
bench-scale: ## What an upgrade under load costs, and whether the capacity model holds (one group: ONLY=pairs; from PREVIOUS=COMMIT)
	$(PREPARE) bench-scale >&2
	@ONLY="$(ONLY)" PREVIOUS="$(PREVIOUS)" $(RUN) --in backend python -m lab.benchmarks.scale
bench-first-hour: ## How soon a new installation shows something, and what the command line costs (one group: ONLY=install)
	$(PREPARE) setup >&2
	@ONLY="$(ONLY)" $(RUN) --in backend python -m lab.benchmarks.first_hour
bench-badday: ## What faults of each part, alone and in pairs, cost reports and alerts (some: ONE_OF=stop-api,busy+disk-full)
	$(PREPARE) bench-badday >&2
	@ONE_OF="$(ONE_OF)" $(RUN) --in backend python -m lab.soak.badday
soak: ## Run the product for a day under load, replacements and injected faults; count what is lost or grows (HOURS=24 or MINUTES=20; AGENTS=2 FAULTS='kill-api')
	$(PREPARE) soak >&2
	@HOURS="$(HOURS)" MINUTES="$(MINUTES)" AGENTS="$(AGENTS)" FAULTS="$(FAULTS)" $(RUN) --in backend python -m lab.soak
bench-size: ## How much code, pictures and rooms there are, and how long the last test runs took
	$(PREPARE) backend >&2
	@$(RUN) --in backend python ../infra/test/size.py
