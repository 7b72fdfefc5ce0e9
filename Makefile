# Each target makes the environment it needs under .venvs/ and installs into it; Python 3.11+ and make are all it assumes.
PYTHON ?= python3
DATA ?= ../shared/data
OUT ?= out
VENVS := .venvs
TEST := $(VENVS)/test
BENCH := $(VENVS)/bench
PEERS := $(VENVS)/peers
OLDER := $(VENVS)/peers-older
# What alibi-detect computes with; the ordinary build may bring gigabytes of GPU libraries, so name a smaller one if you can.
TORCH ?= torch>=2.2
PIP_FLAGS := --quiet --disable-pip-version-check

.PHONY: test lint level demo bench bench-peers papers clean help

help:  ## List the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/'

test: lint  ## Lint, types, import contracts, and the test suite with its doctests (warnings are errors)
	$(TEST)/bin/python -m pytest

lint: $(TEST)/.installed
	$(TEST)/bin/ruff check .
	$(TEST)/bin/ruff format --check .
	$(TEST)/bin/mypy
	$(TEST)/bin/lint-imports

level: $(TEST)/.installed  ## The whole calibration study of the two-sample tests (minutes)
	$(TEST)/bin/python -m pytest -m level -s

demo: $(TEST)/.installed  ## See it work
	$(TEST)/bin/supersample demo --output $(OUT)/demo

bench: $(BENCH)/.installed  ## Speed and memory, as ratios measured in one run
	$(BENCH)/bin/python -m benchmarks.speed --data $(DATA) --out $(OUT)/speed

bench-peers: $(PEERS)/.installed $(OLDER)/.installed  ## Beside the field: BENCHMARKS.md and its pictures, all numbers anew
	$(PEERS)/bin/python -m benchmarks.peers --data $(DATA) --out benchmarks/peers/results
	$(PEERS)/bin/python -m benchmarks.peers.document

papers: $(BENCH)/.installed  ## The papers' figures and tables, as pictures and JSON
	$(BENCH)/bin/python -m benchmarks.papers --data $(DATA) --out $(OUT)/papers

clean:  ## Remove environments and outputs
	rm -rf $(VENVS) $(OUT)

$(TEST)/.installed: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "supersample needs Python 3.11 or later; set PYTHON=")'
	$(PYTHON) -m venv $(TEST)
	$(TEST)/bin/python -m pip install $(PIP_FLAGS) --editable '.[test]'
	@touch $@

$(BENCH)/.installed: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "supersample needs Python 3.11 or later; set PYTHON=")'
	$(PYTHON) -m venv $(BENCH)
	$(BENCH)/bin/python -m pip install $(PIP_FLAGS) --editable '.[bench]'
	@touch $@

$(PEERS)/.installed: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "supersample needs Python 3.11 or later; set PYTHON=")'
	$(PYTHON) -m venv $(PEERS)
	$(PEERS)/bin/python -m pip install $(PIP_FLAGS) --editable '.[peers]'
	@touch $@

# Where these peers do not install, the tables say so and the rest is measured all the same.
$(OLDER)/.installed: benchmarks/peers/older.txt
	$(PYTHON) -m venv $(OLDER)
	-$(OLDER)/bin/python -m pip install $(PIP_FLAGS) --requirement benchmarks/peers/older.txt '$(TORCH)'
	@touch $@
