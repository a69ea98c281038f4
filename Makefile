# SPDX-License-Identifier: Apache-2.0
# Makefile: the names of the targets. CMake does the work; `make help` lists them.
.DEFAULT_GOAL := help
PRESET ?= dev
JOBS ?= $(shell nproc)
RELEASE := build/release
PROGRAMS := herd-webhook herd-controller herd-lab herd-devca
# What it starts ends with make, also when make is killed.
WITH_MAKE := setpriv --pdeathsig TERM
# One build of a clone at a time.
IN_TURN := mkdir -p build; flock -n build/lock true || echo 'another make builds here: waiting for it'; flock build/lock

# Of tests that could not run here: why.
SAY_SKIPPED = @grep -ohE '[a-z._-]+: skipped: .*' build/$(PRESET)/Testing/Temporary/LastTest.log | sort -u || true

.PHONY: help deps build run demo test test-changed test-all test-cluster test-night test-mutants test-bare test-e2e lint tidy bench fuzz sim crds clean \
	install-crds uninstall-crds deploy undeploy image audit-libraries docker-build docker-push

help: ## List the targets
	@grep -hE '^[a-z0-9-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z0-9-]+):.*## /  make \1\t/' | expand -t 22

deps: ## Install what building, running and testing need (Debian packages, by name)
	@sh cmake/deps.sh build

build: deps ## Build the programs, optimised and hardened: build/release/bin
	@$(IN_TURN) cmake --preset release -Wno-dev > build/configure.log 2>&1 || { cat build/configure.log; exit 1; }
	@$(IN_TURN) cmake --build --preset release -j $(JOBS) --target $(PROGRAMS)

run: build ## Lab, webhook, controller and the RAG example on this machine; CONTEXT=name uses your cluster
	@$(WITH_MAKE) bash lab/run.sh run

demo: export CONTEXT :=
demo: build ## A demonstration that ends by itself: the example, rejections and a teardown; or STORY=health, security, observability, workloads
	@$(WITH_MAKE) bash lab/run.sh demo

# Suites wait more than they work, so twice as many run as there are processors.
TEST_JOBS ?= $(shell expr 2 '*' $(JOBS))
test: ## Units, goldens, properties, a simulation, and the programs on the lab; needs no Go (PRESET=tsan, coverage)
	@sh cmake/deps.sh test
	@$(IN_TURN) cmake --preset $(PRESET) -Wno-dev
	@$(IN_TURN) cmake --build --preset $(PRESET) -j $(JOBS)
	@ctest --preset $(PRESET) -j $(TEST_JOBS) -LE '^(all|long)$$' --no-tests=error
	$(SAY_SKIPPED)

test-changed: ## The tests of the folders that differ from main, or of FILES="..."
	@sh cmake/deps.sh test
	@bash tests/changed.sh $(FILES)

test-all: test ## And all other suites: a real control plane, install, image, mutants, ThreadSanitizer, fuzzing, e2e
	@$(WITH_MAKE) bash tests/all.sh

test-cluster: ## The suites on a real Kubernetes API server, built from Go modules (REQUIRE_CLUSTER=1: never skipped)
	@sh cmake/deps.sh test
	@$(IN_TURN) cmake --preset $(PRESET) -Wno-dev
	@$(IN_TURN) cmake --build --preset $(PRESET) -j $(JOBS) --target $(PROGRAMS) herd-streams
	@ctest --preset $(PRESET) -L cluster --no-tests=error
	$(SAY_SKIPPED)

test-mutants: ## Apply each patch of tests/mutants to a copy: its test must find the bug (MUTANTS="two-lengths": some; fast: most)
	@sh cmake/deps.sh test
	@$(WITH_MAKE) bash tests/mutants/run.sh build/dev/mutants $(MUTANTS)

# Of release programs, at the rates of production.
NIGHT := build/bench/bin
test-night: export HERD_SECONDS ?= 600
test-night: export HERD_REVIEWS ?= 500
test-night: export HERD_P99_MS ?= 200
test-night: export HERD_LONG ?= 1
test-night: ## Restarts, rotation, idle connections, hostile clients, a stopped API server, for HERD_SECONDS=600 with the laws of make test
	@sh cmake/deps.sh test
	@$(IN_TURN) cmake --preset bench -Wno-dev
	@$(IN_TURN) cmake --build --preset bench -j $(JOBS) --target $(PROGRAMS) bench-programs
	@$(WITH_MAKE) bash tests/integration/suite_endurance.sh $(NIGHT) build/night/endurance
	@$(WITH_MAKE) bash tests/integration/suite_hostile.sh $(NIGHT) build/night/hostile
	@HERD_CASES=$${HERD_CASES:-100000} $(WITH_MAKE) bash tests/integration/suite_sandbox.sh $(NIGHT) build/night/sandbox
	@$(WITH_MAKE) bash tests/cluster/suite_outage.sh $(NIGHT) build/night/outage
	@$(WITH_MAKE) bash tests/cluster/suite_restart.sh $(NIGHT) build/night/restart

test-bare: ## The README's two commands in a bare Debian 12 root (needs root)
	@bash tests/bare/run.sh

test-e2e: ## The image in containers under a real kubelet, from manifests/ (needs root; REQUIRE_E2E=1: never skipped)
	@bash tests/e2e/run.sh

lint: ## Layers, one library header in one file, the shape of lines, mutants that apply, shellcheck
	@sh cmake/deps.sh test
	@sh tests/lint/layers.sh
	@bash tests/lint/mutants.sh
	@sh tests/lint/formatting.sh
	@sh tests/lint/scripts.sh

tidy: ## clang-tidy of what differs from main, or of FILES="..." (all files: a quarter of an hour)
	@cmake --preset dev -Wno-dev > /dev/null
	@sh tests/lint/tidy.sh $(FILES)

bench: ## Print the figures of tests/bench/README.md, beside those of a webhook and a controller in Go (PARTS="webhook linear": some)
	@sh cmake/deps.sh test
	@cmake --preset bench -Wno-dev
	@cmake --build --preset bench -j $(JOBS) --target $(PROGRAMS) bench-programs
	@$(WITH_MAKE) bash tests/bench/run.sh $(PARTS)

SECONDS ?= 60
fuzz: ## Fuzz every decoder of outside bytes for SECONDS=60 each
	@sh cmake/deps.sh fuzz
	@cmake --preset fuzz -Wno-dev
	@cmake --build --preset fuzz -j $(JOBS) --target fuzz-targets
	@bash tests/fuzz/run.sh $(SECONDS)

SEEDS ?= 10000
sim: ## The planner with a model of Rancher, in one thread, under SEEDS=10000 seeds
	@sh cmake/deps.sh test
	@cmake --preset dev -Wno-dev
	@cmake --build --preset dev -j $(JOBS) --target herd-sim
	@build/dev/bin/herd-sim --seeds=$(SEEDS)

crds: ## Generate the CRDs and docs from the tables, and build the webhook, whose answers integration/admission writes
	@cmake --preset dev -Wno-dev
	@cmake --build --preset dev -j $(JOBS) --target test-golden-generated test-golden-webhook-rules test-unit-tables herd-webhook
	@HERD_GOLDEN=write build/dev/tests/test-golden-generated
	@HERD_GOLDEN=write build/dev/tests/test-golden-webhook-rules
	@HERD_GOLDEN=write build/dev/tests/test-unit-tables

# For all of these: KUBECTL=kubectl CONTEXT=name; for deploy also IMAGE, TAG, OVERLAY (manifests/deploy.sh).
export KUBECTL CONTEXT IMAGE TAG OVERLAY TIMEOUT STACKS ENGINE
install-crds: ## Apply the CRDs to the cluster (CONTEXT=name)
	@bash manifests/deploy.sh install-crds

uninstall-crds: ## Delete the CRDs; fails while Stacks exist, unless STACKS=delete
	@bash manifests/deploy.sh uninstall-crds

deploy: ## CRDs, webhook, certificates, controller; waits until they run (IMAGE= TAG= CONTEXT=)
	@bash manifests/deploy.sh deploy

undeploy: ## Remove Herd, its webhook configurations first; CRDs and Stacks stay
	@bash manifests/deploy.sh undeploy

# A registry that nobody can have (RFC 6761): an image that was not pushed or loaded is nobody else's.
IMAGE_NAME = $(or $(IMAGE),registry.example.invalid/herd)
IMAGE_TAG = $(or $(TAG),$(shell awk '/herd VERSION/ { print $$3 }' CMakeLists.txt))
image: build ## An OCI image of both programs: build/image/herd.tar; needs no container engine
	@bash manifests/image/hardening.sh $(RELEASE)/bin/herd-webhook $(RELEASE)/bin/herd-controller
	@bash manifests/image/build.sh $(RELEASE)/bin build/image $(IMAGE_NAME) $(IMAGE_TAG)

audit-libraries: image ## List the libraries of the image with known vulnerabilities, by a list and by apt's security archive
	@bash manifests/image/audit.sh build/image/herd.spdx.json

docker-build: image ## The image, in the store of docker, podman or buildah (IMAGE= TAG=)
	@bash manifests/image/engine.sh load build/image/herd.tar $(IMAGE_NAME):$(IMAGE_TAG)

docker-push: image ## The same, pushed to IMAGE's registry
	@bash manifests/image/engine.sh push build/image/herd.tar $(IMAGE_NAME):$(IMAGE_TAG)

clean: ## Remove the build folder
	rm -rf build
