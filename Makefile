# Two commands for a newcomer: `make demo` and `make test`. Both set up what they need first.
PYTHON ?= python3
VENV := .venv
PY := $(VENV)/bin/python
STAMP := $(VENV)/.kgroups-stamp
# The demo needs the package with Spark and nothing else: where the tests are set up it is there.
DEMO_VENV := $(if $(wildcard $(STAMP)),$(VENV),.venv-demo)
DEMO_STAMP := $(DEMO_VENV)/.kgroups-stamp
PYTEST := $(PY) -m pytest
# As many cases as one likes take as long as they take.
FUZZ := $(PYTEST) --timeout 14400
export PYSPARK_PYTHON := $(abspath $(PY))
# Tests start a thousand programs: each would compile what changed since the set-up by itself.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: setup releases versions demo test test-rest test-all test-failed check fmt bench bench-scale fuzz fidelity fidelity-simulation chaos kafka completions docs man changelog licences audit pex wheels release

setup: $(STAMP)

$(STAMP): pyproject.toml constraints.txt scripts/setup.sh
	@PYTHON="$(PYTHON)" VENV="$(VENV)" scripts/setup.sh
	@touch $@

# More processes than cores, as tests wait a lot: those of `make test` most. Their order: tests/schedule.py.
# A process that died ends the run: what it had still to do may be handed out to nobody otherwise.
ALL := tests --dist loadfile --max-worker-restart=0 --durations=25 --durations-min=1

# What `make versions` runs on brokers of each release.
VERSION_SUITES := $(addprefix tests/kafka/,reads/test_contract.py writes/test_write_contract.py \
	writes/test_reset_offsets.py writes/test_delete_offsets.py writes/test_copy_offsets.py \
	writes/test_apply.py writes/test_undo.py writes/test_remove_members.py writes/test_delete_records.py)

# What a commit must pass, within 10 minutes on two cores.
test: setup
	$(PYTEST) $(ALL) -n 4 -m "not slow"

# What `make test` leaves out. BUDGET=2400: begins no file that would not end within so many seconds, and names those.
test-rest: setup releases
	$(PYTEST) $(ALL) -n 3 -m slow $(if $(BUDGET),--budget $(BUDGET))

# What a release must pass.
test-all: test test-rest

# The jars of the releases of Kafka that `make test` does not start.
releases: setup
	@$(PY) -m tests.support.kafka.jars --every-release >/dev/null

# Brokers of Kafka 2.8 (with ZooKeeper) to 4.4, 3.9 with either coordinator: what every command
# does there (tests/data/releases.json, docs/broker-versions.md), then the adapter's contract and the writes.
versions: setup releases
	@$(PY) -m tests.support.kafka.jars --newer-tools
	KGROUPS_WRITE_RELEASES=1 $(PYTEST) tests/kafka/brokers/test_releases.py -k test_every_command
	$(PY) scripts/docs.py tables
	$(PYTEST) tests/kafka/brokers/test_releases.py -k "not test_every_command" tests/kafka/brokers/test_addresses.py \
		tests/kafka/brokers/test_upgraded.py
	@failed=0; for release in "2.8" "3.3" "3.9" "3.9 with KIP-848" "4.0" "4.2" "4.3" "4.4"; do \
		echo "versions: Kafka $$release"; \
		KGROUPS_KAFKA_RELEASE="$$release" $(PYTEST) $(VERSION_SUITES) || failed=1; \
	done; exit $$failed

# Only what failed in the last run.
test-failed: setup
	$(PYTEST) tests --last-failed --last-failed-no-failures none -rA

# A real Kafka by hand: prints its address, runs until Ctrl-C.
kafka: setup
	@$(PY) -m tests.support.kafka.serve

demo: $(DEMO_STAMP)
	@PYSPARK_PYTHON="$(abspath $(DEMO_VENV)/bin/python)" $(DEMO_VENV)/bin/kgroups demo --spark

.venv-demo/.kgroups-stamp: pyproject.toml constraints.txt scripts/setup.sh
	@PYTHON="$(PYTHON)" VENV=.venv-demo scripts/setup.sh demo
	@touch $@

# Ours beside the reference, in one run: bench/results.json and the figures of docs/benchmarks.md.
bench: setup
	@failed=0; for part in bench bench.sandbox bench.simulation "bench.cluster_scale 24000"; do \
		$(PY) -m $$part || failed=1; \
	done; exit $$failed

# Lag reports at 1e6 to 1e8 rows beside DuckDB, batch dry runs, start-up: minutes, and 1 GB of disk.
# Clusters of up to 100,000 groups with 2,000,000 commits; resets of 480,000 on a real broker.
bench-scale: setup
	@failed=0; for part in bench.lag_scale bench.cluster_scale "bench.cluster_scale --broker"; do \
		$(PY) -m $$part || failed=1; \
	done; exit $$failed

check: setup
	$(PY) -m ruff format --check .
	$(PY) -m ruff check .
	$(PY) -m mypy
	$(PY) -m mypy tests bench scripts
	cd typings && $(abspath $(VENV))/bin/lint-imports --config ../pyproject.toml --cache-dir ../.import_linter_cache

# What the package requires, and its licences: docs/licences.md.
licences: setup
	$(PY) scripts/licences.py

# Known vulnerabilities of the pinned versions; fails too where nobody answers for one of them.
audit: setup
	@$(PY) -m scripts.audit

# The small installation as one file, dist/kgroups.pex, for hosts without access to package indexes.
pex: setup
	@mkdir -p dist
	$(VENV)/bin/pex . --constraints constraints.txt --console-script kgroups --venv prepend --compile --output-file dist/kgroups.pex

# Which Pythons and platforms have wheels of all that kgroups requires: PYTHONS="3.14 3.15".
wheels: setup
	@$(PY) -m scripts.wheels $(PYTHONS)

# Version, changelog, make check and test-all, packages and their checks, tag: VERSION=0.1.0. Signs and publishes nothing.
release: setup releases
	$(PY) -m scripts.release $(VERSION)

fmt: setup
	$(PY) -m ruff format .
	$(PY) -m ruff check --fix .

docs: setup  # the generated tables of README.md and docs/, and README's pictures
	$(PY) scripts/docs.py tables
	$(PY) -m scripts.pictures

messages: setup  # core/protocol/tables, from Kafka's message definitions
	$(PY) -m scripts.messages

completions: setup
	$(PY) scripts/docs.py completions

changelog: setup  # the fragments of changelog.d/ into CHANGELOG.md
	$(PY) scripts/changelog.py

man: setup  # man/, which the wheel installs to share/man/man1
	$(PY) scripts/docs.py man

# More random cases than `make test` has: all kinds, or one, as many and which one likes.
# WHAT=lag COUNT=1000 SEED=7; `python -m scripts.fuzz --help` has the kinds.
fuzz: setup
	@$(PY) -m scripts.fuzz $(WHAT) $(if $(COUNT),--count $(COUNT)) $(if $(SEED),--seed $(SEED))

# Predictions of `plan` against a real broker and real clients, counted in docs/fidelity.md: CHANGES=200
# for each SEED=7 or SEED=7,8,9, on brokers of RELEASE=4.3 or 4.4.
fidelity: setup
	KGROUPS_FIDELITY_RELEASE=$${RELEASE:-4.4} KGROUPS_FIDELITY_CHANGES=$${CHANGES:-200} KGROUPS_FIDELITY_SEED=$${SEED:-1} $(FUZZ) -q tests/fidelity -p no:randomly

# Simulations against a real broker and real clients, with real cuts; errors go to
# docs/simulation-fidelity.md. ROWS=cut,crash takes only what has one of these in its name.
fidelity-simulation: setup
	KGROUPS_TRUTH=1 KGROUPS_TRUTH_ROWS=$(ROWS) $(FUZZ) -q tests/fidelity/test_simulation_truth.py -p no:randomly

# Every kind of write to 300 groups while brokers, commands, members and topics come and go
# (docs/writes.md): ROUNDS=30, some minutes each; SEED=7 for which.
chaos: setup
	@seed=$${SEED:-$$(date +%s)}; rounds=$${ROUNDS:-10}; \
	echo "chaos: $$rounds rounds from seed $$seed"; \
	KGROUPS_CHAOS_ROUNDS=$$rounds KGROUPS_CHAOS_SEED=$$seed $(FUZZ) -q -s tests/kafka/chaos -p no:randomly
