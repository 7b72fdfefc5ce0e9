# Each target makes the environment it needs under .venvs/ and installs into it; Python 3.11+ and make are all it assumes.
PYTHON ?= python3
DATA ?= ../shared/data
OUT ?= out
VENVS := .venvs
TEST := $(VENVS)/test
BENCH := $(VENVS)/bench
DOCS := $(VENVS)/docs
PEERS := $(VENVS)/peers
OLDER := $(VENVS)/peers-older
WITH_TORCH := $(VENVS)/torch
# The ordinary build may bring gigabytes of GPU libraries, so name a smaller one if you can.
TORCH ?= torch>=2.2
PIP_FLAGS := --quiet --disable-pip-version-check

.PHONY: test test-torch lint level fuzz demo bench bench-peers papers soak docs pictures clean help

help:  ## List the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/'

test: lint  ## Lint, types, import contracts, and the test suite with its doctests (warnings are errors)
	$(TEST)/bin/python -m pytest

test-torch: $(WITH_TORCH)/.installed  ## The tests that need PyTorch, in an environment of their own (it may take gigabytes)
	$(WITH_TORCH)/bin/python -m pytest tests/unit/test_fisher_torch.py

lint: $(TEST)/.installed
	$(TEST)/bin/ruff check .
	$(TEST)/bin/ruff format --check .
	$(TEST)/bin/mypy
	$(TEST)/bin/lint-imports

level: $(TEST)/.installed  ## The whole calibration study of the two-sample tests (minutes)
	$(TEST)/bin/python -m pytest -m level -s

fuzz: $(TEST)/.installed  ## A million damaged files for the loader, 100,000 for the readers (half an hour)
	cd tests && OMP_NUM_THREADS=1 ../$(TEST)/bin/python -m fuzz --loader 1000000 --readers 100000 --seed 1

demo: $(TEST)/.installed  ## See it work
	$(TEST)/bin/supersample demo --output $(OUT)/demo

bench: $(BENCH)/.installed  ## Speed and memory, as ratios measured in one run
	$(BENCH)/bin/python -m benchmarks.speed --data $(DATA) --out $(OUT)/speed

bench-peers: $(PEERS)/.installed $(OLDER)/.installed  ## Beside the field: BENCHMARKS.md and its pictures, all numbers anew
	$(PEERS)/bin/python -m benchmarks.peers --data $(DATA) --out benchmarks/peers/results
	$(PEERS)/bin/python -m benchmarks.peers.document

papers: $(BENCH)/.installed  ## The papers' figures and tables, as pictures and JSON
	$(BENCH)/bin/python -m benchmarks.papers --data $(DATA) --out $(OUT)/papers

soak: $(BENCH)/.installed  ## An hour of a stream without end: memory, sums, quality
	$(BENCH)/bin/python -m benchmarks.soak --rows 1e9 --minutes 60 --out $(OUT)/soak

docs: $(DOCS)/.installed  ## The documentation site, in OUT/docs (every warning is an error)
	$(DOCS)/bin/sphinx-build --builder html --fresh-env --write-all --fail-on-warning --keep-going --nitpicky --quiet --doctree-dir $(OUT)/doctrees docs $(OUT)/docs
	@echo "open $(OUT)/docs/index.html"

pictures: $(DOCS)/.installed  ## The pictures of docs/concepts, drawn anew
	$(DOCS)/bin/python docs/pictures.py

clean:  ## Remove environments and outputs
	rm -rf $(VENVS) $(OUT)

$(WITH_TORCH)/.installed: pyproject.toml
	$(PYTHON) -m venv $(WITH_TORCH)
	$(WITH_TORCH)/bin/python -m pip install $(PIP_FLAGS) --editable '.[test,torch]' '$(TORCH)'
	@touch $@

# An environment has the name of the extra that it is made of.
$(VENVS)/%/.installed: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "supersample needs Python 3.11 or later; set PYTHON=")'
	$(PYTHON) -m venv $(VENVS)/$*
	$(VENVS)/$*/bin/python -m pip install $(PIP_FLAGS) --editable '.[$*]'
	@touch $@

# Where these peers do not install, the tables say so and the rest is measured all the same.
$(OLDER)/.installed: benchmarks/peers/older.txt
	$(PYTHON) -m venv $(OLDER)
	-$(OLDER)/bin/python -m pip install $(PIP_FLAGS) --requirement benchmarks/peers/older.txt '$(TORCH)'
	@touch $@
