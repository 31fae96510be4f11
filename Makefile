# Everything runs in .venv, which the first call makes; Python 3.11+ and make are all it takes.
# One torch version is fixed in constraints.txt. On Linux the default package index may serve it as a
# CUDA build of several GB; to take a CPU build instead, point pip at PyTorch's CPU index first
# (environment variable PIP_EXTRA_INDEX_URL, address on PyTorch's install page).

PYTHON ?= python3
CONFIG ?= configs/crapo_quick.toml
PYTEST_ARGS ?= -n auto
BENCH_ARGS ?=

# All paths are relative, so the folder may have spaces in its name.
VENV := .venv
RUN := $(VENV)/bin/python -m
REQUIREMENTS := pyproject.toml constraints.txt

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.NOTPARALLEL: # with -j too, never two pips at once in one environment
.PHONY: help train test test-adapters lint bench clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-13s %s\n", $$1, $$2 }' Makefile

train: $(VENV)/.installed-train ## train and evaluate a policy (CONFIG=configs/crapo_quick.toml)
	$(RUN) training.train "$(CONFIG)"

test: $(VENV)/.installed-dev ## run the tests (PYTEST_ARGS="-x -m 'not slow'")
	$(RUN) pytest $(PYTEST_ARGS)

test-adapters: $(VENV)-rllib/.installed $(VENV)-agilerl/.installed ## test RLlib and AgileRL, each in its own environment
	$(VENV)-rllib/bin/python -m pytest -p no:xdist tests/test_rllib.py tests/test_adapters.py -k "rllib or RLlib"
	$(VENV)-agilerl/bin/python -m pytest -p no:xdist tests/test_agilerl.py tests/test_adapters.py -k "agilerl or Gymnasium"

lint: $(VENV)/.installed-dev ## check style, format and types
	$(RUN) ruff check
	$(RUN) ruff format --check
	$(RUN) mypy crapo_env training

bench: $(VENV)/.installed-bench ## measure the speed beside that of other libraries
	$(RUN) crapo_env.bench --json runs/bench/bench.json --picture runs/bench/bench.png $(BENCH_ARGS)

clean: ## remove the environments, caches and builds; runs/ stays
	rm -rf $(VENV) $(VENV)-rllib $(VENV)-agilerl build dist *.egg-info .pytest_cache .hypothesis .mypy_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(VENV)/.created:
	@"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Python 3.11 or newer is needed: make PYTHON=python3.12 ..." >&2; exit 1; }
	"$(PYTHON)" -m venv $(VENV)
	@touch $@

# The stamp carries the time at which the installation began, so that an edit made meanwhile counts,
# and gets its name only when pip has succeeded.
define install
	@touch $@.begun
	$(RUN) pip install --editable ".[$(1)]" --constraint constraints.txt
	@mv $@.begun $@
endef

$(VENV)/.installed-train: $(REQUIREMENTS) | $(VENV)/.created
	$(call install,train)

$(VENV)/.installed-bench: $(REQUIREMENTS) | $(VENV)/.created
	$(call install,bench)

$(VENV)/.installed-dev: $(REQUIREMENTS) | $(VENV)/.created
	$(call install,dev)
	@cp -p $@ $(VENV)/.installed-train # dev includes train

# Frameworks that contradict constraints.txt get environments of their own, with all of its lines but
# those for which they want other versions.
RLLIB_WANTS := gymnasium
AGILERL_WANTS := filelock|pandas|pettingzoo|tensordict|virtualenv

define install_apart
	$(VENV)/bin/python -m venv $(VENV)-$(1)
	@touch $@.begun
	grep -vE '^($(2))==' constraints.txt > $(VENV)-$(1)/constraints.txt
	$(VENV)-$(1)/bin/python -m pip install --editable ".[adapters-$(1),test]" \
		--constraint $(VENV)-$(1)/constraints.txt
	@mv $@.begun $@
endef

$(VENV)-rllib/.installed: $(REQUIREMENTS) | $(VENV)/.created
	$(call install_apart,rllib,$(RLLIB_WANTS))

$(VENV)-agilerl/.installed: $(REQUIREMENTS) | $(VENV)/.created
	$(call install_apart,agilerl,$(AGILERL_WANTS))
