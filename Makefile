# Each target makes the environment it needs under .venvs/ and installs into it; Python 3.11+ and make are all it assumes.
PYTHON ?= python3
# With this set, each process that a test starts would compile the package again.
unexport PYTHONDONTWRITEBYTECODE
VERSION := $(shell "$(PYTHON)" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
SUPPORTED := 3.11 3.12 3.13 3.14
ifeq ($(filter $(VERSION),$(SUPPORTED)),)
ifneq ($(filter-out help clean,$(or $(MAKECMDGOALS),help)),)
$(error supersample needs Python $(SUPPORTED), got $(or $(VERSION),none) from PYTHON=$(PYTHON); set PYTHON=)
endif
endif
DATA ?= ../shared/data
OUT ?= out
# Exact versions of everything that tests, demo and documentation use; `make lock` renews them.
LOCK := constraints/python-$(VERSION).txt
# An environment belongs to one Python, so that several can be used side by side.
VENVS := .venvs/$(VERSION)
BIN := $(if $(filter Windows_NT,$(OS)),Scripts,bin)
TEST := $(VENVS)/test
NEWEST := $(VENVS)/newest
LOWEST := $(VENVS)/lowest
BENCH := $(VENVS)/bench
DOCS := $(VENVS)/docs
DEMO := $(VENVS)/demo
DEV := $(VENVS)/dev
PEERS := $(VENVS)/peers
OLDER := $(VENVS)/peers-older
WITH_TORCH := $(VENVS)/torch
WITH_S3 := $(VENVS)/s3
WITH_ARRAYS := $(VENVS)/arrays
WITH_SCHEMATHESIS := $(VENVS)/schemathesis
# A GPU has its own builds of torch, CuPy and JAX, so its Python is used as it is.
GPU_PYTHON ?= $(PYTHON)
PROFILERS := $(VENVS)/profilers
# The ordinary build may bring gigabytes of GPU libraries, so name a smaller one if you can.
TORCH ?= torch>=2.2
PIP := -m pip install --quiet --disable-pip-version-check
# Tests run on this many processes at a time. Each has a cache of compiled code of its own, so more of them than cores take longer.
WORKERS ?= 2
define LINT
$(1)/$(BIN)/ruff check .
	$(1)/$(BIN)/ruff format --check .
	$(1)/$(BIN)/mypy
	$(1)/$(BIN)/lint-imports
endef
PYTEST := -m pytest --numprocesses $(WORKERS) --dist loadfile

.PHONY: test suite test-once newest test-newest suite-newest test-lowest test-random test-torch test-arrays test-gpu test-s3 lint level fuzz environment lock demo dist coverage bench bench-peers bench-changes bench-profiles bench-gpu papers soak gallery docs pictures clean soak-live soak-day fuzz-live bench-live help

help:  ## List the targets
	@grep -E '^[a-z-]+:.*##' $(firstword $(MAKEFILE_LIST)) | sed -E 's/:.*## /\t/'

test: lint suite test-once  ## Lint, types, import contracts, and all tests with their doctests (warnings are errors); PYTHON= names the Python

suite: environment  ## The tests that are run on every Python, with locked versions
	$(TEST)/$(BIN)/python $(PYTEST)

lint: environment
	$(call LINT,$(TEST))

environment: $(TEST)/.installed

test-once: environment  ## The tests that one Python is enough for: pages in a browser, code in the guides, kills of the service, Spark, the whole live demo, a day of a service
	$(TEST)/$(BIN)/python $(PYTEST) -m once tests

test-newest: newest  ## Lint, types and all tests with the newest release of everything
	$(call LINT,$(NEWEST))
	$(NEWEST)/$(BIN)/python $(PYTEST)
	$(NEWEST)/$(BIN)/python $(PYTEST) -m once tests

suite-newest: newest  ## The suite alone, with the newest release of everything
	$(NEWEST)/$(BIN)/python $(PYTEST)

newest:
	"$(PYTHON)" -m venv $(NEWEST)
	$(NEWEST)/$(BIN)/python $(PIP) --upgrade --upgrade-strategy eager pip --editable '.[test]'

test-lowest: $(LOWEST)/.installed  ## All tests with the lowest versions that pyproject.toml states
	$(LOWEST)/$(BIN)/python $(PYTEST)
	$(LOWEST)/$(BIN)/python $(PYTEST) -m once tests

test-random: environment  ## The suite in random order; SEED= repeats one
	$(TEST)/$(BIN)/python $(PYTEST) -p randomly $(if $(SEED),--randomly-seed=$(SEED))

test-torch: $(WITH_TORCH)/.installed  ## The tests that need PyTorch, in an environment of their own (it may take gigabytes)
	$(WITH_TORCH)/$(BIN)/python -m pytest tests/unit/test_fisher_torch.py

test-arrays: $(WITH_ARRAYS)/.installed  ## The tests of arrays of torch, JAX and array-api-strict, on the CPU, in an environment of their own; TORCH= names a build
	$(WITH_ARRAYS)/$(BIN)/python -m pytest tests/arrays

test-gpu:  ## The same on a GPU, with the packages that GPU_PYTHON has
	PYTHONPATH=src "$(GPU_PYTHON)" -m pytest -p no:cacheprovider --override-ini filterwarnings=default tests/arrays

bench-gpu:  ## Seconds and memory on a GPU beside the CPU path, with the packages that GPU_PYTHON has
	PYTHONPATH=src:. "$(GPU_PYTHON)" -m benchmarks.gpu --out $(OUT)/gpu

test-s3: $(WITH_S3)/.installed  ## The tests that need an S3 server, that of moto, in an environment of their own
	$(WITH_S3)/$(BIN)/python -m pytest tests/unit/test_sources_s3.py

level: environment  ## The whole calibration study of tests and integrals (minutes)
	$(TEST)/$(BIN)/python -m pytest -m level -s

fuzz: environment  ## A million damaged files for the loader, 100,000 for the readers (half an hour)
	cd tests && OMP_NUM_THREADS=1 ../$(TEST)/$(BIN)/python -m fuzz --loader 1000000 --readers 100000 --seed 1

coverage: environment  ## Lines and branches that the tests reach, those of compiled loops by their Python twins; page in OUT/coverage
	$(TEST)/$(BIN)/python $(PYTEST) --cov --cov-report=term-missing:skip-covered --cov-report=html:$(OUT)/coverage

demo: $(DEMO)/.installed  ## See it work
	$(DEMO)/$(BIN)/supersample demo --output $(OUT)/demo

dist: $(DEV)/.installed  ## Wheel and sdist in dist/, checked in an empty environment outside the repository
	$(DEV)/$(BIN)/python -c 'import shutil; shutil.rmtree("dist", ignore_errors=True)'
	$(DEV)/$(BIN)/python -m build --no-isolation
	$(DEV)/$(BIN)/python .ci/check_dist.py $(LOCK)

lock: $(DEV)/.installed  ## Renew constraints/ for every supported Python
	for version in $(SUPPORTED); do \
	    $(DEV)/$(BIN)/uv pip compile --quiet --upgrade --universal --python-version $$version --no-annotate \
	        --custom-compile-command 'make lock' --extra dev --extra test --extra docs pyproject.toml \
	        --output-file constraints/python-$$version.txt || exit 1; \
	done

bench: $(BENCH)/.installed  ## Speed and memory, as ratios measured in one run
	$(BENCH)/$(BIN)/python -m benchmarks.speed --data $(DATA) --out $(OUT)/speed

bench-peers: $(PEERS)/.installed $(OLDER)/.installed  ## Beside the field: BENCHMARKS.md and its pictures, all numbers measured again
	$(PEERS)/$(BIN)/python -m benchmarks.peers --data $(DATA) --out benchmarks/peers/results
	$(PEERS)/$(BIN)/python -m benchmarks.peers.document

bench-changes: $(PEERS)/.installed $(OLDER)/.installed  ## Alarms beside river, frouros and alibi-detect, and a year of rows: docs/project/benchmark-changes.md
	$(PEERS)/$(BIN)/python -m benchmarks.changes --data $(DATA) --out benchmarks/changes/results
	$(PEERS)/$(BIN)/python -m benchmarks.changes.year --out benchmarks/changes/results/year.json
	$(PEERS)/$(BIN)/python -m benchmarks.changes.page

bench-profiles: $(BENCH)/.installed $(PROFILERS)/.installed  ## A profile of ten million rows beside whylogs and ydata-profiling
	$(BENCH)/$(BIN)/python -m benchmarks.peers.profiles --peers $(PROFILERS)/$(BIN)/python

papers: $(BENCH)/.installed  ## The papers' figures and tables, as pictures and JSON; PAPER= names one: reservoir, criticisms, fastmmd, herding, geometric
	$(BENCH)/$(BIN)/python -m benchmarks.papers --data $(DATA) --out $(OUT)/papers $(if $(PAPER),--only $(PAPER))

soak: $(BENCH)/.installed  ## An hour of a stream without end: memory, sums, quality
	$(BENCH)/$(BIN)/python -m benchmarks.soak --rows 1e9 --minutes 60 --out $(OUT)/soak

soak-live: environment  ## 100,000 hostile requests to the service, and what it holds before and after; REQUESTS=
	cd tests/helpers && ../../$(TEST)/$(BIN)/python -m live_attack --requests $(or $(REQUESTS),100000)

soak-day: environment  ## A day of rows in 15 minutes, without and with a kill: alarms where they were planted; PACE= (100; 0 is as fast as possible)
	$(TEST)/$(BIN)/python -m benchmarks.live_day --pace $(or $(PACE),100) --out $(OUT)/live/day.json

fuzz-live: environment $(WITH_SCHEMATHESIS)/.installed  ## What schemathesis makes of the service's API description; it has an environment of its own; EXAMPLES=
	cd tests/helpers && ../../$(TEST)/$(BIN)/python -m live_fuzzed $(abspath $(WITH_SCHEMATHESIS))/$(BIN)/schemathesis --phases examples,coverage,fuzzing --max-examples $(or $(EXAMPLES),200)

bench-live: environment  ## The service under load, by HTTP with a page open, overloaded, and from Kafka: rows a second, the time of a POST, memory; MINUTES=
	$(TEST)/$(BIN)/python -m benchmarks.live --minutes $(or $(MINUTES),10) --out $(OUT)/live/http.json
	$(TEST)/$(BIN)/python -m benchmarks.live --minutes 1 --senders 2 --overload --out $(OUT)/live/overload.json
	$(TEST)/$(BIN)/python -m benchmarks.live_kafka --out $(OUT)/live/kafka.json

gallery: $(DOCS)/.installed  ## The notebooks of docs/gallery, run from first to last cell; with their outputs in OUT/gallery
	$(DOCS)/$(BIN)/python docs/notebooks.py $(OUT)/gallery

docs: gallery  ## The documentation site, in OUT/docs (every warning is an error)
	$(DOCS)/$(BIN)/sphinx-build --builder html --fresh-env --write-all --fail-on-warning --keep-going --nitpicky --quiet --define gallery_folder=$(abspath $(OUT))/gallery --doctree-dir $(OUT)/doctrees docs $(OUT)/docs
	@echo "open $(OUT)/docs/index.html"

pictures: $(DOCS)/.installed  ## The pictures of docs/concepts, drawn again
	$(DOCS)/$(BIN)/python docs/pictures.py

clean:  ## Remove environments and outputs
	rm -rf .venvs $(OUT) dist

# Locked environments; each has the name of the extra that it is made of, and `demo` is the package alone.
LOCKED := $(TEST) $(DOCS) $(DEV) $(DEMO)
$(addsuffix /.installed,$(LOCKED)): $(VENVS)/%/.installed: pyproject.toml $(LOCK)
	"$(PYTHON)" -m venv --clear $(VENVS)/$*
	$(VENVS)/$*/$(BIN)/python $(PIP) --constraint $(LOCK) pip setuptools
	$(VENVS)/$*/$(BIN)/python $(PIP) --constraint $(LOCK) --no-build-isolation --editable '.$(if $(filter-out demo,$*),[$*])'
	@touch $@

$(LOWEST)/.installed: pyproject.toml $(DEV)/.installed
	"$(PYTHON)" -m venv --clear $(LOWEST)
	$(DEV)/$(BIN)/uv pip install --quiet --resolution lowest-direct --python $(LOWEST)/$(BIN)/python --editable '.[test]'
	@touch $@

$(BENCH)/.installed $(PEERS)/.installed: $(VENVS)/%/.installed: pyproject.toml
	"$(PYTHON)" -m venv --clear $(VENVS)/$*
	$(VENVS)/$*/$(BIN)/python $(PIP) --editable '.[$*]'
	@touch $@

$(WITH_TORCH)/.installed: pyproject.toml
	"$(PYTHON)" -m venv --clear $(WITH_TORCH)
	$(WITH_TORCH)/$(BIN)/python $(PIP) --editable '.[test,torch]' '$(TORCH)'
	@touch $@

$(WITH_ARRAYS)/.installed: pyproject.toml
	"$(PYTHON)" -m venv --clear $(WITH_ARRAYS)
	$(WITH_ARRAYS)/$(BIN)/python $(PIP) --editable '.[test,arrays]' '$(TORCH)' array-api-strict jax
	@touch $@

$(WITH_S3)/.installed: pyproject.toml
	"$(PYTHON)" -m venv --clear $(WITH_S3)
	$(WITH_S3)/$(BIN)/python $(PIP) --editable '.[test]' 'moto[s3,server]>=5'
	@touch $@

$(WITH_SCHEMATHESIS)/.installed: pyproject.toml
	"$(PYTHON)" -m venv --clear $(WITH_SCHEMATHESIS)
	$(WITH_SCHEMATHESIS)/$(BIN)/python $(PIP) 'schemathesis>=4.32'
	@touch $@

$(PROFILERS)/.installed: benchmarks/peers/profilers.txt
	"$(PYTHON)" -m venv --clear $(PROFILERS)
	$(PROFILERS)/$(BIN)/python $(PIP) --requirement benchmarks/peers/profilers.txt
	@touch $@

# Where these peers do not install, the tables say so and the rest is measured all the same.
$(OLDER)/.installed: benchmarks/peers/older.txt
	"$(PYTHON)" -m venv --clear $(OLDER)
	-$(OLDER)/$(BIN)/python $(PIP) --requirement benchmarks/peers/older.txt '$(TORCH)'
	@touch $@
