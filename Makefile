# Two commands matter: `make demo` and `make test`. Each installs what it needs into .venv by itself.
SHELL := /bin/bash
.DEFAULT_GOAL := help
VENV := .venv
PY := $(VENV)/bin/python
STAMP := $(VENV)/.installed
NATIVE := $(VENV)/.native
RUST := $(shell find crates cases -name '*.rs' -o -name 'Cargo.toml' 2>/dev/null) Cargo.toml Cargo.lock

.PHONY: help setup build check sanitize test test-alone docs live bench bench-solve bench-simulate bench-coverage bench-agreement bench-kv bench-messages bench-services bench-plan bench-speed fuzz demo wheels clean

help: ## this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*##/\t/' | expand -t 16

setup: $(STAMP) ## system packages (as root on Debian) and the Python environment, pinned

# pip takes two minutes for the lock, uv some seconds. uv reads no pip.conf: where that names the only index, pip goes on.
PIP := $(VENV)/bin/pip install --quiet --disable-pip-version-check
UV := $(VENV)/bin/uv pip install --quiet --python $(PY) --require-hashes

$(STAMP): requirements.lock requirements-setup.lock tools/system-packages
	bash tools/system-packages
	python3 -m venv $(VENV)
	$(PIP) -r requirements-setup.lock
	$(UV) -r requirements.lock || $(PIP) -r requirements.lock
	@touch $@

build: $(NATIVE) $(VENV)/.imported ## sojourn and its cases with their native modules, into .venv

$(NATIVE): $(STAMP) $(RUST) pyproject.toml cases/pyproject.toml
	for part in . cases; do (cd $$part && VIRTUAL_ENV=$(CURDIR)/$(VENV) PATH="$(CURDIR)/$(VENV)/bin:$$PATH" \
		$(CURDIR)/$(VENV)/bin/maturin develop --release --locked --quiet --uv) || exit 1; done
	@touch $@

$(VENV)/.imported: $(STAMP) | $(NATIVE)
	PYTHONDONTWRITEBYTECODE= $(PY) tools/import_all.py
	@touch $@

# Two at a time: mypy has one thread, and so has the end of each crate.
check: build ## linters: rustfmt, clippy, ruff, mypy, layout rules
	@$(MAKE) --no-print-directory --jobs 2 --output-sync=target check-rust check-python

.PHONY: check-rust check-python
check-rust: build
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --locked --quiet -- -D warnings

check-python: build
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy
	$(PY) tools/tidy.py
	$(PY) tools/package_arrows.py
	$(PY) tools/module_circles.py

sanitize: ## tests of the Rust crates with `unsafe` under AddressSanitizer, or valgrind (minutes)
	bash tools/sanitize

# Matrices and tables of the tests are small: threads that wait for a share of one cost a quarter of the CPU time of a fit.
test test-alone: export OPENBLAS_NUM_THREADS := 1
test test-alone: export POLARS_MAX_THREADS := 1
# Where containers switch it off, each of some hundred commands that the tests start compiles all that it imports.
test test-alone: export PYTHONDONTWRITEBYTECODE :=
# A failure is tried once more, by itself: a neighbour of the machine can disturb a live test, but not twice the same one.
AGAIN := $(PY) -m pytest --last-failed --last-failed-no-failures none --maxfail 1
# They speak to Python and have no tests in Rust (tools/tidy.py): pyo3 is compiled once less.
OF_PYTHON := sojourn-py sojourn-cases-py sojourn-worker
# More workers than cores: a third of the time of the tests is waiting, for a service or a limit of time.
test: build ## all tests that others may run beside (14 to 43 minutes on 2 cores, by their speed)
	cargo test --workspace --tests --locked --quiet $(OF_PYTHON:%=--exclude %)
	$(PY) -m pytest -m "not alone" -n 5 --dist worksteal || $(AGAIN) -m "not alone"

test-alone: build ## the tests that measure: nothing else may run (nine minutes)
	$(PY) -m pytest -m alone tests/live || $(AGAIN) -m alone tests/live

live: build ## only the tests that put load on a service here (bounded)
	$(PY) -m pytest -m live

bench: build ## benchmarks on a quiet machine; results go to benches/
	bash tools/system-packages wrk
	$(PY) benches/run.py

bench-solve: build ## solver kernels and calls against a bare C loop and octave's queueing
	bash tools/system-packages octave-cli
	$(PY) benches/solve/run.py

bench-simulate: build ## the engine against a bare event loop, SimPy, Ciw and salabim
	$(PY) benches/simulate/run.py

bench-coverage: build ## how often the simulator's intervals hold the truth, over 400 seeds
	$(PY) benches/coverage/run.py

bench-agreement: build ## 10 000 random models, each judged by other methods, the simulator and laws
	$(PY) benches/agreement/run.py

bench-kv: build ## the memcached middleware beside nutcracker, and the load on memcached
	bash tools/system-packages nutcracker
	$(PY) benches/kv/run.py

bench-messages: build ## the message service beside pgbench with the same statements
	$(PY) benches/messages/run.py

bench-services: build ## small services whose limit is known: predicted, then measured (15 minutes)
	$(PY) benches/services/run.py --out benches/services/$$(date +%F)

bench-plan: build ## plans: 10 000 configurations, and 200 fits of a known service (half an hour)
	$(PY) benches/plan/run.py

bench-speed: build ## what was wanted of speed and memory, beside peers and bare programs (five minutes)
	bash tools/system-packages wrk octave-cli
	$(PY) benches/speed/run.py

fuzz: build $(VENV)/.fuzz ## an hour of fuzzing: all readers of foreign files, texts and protocols, from a corpus that grows
	$(PY) fuzz/run.py --minutes 60

$(VENV)/.fuzz: requirements-fuzz.lock $(STAMP)
	$(PIP) --no-deps -r requirements-fuzz.lock
	@touch $@

demo: build ## the web study (three minutes): its result in five lines, and the path of one HTML report
	$(VENV)/bin/sojourn study studies/web --quick

docs: build $(VENV)/.docs ## the docs as a site in site/: generated pages, strict, no broken link
	$(PY) tools/methods_table.py
	$(PY) tools/reference
	NO_MKDOCS_2_WARNING=1 $(PY) -m mkdocs build --quiet
	@echo site/index.html

$(VENV)/.docs: requirements-docs.lock $(STAMP)
	$(PIP) -r requirements-docs.lock
	@touch $@

# The linker of zig makes them run on any Linux with glibc 2.17 or newer, and crosses to aarch64. Needs rustup's target for that.
wheels: build ## wheels of both packages for x86_64 and aarch64 into dist/, and a source distribution
	$(PIP) "ziglang>=0.15,<0.18" "cargo-zigbuild>=0.20,<1"
	rustup target add x86_64-unknown-linux-gnu aarch64-unknown-linux-gnu
	for part in . cases; do for cpu in x86_64 aarch64; do (cd $$part && PATH="$(CURDIR)/$(VENV)/bin:$$PATH" \
		$(CURDIR)/$(VENV)/bin/maturin build --release --locked --zig --target $$cpu-unknown-linux-gnu --out $(CURDIR)/dist) || exit 1; done; done
	$(VENV)/bin/maturin sdist --out dist

clean: ## remove what was built
	rm -rf target site $(VENV)
