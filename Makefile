# Targets of this checkout; `make` alone lists them. Everything lands under .venv,
# out and build, so that removing the checkout removes everything.

.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory
# Without bytecode, every process compiles again what it imports.
unexport PYTHONPATH PYTHONHOME PYTHONDONTWRITEBYTECODE

PYTHON ?=
SOURCE ?= recordings/churn
OUT ?= out/audit
UPGRADE ?=

BIN := .venv/bin
# tests/support/distribution.py states how many processes run tests, and which test runs where;
# tests/support/durations.py writes how long each took to build/tests.
PYTEST = $(BIN)/python -m pytest -q -rs -p tests.support.distribution -p tests.support.durations \
  -n logical --junitxml build/tests/$@.xml --write-durations build/tests/$@.tsv
# Packages among which no class name and no module name occurs twice.
UNIQUE := rebalance solver heuristics verify conformance pipeline oracle studies benchmarks tools
# Tests that compare with texts that the repository keeps.
SNAPSHOTS := tests/rebalance/test_documents.py tests/verify/test_unreadable.py \
  $(addprefix tests/oracle/cli/test_,layout.py sessions.py) tests/benchmarks/test_jvm.py \
  $(addprefix tests/oracle/report/test_,prose.py page_edges.py many_groups.py) \
  tests/docs/test_actions.py tests/pipeline/describe/test_describe.py \
  $(addprefix tests/pipeline/test_,damaged_sink_files.py histories.py lag_metrics.py \
    refused_sources.py)
WITH_PYTHON := python=$$(PYTHON="$(PYTHON)" sh tools/find_python.sh) && "$$python"

.PHONY: help setup dev audit test quick snapshots test-heavy test-all test-nightly programs workers clients confirm study survey lint format mutation browser promtool proofs pictures screenshots findings site bench lock clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' Makefile

setup: ## set up .venv: locked packages, the command .venv/bin/assignor-oracle, Java
	@$(WITH_PYTHON) -m tools.set_up runtime

dev: ## the same, and what the checks and tests need
	@$(WITH_PYTHON) -m tools.set_up dev

audit: setup ## audit the recording of a real broker (SOURCE=..., OUT=...)
	@$(BIN)/assignor-oracle audit "$(SOURCE)" --out "$(OUT)"

workers: setup ## pack what Spark's workers import, for clusters (build/workers)
	@$(BIN)/python -m tools.workers

clients: dev ## install third-party clients at pinned versions (build/clients)
	@$(BIN)/python -m tools.clients

survey: dev ## test every installed client on all families (docs/findings/records)
	@$(BIN)/python -m studies.survey --workers 2

study: dev ## let every assignor answer the same instances (out/quality)
	@$(BIN)/python -m benchmarks.quality --workers 2

confirm: clients ## test known hangs and crashes with real consumers on a real broker
	@$(BIN)/python -m studies.confirmation

lint: dev ## formatting, lint rules, types, import borders and repeated names
	@$(BIN)/ruff format --check --quiet .
	@$(BIN)/ruff check --quiet .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-logo
	@$(BIN)/python -m tools.unique_names $(UNIQUE)

test: dev ## lint, and the quick tests
	@$(MAKE) --jobs 2 lint quick

quick: dev ## the quick tests
	@$(PYTEST) --dist worksteal -m "not heavy and not nightly"

snapshots: dev ## write the texts anew that tests compare with (tests/support/snapshots.py)
	@ORACLE_RENEW=1 $(BIN)/python -m pytest -q $(SNAPSHOTS)

test-heavy: programs ## clients, browser, proofs, mutants of changed parts, then the heavy tests
	@$(BIN)/python -m tools.mutation --changed
	@ORACLE_INSTANCES=4000 $(PYTEST) -p tests.support.lacking --dist loadgroup \
	  --no-loadscope-reorder -m "heavy and not nightly"

test-all: test test-heavy ## both

test-nightly: lint programs ## all tests, with other random input every night; all mutants
	@$(BIN)/python -m tools.nightly

programs: dev ## clients, a browser, promtool, and the proofs, as far as this machine can have them
	-@$(MAKE) --keep-going --jobs 3 clients browser promtool proofs

mutation: dev ## change lines of every engine and the judge; fail if tests see too few
	@$(BIN)/python -m tools.mutation

browser: dev ## find or install a headless browser for the tests of the page
	@$(BIN)/python -m tools.browser

promtool: dev ## find or fetch promtool for the test of the metrics
	@$(BIN)/python -m tools.promtool

proofs: dev ## compile the proofs and build the checker (build/proofs)
	@$(BIN)/python -m tools.proofs

pictures: dev ## draw the pictures of docs/ anew
	@$(BIN)/python -m tools.pictures

screenshots: browser ## take the pictures of the pages anew, in the headless browser
	@$(BIN)/python -m tools.screenshots

findings: dev ## write the pages of docs/findings/ from its records
	@$(BIN)/python -m studies.findings

site: dev ## build the site of the documents, and check its links (build/site)
	@$(BIN)/python -m tools.site

bench: dev ## time the core, the heuristics, Kafka's own, programs, lag, reading, the audit
	@for part in core heuristics documents audit "kip54 --seeds 1 --seconds 5" \
	    "lag --quick" "jvm --quick"; do \
	  $(BIN)/python -m benchmarks.$$part || exit 1; done

format: dev ## format the code and mend what the lint rules can mend
	@$(BIN)/ruff check --quiet --fix-only .
	@$(BIN)/ruff format .

lock: ## write requirements/*.lock anew (UPGRADE=1: newest versions)
	@$(WITH_PYTHON) -m tools.lock $(if $(UPGRADE),--upgrade)

clean: ## remove what runs leave behind, but .venv
	@rm -rf out build dist mutants .mypy_cache .pytest_cache .ruff_cache .hypothesis \
	  .import_linter_cache spark-warehouse metastore_db derby.log
	@find . -name .venv -prune -o -name __pycache__ -type d -exec rm -rf {} +
