# `make help` lists the targets. Everything is installed into .venv, once.

PYTHON ?= python3
WORKERS ?= 2

# Which combinations of parameters the tests try besides each pair (tests/products.py): others for each commit.
export TEST_SLICE ?= $(shell git rev-parse --short HEAD 2>/dev/null)

BIN := .venv/bin
READY := .venv/.installed
DEV := .venv/.installed-dev
WEB := src/slopewash/studio/web
SOURCES := $(shell find $(WEB) -type f -not -path '*/node_modules/*' 2>/dev/null)
# The Node that pip installs comes first; without it, the machine's own will do.
NPM := PATH="$(CURDIR)/$(BIN):$$PATH" npm --prefix $(WEB)
PIP := PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_ROOT_USER_ACTION=ignore

QUICK := -m 'not slow and not gpu' --ignore tests/browser --ignore tests/validation --ignore tests/examples --ignore tests/benchmarks

comma := ,
define install
if $(BIN)/python -m pip --version >/dev/null 2>&1; then \
  $(PIP) $(BIN)/python -m pip install --quiet --editable '.[$(1)]'; \
  else $(PIP) $(PYTHON) -m pip --python $(BIN)/python install --quiet --editable '.[$(1)]'; fi \
  || { echo "installation failed; if the reason is venv or ensurepip: sudo apt-get install python3-venv" >&2; exit 1; }
endef

.PHONY: help demo studio test test-all test-quick fuzz extremes signals studio-load soak boundscheck licences docs links screenshots wheel-check lowest audit check bench clean testers

help:
	@echo "make demo        erode a mountain range; pictures in out/demo"
	@echo "make studio      watch it erode in your browser"
	@echo "make test        run all tests"
	@echo "make test-all    the same with every combination of parameters, of which make test tries each pair and a few more"
	@echo "make test-quick  run the fast tests, for use while editing"
	@echo "make fuzz        read 1000 damaged files of every format, stores and checkpoints"
	@echo "make extremes    try every parameter at its extremes, and 100 random sets, on every model and backend"
	@echo "make signals     interrupt 50 runs at random moments"
	@echo "make studio-load time a second page of the studio while others flood it"
	@echo "make boundscheck run the tests of models with every index of the kernels checked"
	@echo "make licences    list the dependencies with version and licence"
	@echo "make soak        take 200 000 steps of every model"
	@echo "make docs        build the documentation site; it begins at out/docs/index.html"
	@echo "make links       ask every link to another site whether it still leads somewhere; needs the internet"
	@echo "make screenshots photograph every page of the site at desktop and phone width, in out/screenshots"
	@echo "make wheel-check build the wheel and try it in an empty environment, alone and with each extra"
	@echo "make lowest      the same with the lowest versions of what slopewash needs"
	@echo "make audit       ask for known vulnerabilities of what slopewash needs, in Python and in the page"
	@echo "make check       run linters, type checkers and formatters of Python and of the page, and import checks"
	@echo "make bench       time one iteration, compared with the papers"
	@echo "make clean       remove .venv, caches and out/"

demo: $(READY)
	@$(BIN)/slopewash demo

studio: $(READY)
	@$(BIN)/slopewash studio

test: $(DEV) testers
	@$(BIN)/python -m pytest -n $(WORKERS)

test-all: export TEST_SLICE = all
test-all: test

# For use while editing: about 140 s of CPU time once kernels are compiled.
test-quick: $(DEV)
	@$(BIN)/python -m pytest -n $(WORKERS) $(QUICK)

# The test suite reads 60 of each, and damages a few stores, checkpoints and files of the studio. If atheris is installed
# in .venv too, it then tries each format for a minute.
fuzz: $(DEV)
	@FUZZ_STORES=1000 $(BIN)/python -m pytest -s tests/tiles/test_damage.py tests/tiles/test_at_once.py
	@FUZZ_CHECKPOINTS=1000 $(BIN)/python -m pytest -s tests/simulation/test_damaged_checkpoints.py \
	  tests/simulation/test_killed_writing.py tests/studio/test_damaged_files.py
	@FUZZ_FILES=1000 $(BIN)/python -m pytest tests/io/test_mutations.py
	@PLACEMENTS_STEP=1 $(BIN)/python -m pytest tests/recipes/test_placement.py
	@$(BIN)/python tests/io/guided.py 60

# The test suite tries 30 sets on the reference, and fewer on the other backends.
extremes: $(DEV)
	@RANDOM_SETS=100 $(BIN)/python -m pytest -n $(WORKERS) tests/simulation/test_bounded_work.py -k 'extremes or random'

# The test suite interrupts 6, of 64 x 64 cells.
signals: $(DEV)
	@$(BIN)/python benchmarks/signals.py --moments 50

# The test suite does the same once, and does not mind how long it takes.
studio-load: $(DEV)
	@$(BIN)/python benchmarks/studio_load.py

# Kernels are compiled for it separately, without the cache of the usual ones. Loops with checks are not packed, so the
# tests of that are left out.
boundscheck: $(DEV)
	@NUMBA_BOUNDSCHECK=1 NUMBA_CACHE_DIR=.numba/boundscheck $(BIN)/python -m pytest -n $(WORKERS) tests/models \
	  tests/simulation/test_degenerate.py tests/simulation/test_bounded_work.py -m 'not gpu' \
	  --ignore tests/models/virtual_pipes/test_vectorised.py

licences: $(DEV)
	@$(BIN)/python benchmarks/licences.py

# The test suite takes 20 000.
soak: $(DEV)
	@SOAK_STEPS=200000 $(BIN)/python -m pytest -n $(WORKERS) tests/simulation/test_soak.py

# The gpu backend is tested on Mesa's software Vulkan and the studio in Chromium. They are installed if permissions allow;
# otherwise their tests are skipped with the reason.
testers:
	@missing=; ls /usr/share/vulkan/icd.d/*.json >/dev/null 2>&1 || missing=mesa-vulkan-drivers; \
	command -v chromium >/dev/null || missing="$$missing chromium"; \
	if [ -n "$$missing" ] && command -v apt-get >/dev/null && [ "$$(id -u)" = 0 ]; then \
	  echo "installing for the tests: $$missing" >&2; \
	  { apt-get update -qq && DEBIAN_FRONTEND=noninteractive \
	    apt-get install -y -qq --no-install-recommends $$missing </dev/null; } >/dev/null \
	  || echo "they could not be installed; the tests that need them are skipped" >&2; fi

check: $(DEV) $(WEB)/node_modules/.package-lock.json
	@$(BIN)/ruff check
	@$(BIN)/ruff format --check
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-cache
	@$(NPM) run --silent check

# Warnings are errors: a link that leads nowhere, a page that nothing lists, a docstring that cannot be read.
docs: $(DEV)
	@$(BIN)/python -m sphinx --fail-on-warning --keep-going --quiet -b html docs out/docs
	@echo "out/docs/index.html"

links: $(DEV)
	@$(BIN)/python -m sphinx --keep-going --quiet -b linkcheck docs out/links

screenshots: docs testers
	@$(BIN)/python tests/docs/take_screenshots.py out/docs out/screenshots

wheel-check: $(DEV)
	@$(BIN)/python tests/wheels/check.py

lowest: $(DEV)
	@$(BIN)/python tests/wheels/check.py --lowest

# Both ask registries; what cannot be asked is stated.
audit: $(DEV)
	@$(BIN)/python tests/wheels/audit.py $(WEB)

# npm writes this file whenever it installs.
$(WEB)/node_modules/.package-lock.json: $(WEB)/package.json $(WEB)/package-lock.json | $(DEV)
	@$(NPM) ci --ignore-scripts --loglevel=error

bench: $(READY)
	@$(BIN)/slopewash bench

clean:
	rm -rf src/slopewash/studio/page $(WEB)/node_modules
	rm -rf .venv out build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .benchmarks
	find src tests benchmarks examples -name __pycache__ -prune -exec rm -rf {} +

# Debian ships Python without ensurepip unless python3-venv is installed; its pip can fill a bare environment instead.
$(READY): pyproject.toml hatch_build.py $(SOURCES)
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "slopewash needs Python 3.11 or later: make PYTHON=/path/to/python3.11" >&2; exit 1; }
	@echo "installing slopewash into .venv (once; takes a minute or two)" >&2
	@if [ ! -x $(BIN)/python ] || ! $(BIN)/python -c '' 2>/dev/null; then \
	  if $(PYTHON) -c 'import ensurepip' 2>/dev/null; then $(PYTHON) -m venv .venv; \
	  elif $(PYTHON) -m pip --version >/dev/null 2>&1; then $(PYTHON) -m venv --without-pip .venv; \
	  else echo "python3 cannot create a virtual environment: sudo apt-get install python3-venv" >&2; exit 1; fi; fi
	@$(call install,gpu$(comma)studio$(comma)video)
	@touch $@

# What tests and checks need on top, among it the readers of other formats that results are compared with.
$(DEV): $(READY)
	@echo "installing what the tests need into .venv (once; takes a minute)" >&2
	@$(call install,dev)
	@touch $@
