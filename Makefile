# SPDX-License-Identifier: GPL-2.0-or-later
#
# make                  builds build/lttngtop, after autoconf and configure if necessary
# make demo             opens the bundled recording of three hosts
# make demo-live        the same as live sessions of a relayd, which it starts and stops
# make check            builds and runs every test; check-unit: only the unit tests
# make coverage         every test in build-coverage, then the share of lines run in each directory
# make check-kernel     tests in guests with kernels of their own, LAB_RELEASES='12 13 forky'
# make man              regenerates man/*.1 from the program's tables
# make lint             clang-tidy, cppcheck, shellcheck, pyflakes
# make analyze          gcc -fanalyzer and clang's static analyzer
# make format           formats the C sources as .clang-format says
# make bench            a table of speeds and sizes
# make fuzz             damaged metadata and recordings, odd ones, random keys: FUZZ_CASES=, FUZZ_SEED=; then fuzz-guided
# make fuzz-guided      damage guided by the code that it reaches, with clang: FUZZ_SECONDS=
# make valgrind         the unit tests under valgrind
# make install          DESTDIR=, PREFIX=; uninstall
# make dist             a source archive
# make clean distclean
#
# V=1 shows the commands. Another configuration lives in another directory:
#   make BUILD=build-asan CONFIGURE_FLAGS='--enable-asan --enable-ubsan' check

# Not from the environment, where this name means other things.
BUILD = build
CONFIGURE_FLAGS ?=
# Only this path may contain spaces.
BUILD_PATH = $(if $(filter /%,$(BUILD)),$(BUILD),$(CURDIR)/$(BUILD))

# With -n nothing is run, and nothing configured: make would bring a file that it includes up to date all the same.
DRY_RUN := $(findstring n,$(firstword -$(MAKEFLAGS)))

.DELETE_ON_ERROR:
.SUFFIXES:
MAKEFLAGS += --no-builtin-rules --no-print-directory

INSTALL_DEPS = command -v bash >/dev/null || { echo 'bash not found: install it first' >&2; exit 1; }; scripts/install-deps

# The commands that first install what is missing build on all processors, unless -j says on how many.
PARALLEL = $(if $(findstring -j,$(MAKEFLAGS)),,-j$(shell nproc))

# The monitor needs the terminal, which make keeps to itself if it sorts the output (-O).
TERMINAL = $(if $(findstring -O,$(MAKEFLAGS)),-Onone)

V ?= 0
ifeq ($(V),0)
Q := @
say = @printf '  %-7s %s\n' '$(1)' '$(2)'
endif

# make clean all: the first goal removes what the second one includes, so that each needs a make of its own.
ifneq ($(and $(filter clean distclean,$(MAKECMDGOALS)),$(word 2,$(MAKECMDGOALS))),)
.PHONY: $(MAKECMDGOALS) each-goal
$(MAKECMDGOALS): each-goal ; @:
each-goal:
	$(Q)for goal in $(MAKECMDGOALS); do $(MAKE) $$goal || exit; done
else

# These work before anything is installed or configured.
UNCONFIGURED := configure check check-unit valgrind check-layers check-style check-words format lint analyze demo demo-live clean distclean
ifneq ($(filter-out $(UNCONFIGURED),$(or $(MAKECMDGOALS),all)),)
ifeq ($(DRY_RUN),)
include $(BUILD)/config.mk
else
$(eval $(file <$(BUILD)/config.mk))
endif
endif
ifneq ($(and $(filter command,$(origin PREFIX)),$(PREFIX)),)
prefix := $(PREFIX)
endif

SOURCES := $(sort $(wildcard src/*/*.c src/*/*/*.c))
OBJECTS := $(SOURCES:src/%.c=$(BUILD)/%.o)
MAIN := $(BUILD)/cmd/main.o
ARCHIVE := $(BUILD)/liblttngtop.a
PROGRAM := $(BUILD)/lttngtop
TEST_LIBRARIES := $(BUILD)/tests/source/hold_workers.so $(BUILD)/tests/live/set_clock.so
TEST_PROGRAMS := $(patsubst %.c,$(BUILD)/%,$(sort $(filter-out $(TEST_LIBRARIES:$(BUILD)/%.so=%.c),$(wildcard tests/*/*.c))))
UNIT_TESTS := $(filter $(BUILD)/tests/unit/%,$(TEST_PROGRAMS))
ifeq ($(strip $(CHECK_LIBS)),)
TEST_PROGRAMS := $(filter-out $(UNIT_TESTS),$(TEST_PROGRAMS))
endif
MAN_PAGES := $(sort $(wildcard man/*.1))

WARNINGS := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wold-style-definition \
	-Wvla -Wformat=2 -Wundef -Wpointer-arith -Wwrite-strings -Wimplicit-fallthrough
COMPILE = $(CC) -std=gnu11 $(WARNINGS) -D_GNU_SOURCE -Isrc -I$(BUILD) $(CPPFLAGS) $(LIB_CFLAGS) \
	$(CFLAGS) $(BUILD_CFLAGS) -MMD -MP
LINK = $(CC) $(CFLAGS) $(LDFLAGS) $(BUILD_LDFLAGS)
LINK_LIBS = $(BT2_LIBS) $(SECCOMP_LIBS) $(LIB_LIBS) $(LIBS)

.PHONY: all
all: $(PROGRAM)

# Configuration

configure: configure.ac
	$(call say,GEN,$@)
	$(Q)command -v autoconf >/dev/null || { echo 'autoconf not found: run scripts/install-deps' >&2; exit 1; }
	$(Q)autoconf -o $@.new && rm -rf autom4te.cache && mv -f $@.new $@

# A directory that is configured already keeps its flags unless new ones are given.
ifneq ($(strip $(CONFIGURE_FLAGS)),)
ifneq ($(strip $(CONFIGURE_FLAGS)),$(shell cat '$(BUILD)/flags' 2>/dev/null))
.PHONY: new-flags
$(BUILD)/config.mk: new-flags
endif
endif
$(BUILD)/config.mk: configure scripts/config.mk.in scripts/GNUmakefile.in src/config.h.in
	$(call say,CONF,$(BUILD))
	$(Q)mkdir -p $(BUILD)
	$(Q)cd $(BUILD) && if [ -x config.status ] && $(if $(strip $(CONFIGURE_FLAGS)),false,true); then \
		./config.status -q --recheck && ./config.status -q; \
	else \
		"$(CURDIR)/configure" -q $(CONFIGURE_FLAGS) && \
		printf '%s\n' '$(subst ','\'',$(strip $(CONFIGURE_FLAGS)))' >flags; \
	fi
	$(Q)touch $@

# Program

$(OBJECTS): $(BUILD)/config.mk
$(filter $(BUILD)/reader/babeltrace2/%,$(OBJECTS)): LIB_CFLAGS += $(BT2_CFLAGS)
$(filter $(BUILD)/worker/%,$(OBJECTS)): LIB_CFLAGS += $(SECCOMP_CFLAGS)
$(filter $(BUILD)/control/%,$(OBJECTS)): LIB_CFLAGS += $(LTTNG_CTL_CFLAGS)

$(BUILD)/%.o: src/%.c
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(COMPILE) -include src/base/banned.h -c -o $@ $<

# An object whose source is gone leaves the archive, too.
ARCHIVED := $(filter-out $(MAIN),$(OBJECTS))
ifneq ($(ARCHIVED),$(shell cat '$(BUILD)/archived' 2>/dev/null))
.PHONY: other-objects
$(ARCHIVE): other-objects
endif
$(ARCHIVE): $(ARCHIVED)
	$(call say,AR,$@)
	$(Q)rm -f $@
	$(Q)$(AR) rcs $@ $(ARCHIVED)
	$(Q)printf '%s\n' '$(ARCHIVED)' >'$(BUILD)/archived'

$(PROGRAM): $(MAIN) $(ARCHIVE)
	$(call say,LINK,$@)
	$(Q)$(LINK) -o $@ $^ $(LINK_LIBS)

# Bundled recordings

TRACES := $(patsubst traces/%.tar.zst,$(BUILD)/traces/%,$(wildcard traces/*.tar.zst))

.PHONY: traces
traces: $(TRACES)

$(BUILD)/traces/%: traces/%.tar.zst
	$(call say,UNPACK,$@)
	$(Q)mkdir -p $(@D) && rm -rf $@
	$(Q)zstd -dcq $< | tar -x -C $(@D) && touch $@

# Tests: each tests/*/*.c is a program linked with everything but main; those in unit/ are tests, others serve scripts.

$(BUILD)/tests/%: tests/%.c $(ARCHIVE)
	$(call say,CCLD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(COMPILE) $(TEST_CFLAGS) $(CHECK_CFLAGS) -MF $@.d -o $@ $< $(ARCHIVE) $(LDFLAGS) $(BUILD_LDFLAGS) $(CHECK_LIBS) $(LINK_LIBS)

# Preloaded into the program by some of them; a sanitizer has no place in it.
$(TEST_LIBRARIES): $(BUILD)/%.so: %.c
	$(call say,CCLD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(WARNINGS) $(CFLAGS) -shared -fPIC -o $@ $<

ifdef FUZZ_GUIDED
BUILD_CFLAGS += -fsanitize=fuzzer-no-link
$(BUILD)/tests/fuzz/fuzz_guided: private BUILD_CFLAGS += -DFUZZ_GUIDED -fsanitize=fuzzer
endif

$(BUILD)/tests/unit/check_confine: LIB_CFLAGS += $(SECCOMP_CFLAGS)
$(BUILD)/tests/live/ust_app: LIB_CFLAGS += $(UST_CFLAGS)
$(BUILD)/tests/live/ust_app: LIBS += $(UST_LIBS)

.PHONY: check-unit check-unit-run
check-unit:
	$(Q)$(INSTALL_DEPS) --unit
	$(Q)$(MAKE) $(PARALLEL) check-unit-run
check-unit-run: $(PROGRAM) $(TRACES) $(UNIT_TESTS)
	$(Q)tests/run --build $(BUILD) $(UNIT_TESTS)

.PHONY: demo demo-run
demo:
	$(Q)$(INSTALL_DEPS)
	$(Q)$(MAKE) $(PARALLEL) $(TERMINAL) demo-run
demo-run: $(PROGRAM) $(BUILD)/traces/three-tier
	$(Q)$(PROGRAM) $(BUILD)/traces/three-tier

.PHONY: demo-live demo-live-run
demo-live:
	$(Q)$(INSTALL_DEPS) --live
	$(Q)$(MAKE) $(PARALLEL) $(TERMINAL) demo-live-run
demo-live-run: $(PROGRAM) $(BUILD)/traces/three-tier
	$(Q)scripts/demo-live $(PROGRAM) $(BUILD)/traces/three-tier

# Everything that has to pass

.PHONY: check check-all check-programs check-layers check-style check-words check-man format lint lint-run analyze analyze-run
check:
	$(Q)$(INSTALL_DEPS) --tests
	$(Q)$(MAKE) $(PARALLEL) check-all
check-all: check-layers check-style check-words check-man check-programs
	$(Q)tests/run --build $(BUILD) $(CHECK_FLAGS)

# Tests that fail do not keep it from being measured: see scripts/coverage.
.PHONY: coverage
coverage:
	-$(Q)$(MAKE) check BUILD=build-coverage CONFIGURE_FLAGS=--enable-coverage CHECK_FLAGS=--again
	$(Q)scripts/coverage build-coverage

# What the tests need.
check-programs: $(PROGRAM) $(TEST_PROGRAMS) $(TEST_LIBRARIES) $(TRACES)

# Guests with kernels of their own, one test at a time; tests/kernel/image says what is missing for making them.
LAB_RELEASES ?= 12 13 forky
.PHONY: check-kernel
check-kernel: export LAB_RELEASES := $(LAB_RELEASES)
check-kernel: $(PROGRAM)
	$(Q)for release in $(LAB_RELEASES); do tests/kernel/image $$release >/dev/null || [ $$? -eq 77 ] || exit 1; done
	$(Q)tests/run --build $(BUILD) --jobs 1 tests/kernel/test_*.py

check-layers:
	$(call say,CHECK,layers)
	$(Q)scripts/check-layers

check-style:
	$(call say,CHECK,style)
	$(Q)scripts/check-style
	$(Q)scripts/format --check

check-words:
	$(call say,CHECK,words)
	$(Q)scripts/check-words

format:
	$(Q)scripts/format

# What tools find wrong in sources and scripts; the flags are those of the build.
lint:
	$(Q)$(INSTALL_DEPS) --lint
	$(Q)$(MAKE) lint-run
lint-run: $(BUILD)/config.mk
	$(Q)scripts/lint -std=gnu11 -D_GNU_SOURCE -Isrc -I$(BUILD) $(CPPFLAGS) $(LIB_CFLAGS) $(CHECK_CFLAGS) $(UST_CFLAGS)

# What compilers find wrong on the paths through the sources.
analyze:
	$(Q)$(INSTALL_DEPS) --lint
	$(Q)$(MAKE) analyze-run
analyze-run: $(BUILD)/config.mk
	$(Q)scripts/analyze -std=gnu11 -D_GNU_SOURCE -Isrc -I$(BUILD) $(CPPFLAGS) $(LIB_CFLAGS) $(BT2_CFLAGS) \
		$(LTTNG_CTL_CFLAGS) $(SECCOMP_CFLAGS)

# Figures, each a ratio measured in one run where it can be: see scripts/bench.

.PHONY: bench
bench: $(PROGRAM) $(filter $(BUILD)/tests/bench/%,$(TEST_PROGRAMS))
	$(Q)scripts/bench --build $(BUILD)

# Damaged recordings by the thousand, and a hundred times as much damaged metadata; another seed gives other ones.

FUZZ_CASES ?= 2000
FUZZ_SEED ?= 1

.PHONY: fuzz
fuzz: $(PROGRAM) $(TRACES) $(addprefix $(BUILD)/tests/,fuzz/fuzz_metadata fuzz/fuzz_sidecar fuzz/fuzz_calls fuzz/fuzz_reader fuzz/fuzz_guided source/dump_records)
	$(Q)BUILD="$(BUILD_PATH)" FUZZ_METADATA_CASES=$$(($(FUZZ_CASES) * 100)) FUZZ_SEED=$(FUZZ_SEED) tests/fuzz/test_metadata.sh
	$(Q)BUILD="$(BUILD_PATH)" FUZZ_SIDECAR_CASES=$$(($(FUZZ_CASES) * 100)) FUZZ_SEED=$(FUZZ_SEED) tests/fuzz/test_sidecar.sh
	$(Q)LTTNGTOP="$(BUILD_PATH)/lttngtop" BUILD="$(BUILD_PATH)" FUZZ_CALLS_CASES=$$(($(FUZZ_CASES) * 20)) FUZZ_SEED=$(FUZZ_SEED) \
		tests/fuzz/test_calls.sh
	$(Q)FUZZ_READER_CASES=$$(($(FUZZ_CASES) * 50)) FUZZ_SEED=$(FUZZ_SEED) tests/run --build $(BUILD) --timeout 86400 \
		tests/fuzz/test_reader.sh
	$(Q)LTTNGTOP="$(BUILD_PATH)/lttngtop" BUILD="$(BUILD_PATH)" tests/source/test_shapes.py $$(($(FUZZ_CASES) / 4)) $(FUZZ_SEED)
	$(Q)LTTNGTOP="$(BUILD_PATH)/lttngtop" BUILD="$(BUILD_PATH)" tests/fuzz/fuzz.py $(FUZZ_CASES) $(FUZZ_SEED)
	$(Q)FUZZ_SESSIONS=$$(($(FUZZ_CASES) / 20)) FUZZ_SEED=$(FUZZ_SEED) tests/run --build $(BUILD) --timeout 86400 tests/fuzz/test_keys.py
	$(Q)$(MAKE) fuzz-guided

# Its build is one of its own. What was reached is kept there as the corpus of the next run.

FUZZ_SECONDS ?= 900

.PHONY: fuzz-guided
fuzz-guided: $(TRACES)
	$(Q)tests/fuzz/guided --check || exit 0; \
	$(MAKE) BUILD=$(BUILD)/guided CONFIGURE_FLAGS='CC=clang --enable-asan --enable-ubsan' FUZZ_GUIDED=1 \
		$(BUILD)/guided/tests/fuzz/fuzz_guided && \
	BUILD="$(BUILD_PATH)" SRCDIR="$(CURDIR)" tests/fuzz/guided $(FUZZ_SECONDS)

.PHONY: valgrind valgrind-run
valgrind:
	$(Q)$(INSTALL_DEPS) --tests
	$(Q)$(MAKE) $(PARALLEL) valgrind-run
valgrind-run: $(PROGRAM) $(TRACES) $(UNIT_TESTS)
	$(Q)for t in $(UNIT_TESTS); do BUILD="$(BUILD_PATH)" CK_FORK=no valgrind -q --leak-check=full --error-exitcode=99 $$t || exit 1; done

# Manual: the pages come from the tables of the program and are committed.

.PHONY: man
# Of the program, and of each command that has one.
MANUALS := lttngtop $(shell sed -n 's/.*\.man_name = "\(lttngtop-.*\)",/\1/p' src/cmd/manual_pages.c)
man: $(PROGRAM)
	$(call say,GEN,man)
	$(Q)$(foreach m,$(MANUALS),$(PROGRAM) help --man $(filter-out lttngtop,$(m:lttngtop-%=%)) >man/$(m).1 &&) :

check-man: $(PROGRAM)
	$(call say,CHECK,man)
	$(Q)$(foreach m,$(MANUALS),$(PROGRAM) help --man $(filter-out lttngtop,$(m:lttngtop-%=%)) | diff man/$(m).1 - &&) \
	[ '$(sort $(MANUALS:%=man/%.1))' = '$(MAN_PAGES)' ] || \
	{ echo 'man pages are out of date: make man' >&2; exit 1; }

# Installation

.PHONY: install uninstall
install: $(PROGRAM)
	install -D -m 755 $(PROGRAM) "$(DESTDIR)$(bindir)/lttngtop"
	install -d "$(DESTDIR)$(mandir)/man1"
	install -m 644 $(MAN_PAGES) "$(DESTDIR)$(mandir)/man1/"

uninstall:
	rm -f "$(DESTDIR)$(bindir)/lttngtop" $(MAN_PAGES:man/%="$(DESTDIR)$(mandir)/man1/%")

.PHONY: dist clean distclean
dist: $(BUILD)/config.mk
	git archive --prefix=lttngtop-$(VERSION)/ -o lttngtop-$(VERSION).tar.gz HEAD

clean:
	rm -rf $(BUILD)

distclean: clean
	rm -rf build-* configure config.log lttngtop-*.tar.gz

-include $(OBJECTS:.o=.d) $(TEST_PROGRAMS:=.d)

endif
