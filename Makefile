# Everything that is done with this checkout. `make` alone explains itself.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready
# A part of lockstep says which branches of what decides on calls it goes through; the rest runs beside it.
MEASURED := (specification_and_runtime_agree and asyncio) or hardly_ever

JAVASCRIPT := src/gnomon_check/adapters/javascript

.DEFAULT_GOAL := help
.PHONY: help demo test conform lint types imports check explore lockstep lockstep-long mutants fuzz-cancel generated bench clean

help:
	@echo "gnomon: the tool-call runtime of an agent, specified, built and checked"
	@echo
	@echo "  make demo      the built-in runtime against the specification, then five sample logs judged"
	@echo "  make test      the whole test suite (deterministic)"
	@echo "  make conform   runtimes held to the specification: ours, in process and over stdio, one in JavaScript, DSH"
	@echo "  make lint      ruff"
	@echo "  make types     mypy, strict, on all three packages"
	@echo "  make imports   the import rules (import-linter)"
	@echo "  make check     lint, types and imports"
	@echo "  make explore   every reachable state of a batch of three calls"
	@echo "  make lockstep  specification and runtime agree: along every edge, in any order, in drawn scenarios"
	@echo "  make lockstep-long  the same within larger bounds, and drawn more often (about half an hour)"
	@echo "  make mutants   small wrong edits of the specification and of the runtime, each caught by name"
	@echo "  make fuzz-cancel  drawn batches, cancelled on every early step of the loop; Ctrl-C in real processes"
	@echo "  make generated write the generated files: schemas, vectors, pages"
	@echo "  make bench     how fast the runtime is, as ratios (about one minute)"
	@echo "  make clean     remove the virtual environment and all caches"
	@echo
	@echo "Each makes what it needs in .venv first. Examples:"
	@echo "  make test ARGS='tests/spec -k model_order'"
	@echo "  make demo PYTHON=python3.12"
	@echo "  .venv/bin/gnomon verify docs/samples/anthropic-good.json"

$(READY): pyproject.toml constraints.txt
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "installing gnomon and its development tools into $(VENV)"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@touch $@

demo: $(READY)
	@$(BIN)/gnomon demo

test: $(READY)
	@$(BIN)/python -m pytest -n auto --dist loadfile $(ARGS)

# Without Node only what is written in Python is run, and that is said.
conform: $(READY)
	$(BIN)/gnomon conform builtin --report build/conform/builtin
	$(BIN)/gnomon conform "exec:$(BIN)/gnomon serve --backend asyncio" --report build/conform/asyncio
	$(BIN)/gnomon conform "exec:$(BIN)/gnomon serve --backend trio" --report build/conform/trio
ifeq ($(shell command -v node),)
	@echo "node is not there: the runtime in JavaScript and DSH are not run"
else
	$(BIN)/gnomon conform "exec:node $(JAVASCRIPT)/adapter.mjs" --baseline $(JAVASCRIPT)/baseline.toml --report build/conform/javascript
	$(BIN)/gnomon conform dsh --report build/conform/dsh
endif

lint: $(READY)
	@$(BIN)/ruff check . && $(BIN)/ruff format --check .

types: $(READY)
	@$(BIN)/mypy

imports: $(READY)
	@$(BIN)/lint-imports --no-cache

check: lint types imports

explore: $(READY)
	@$(BIN)/gnomon explore --calls 3 --parallel 2 --abort --failure

lockstep: $(READY)
	@$(BIN)/python -m coverage run -m pytest tests/lockstep -k "$(MEASURED)" $(ARGS) & measured=$$!; \
	$(BIN)/python -m pytest tests/lockstep -k "not ($(MEASURED))" $(ARGS); rest=$$?; \
	wait $$measured && exit $$rest
	@cat build/witnesses.txt
	@$(BIN)/python -m coverage report

lockstep-long: $(READY)
	@$(BIN)/gnomon cover builtin --calls 3 --parallel 2 --reclassify
	@$(BIN)/gnomon cover builtin --calls 3 --parallel 3
	@$(BIN)/gnomon cover builtin --calls 4 --parallel 2
	@GNOMON_HYPOTHESIS=campaign $(BIN)/python -m pytest tests/lockstep $(ARGS)

mutants: $(READY)
	@$(BIN)/python tests/mutants/mutants.py specification
	@$(BIN)/python tests/mutants/mutants.py runtime $(ARGS)

fuzz-cancel: $(READY)
	@$(BIN)/python -W error tests/runtime/cancel_fuzz.py $(ARGS)
	@GNOMON_STRIKES=25 $(BIN)/python -m pytest tests/runtime/test_interrupt.py $(ARGS)

generated: $(READY)
	@$(BIN)/python -m gnomon_check.generated

bench: $(READY)
	@$(BIN)/python -m benchmarks $(ARGS)

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .import_linter_cache .hypothesis dist build
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
