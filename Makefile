# What a person types. CMake does the work: see CMakePresets.json for the builds.
.DEFAULT_GOAL := all
.PHONY: all demo check test bench fuzz kills emulate format tidy clean help setup

SOURCES = $(shell find attend cli lab serve bench examples tests -name '*.cc' -o -name '*.h' | sort)
FUZZ_SECONDS ?= 60
KILLS ?= 1000
EMULATE ?=
EMULATOR = bochs bochs-term bochsbios vgabios isolinux syslinux-common xorriso cpio busybox-static
MPI = openmpi-bin libopenmpi-dev iproute2
BROWSER = chromium chromium-driver python3-selenium fonts-dejavu-core

all: build/build.ninja setup  ## build build/attend
	cmake --build --preset release --target attend

demo: all  ## train the built-in translation, use it, show where it looks
	build/attend demo

bench: all  ## measure speed against this machine's limit; writes build/bench.json
	build/attend bench --json build/bench.json

check: build/build.ninja setup  ## the fast tests, in the build that users run
	cmake --build --preset release --target test_programs
	ctest --preset check

test: build/build.ninja build/grad64/build.ninja build/asan/build.ninja setup  ## every test, in three builds
	scripts/setup.sh $(BROWSER) $(MPI)
	cmake --preset release  # which looks for the browser, and for Open MPI
	cmake --build --preset release
	ctest --preset release
	cmake --build --preset grad64
	ctest --preset grad64
	cmake --build --preset asan
	ctest --preset asan

fuzz:  ## feed damaged files to the readers, FUZZ_SECONDS=60 each (clang)
	scripts/setup.sh clang libclang-rt-14-dev  # the second has the run-time library of the sanitizers and libFuzzer
	cmake --preset fuzz
	cmake --build --preset fuzz
	set -e; for target in build/fuzz/tests/fuzz/*_fuzz; do \
	  name=$$(basename $$target _fuzz); mkdir -p build/fuzz/found/$$name; seeds=tests/fuzz/seeds/$$name; [ -d $$seeds ] || seeds=; \
	  $$target -max_total_time=$(FUZZ_SECONDS) -artifact_prefix=build/fuzz/ build/fuzz/found/$$name $$seeds; \
	done

kills: build/build.ninja setup  ## kill trainings and let their writes fail, KILLS=1000 times; SEED=n repeats a run
	cmake --build --preset release --target attend faults
	tests/reliability/kills.py --faults build/tests/libfaults.so --kills $(KILLS) $(if $(SEED),--seed $(SEED))

emulate: build/build.ninja setup  ## run kernels, tests and models on AVX-512 in an emulator, EMULATE="--list" (hours)
	scripts/setup.sh $(EMULATOR)
	cmake --build --preset release --target attend kernels_tests autograd_tests golden_tests attention_tests
	scripts/emulate.py $(EMULATE)

format:  ## format every source file with clang-format
	clang-format -i $(SOURCES)

tidy: build/debug/build.ninja  ## look for mistakes with clang-tidy
	clang-tidy --quiet -p build/debug $(filter attend/%.cc cli/%.cc lab/%.cc serve/%.cc,$(SOURCES))

clean:  ## remove everything that was built
	rm -rf build

help:  ## this list
	@sed -nE 's/^([a-z]+):.*## (.*)/make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 14

setup:
	@scripts/setup.sh

# Configured again when the presets change; CMake itself notices everything else.
build/build.ninja: CMakePresets.json | setup
	cmake --preset release
build/%/build.ninja: CMakePresets.json | setup
	cmake --preset $*
