# Everything that is done to this clone. `make` alone lists it.
.DEFAULT_GOAL := help
.PHONY: help up down test test-long test-firefox check bench bench-security bench-ui bench-memory ui ui-types pictures wheel release release-check promises lock docs clean

BIN := .venv/bin
# Where it is set, each process of a test would compile all that it imports.
export PYTHONDONTWRITEBYTECODE :=
# Of what the tests do half is waiting: two cores are busy with three.
WORKERS ?= 3
SECOND_TRIES ?= 1
COMPILE := .uv/bin/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
	--no-header --no-annotate --no-emit-index-url

help: ## list what can be made
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-15s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

up: ## set up what is missing, start Stead in the background, print its link and the next command
	@scripts/setup.sh run
	@$(BIN)/stead up

down: ## stop Stead in good order
	@$(BIN)/stead down

test: .setup/test ## set up what is missing and run the tests; SECOND_TRIES=0 gives none to what fails
	@scripts/in_memory.sh $(BIN)/pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder -m "not long" \
		--reruns $(SECOND_TRIES) --max-suite-reruns 5 --rerun-show-tracebacks $(ARGS)

test-long: .setup/test ## the tests that take minutes, and 400 examples of each property
	@$(BIN)/pytest -n $(WORKERS) --dist load -m long --ignore tests/flows/test_clean_debian.py $(ARGS)
	@$(BIN)/pytest -n $(WORKERS) --dist loadfile -m "hypothesis and not long" --hypothesis-profile many $(ARGS)

test-firefox: .setup/test ui ## the page's main flows in Debian's Firefox, which it installs
	@scripts/get_firefox.sh
	@$(BIN)/pytest tests/browser/test_firefox.py $(ARGS)

check: ## set up what is missing; format, lint, types, import contracts, dead code, of the page too; no tests
	@scripts/setup.sh packages
	@$(MAKE) --no-print-directory --jobs 2 .check/types .check/page .check/code

bench: .setup/test ## measure the bars: all, or BARS=P4,P6
	@$(BIN)/python -m bench $(BARS)

bench-security: .setup/test ## measure what the guard is held to: S1 to S14; STEAD_BENCH_AGENTDYN names a copy of AgentDyn
	@$(BIN)/python -m bench --conditions S1,S2,S3,S3.DYN,S3.MCP,S3.CHATS,S6,S7,S8,S9,S10,S11,S12,S13,S14

bench-ui: .setup/test ui ## measure the page: U1 to U8 and R5
	@$(BIN)/python -m bench U1,U2,U3,U4,U5,U6,U7,U8,R5

bench-memory: .setup/test ## measure what is remembered and found again: M1 to M7; STEAD_BENCH_DATA names the data
	@$(BIN)/python -m bench M1,M2,M3,M4,M5,M6,M7

ui: ## build the page
	@scripts/setup.sh page

ui-types: .setup/test ## write the page's types from the daemon's OpenAPI document
	@scripts/with_node.sh $(BIN)/python scripts/gen_types.py

pictures: .setup/test ## take pictures of every page in four looks, into build/pictures; ONLY="home usage", DOCS=1: the docs' too
	@STEAD_PICTURES=build/pictures STEAD_DOCS_PICTURES=$(DOCS) STEAD_SCENES="$(ONLY)" \
		$(BIN)/pytest -n $(WORKERS) --dist load tests/browser/test_gallery.py -k can_be_taken
	@ls build/pictures | wc -l | xargs echo "pictures in build/pictures:"

promises: .setup/test ## what is promised: done and open
	@$(BIN)/python -m tests.promises

docs: .setup/test ## write docs/generated from the code
	@$(BIN)/python scripts/gen_docs.py

wheel: .setup/test ui ## build the wheel into dist, with the page in it
	@.uv/bin/uv build --quiet --wheel --require-hashes --build-constraints requirements-build.lock --out-dir dist
	@ls dist/*.whl

release: .setup/test ui ## make a release in dist/release: archive, Debian package, wheel, bill of materials, sums; SIGN_KEY: an SSH key
	@$(BIN)/python scripts/release.py $(if $(SIGN_KEY),--sign-key "$(SIGN_KEY)")

release-check: release ## that, and try it: lintian, and both packages on a clean Debian that boots; takes root
	@{ command -v lintian && command -v mmdebstrap; } >/dev/null || apt-get install --yes --quiet lintian mmdebstrap
	@STEAD_RELEASE=dist/release $(BIN)/pytest -m long tests/flows/test_releases.py tests/flows/test_clean_debian.py $(ARGS)

lock: .setup/test ## resolve the pins of pyproject.toml, with hashes and without addresses
	@$(COMPILE) pyproject.toml --output-file requirements.lock >/dev/null
	@$(COMPILE) pyproject.toml --group dev --constraints requirements.lock --output-file requirements-dev.lock >/dev/null
	@$(COMPILE) --group pyproject.toml:release --constraints requirements.lock --output-file requirements-release.lock >/dev/null
	@for group in uv build page bwrap injection mem0 code-bases second homeserver; do \
		$(COMPILE) --group pyproject.toml:$$group --output-file requirements-$$group.lock >/dev/null || exit 1; done
	@$(COMPILE) --no-deps --group pyproject.toml:embed --output-file requirements-embed.lock >/dev/null
	@git --no-pager diff --stat -- 'requirements*.lock'

clean: ## remove what was set up and built; no home of Stead is touched
	rm -rf .venv .uv .setup dist build bench/out tests/fakes/node/node_modules
	rm -rf frontend/node_modules frontend/codegen/node_modules src/stead/web/static
	rm -rf .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

.PHONY: .setup/test
.setup/test:
	@scripts/setup.sh test

# Types take longer than all others together, and as long as the rest of the setup, which goes on meanwhile.
.PHONY: .check/code .check/types .check/page
.check/code:
	@$(BIN)/ruff format --check --quiet .
	@$(BIN)/ruff check --quiet .
	@$(BIN)/lint-imports --no-logo
	@$(BIN)/python scripts/dead_code.py

.check/types:
	@$(BIN)/mypy

.check/page: .setup/test
	@scripts/with_node.sh npm --prefix frontend run --silent check
