# SPDX-License-Identifier: Apache-2.0
#
# Test programs and suites; the Makefile includes this file.

# ---- tests ------------------------------------------------------------------------------------

# Every tests/<suite>/test_*.c is a program; the other .c files there and in tests/unit help them.
SUITES       := unit bpf privsep oracle
TEST_LIBS    := $(LOADER_LIBS) $(WORKER_LIBS) -lcmocka -Wl,--as-needed $(NETWORK_LIBS) -Wl,--no-as-needed
test_sources  = $(sort $(wildcard tests/$(1)/test_*.c))
test_helpers  = $(filter-out $(call test_sources,$(1)),$(sort $(wildcard tests/$(1)/*.c)))
test_programs = $(patsubst %.c,$(BUILD)/%,$(call test_sources,$(1)))
FUZZERS       := $(patsubst %.c,$(BUILD)/%,$(sort $(wildcard tests/fuzz/fuzz_*.c)))
TEST_OBJECTS := $(foreach suite,$(SUITES),$(call objects,tests/$(suite)))
TEST_ARCHIVES := $(foreach suite,$(SUITES),$(call archive,tests/$(suite))) \
	$(BUILD)/lib/loader.a $(BUILD)/lib/broker.a $(call archives,$(FOLDERS)) $(PROTO_ARCHIVE)

define suite_rule
$(call archive,tests/$(1)): $(patsubst %.c,$(BUILD)/obj/%.o,$(call test_helpers,$(1)))
	$$(call say,AR)mkdir -p $$(@D) && rm -f $$@ && $(AR) rcs $$@ $$^
endef
$(foreach suite,$(SUITES),$(eval $(call suite_rule,$(suite))))

$(BUILD)/lib/loader.a: $(call not_main,$(LOADER_OBJECTS))
$(BUILD)/lib/broker.a: $(call not_main,$(BROKER_OBJECTS))
$(BUILD)/lib/loader.a $(BUILD)/lib/broker.a:
	$(call say,AR)mkdir -p $(@D) && rm -f $@ && $(AR) rcs $@ $^

$(TEST_OBJECTS) $(call objects,tests/oracle): | $(PROTO_HEADERS)
# Compiled in a third of the time; what they test keeps its flags.
$(TEST_OBJECTS): private CFLAGS += -O0 -U_FORTIFY_SOURCE

$(BUILD)/tests/%: $(BUILD)/obj/tests/%.o $(TEST_ARCHIVES)
	$(call say,LINK)mkdir -p $(@D) && $(CC) $(LDFLAGS) -pie -o $@ $< \
		$(call group,$(TEST_ARCHIVES)) $(TEST_LIBS)

# These tests compare our tables and lines with those of libdw.
ORACLE := $(call test_programs,oracle)
DWARF  := $(addprefix $(BUILD)/tests/dwarf/,resolve profile)
$(ORACLE) $(DWARF) $(addprefix $(BUILD)/tests/unit/,test_dwarf_read test_debug_reader): TEST_LIBS += -ldw
$(BUILD)/tests/unit/test_output_name: TEST_LIBS += -Wl,--wrap=renameat2
$(BUILD)/tests/unit/test_output: TEST_LIBS += -Wl,--wrap=write
$(BUILD)/tests/unit/test_replace: TEST_LIBS += \
	-Wl,--wrap=spawner_spawn,--wrap=equip_expect_ready,--wrap=equip_broker

RUN := BUILD='$(BUILD)' CC='$(CC)' CLANG='$(CLANG)' CLANG_FORMAT='$(CLANG_FORMAT)' \
	LOADER='$(LOADER)' BROKER='$(BROKER)' SANITIZE='$(SANITIZE)' tests/run.sh

.PHONY: test-programs
test-programs: $(foreach suite,$(SUITES),$(call test_programs,$(suite))) $(ORACLE) $(FUZZERS)

CHECKS := check-unit check-bpf-host check-formats check-otlp check-oracle check-dwarf check-lint
.PHONY: check $(CHECKS) check-root check-privsep check-e2e
check: all
	@rm -rf $(BUILD)/results
	@$(MAKE) -k $(CHECKS); r=$$?; \
		tests/total.sh $(BUILD)/results && exit $$r

# Suites whose programs hold no times run several of them at once.
BESIDE := JOBS=$$(nproc) $(RUN)

check-unit: $(call test_programs,unit)
	@$(BESIDE) unit $^

check-bpf-host: $(call test_programs,bpf) | $(BUILD)/images/done
	@$(BESIDE) bpf $^

# Memory images of interpreters; `memory-images` records them anew, as root.
$(BUILD)/images/done: tests/bpf/images.tar.xz
	$(call say,UNPACK)rm -rf $(@D) && mkdir -p $(@D) && tar -xJf $< -C $(@D) && touch $@

.PHONY: memory-images
memory-images: $(BUILD)/tests/runtimes/record_image
	@BUILD='$(BUILD)' tests/runtimes/images.sh

MODEL_ARCHIVES := $(call archives,$(MODEL_FOLDERS)) $(PROTO_ARCHIVE)
$(BUILD)/page/make_page: $(BUILD)/obj/tests/page/make_page.o $(MODEL_ARCHIVES)
	$(call say,LINK)mkdir -p $(@D) && $(CC) $(LDFLAGS) -pie -o $@ $(call group,$^) -lprotobuf-c -lz

check-formats: $(MODEL_ARCHIVES) $(BUILD)/page/make_page
	@$(BESIDE) formats tests/e2e/pprof_readable.sh tests/formats/run.sh tests/page/page.py

# keyhole-symbolize that asks about few addresses of an object.
.PHONY: dwarf/few
dwarf/few: all
	+@$(call variant,$@,LIMITS=tests/dwarf/few.h $(addprefix $(BUILD)/$@/, \
		keyhole-symbolize keyhole-debug-reader))

# Inlined functions and lines beside what addr2line says, of programs built here.
check-dwarf: $(DWARF) $(EXECUTABLES) dwarf/few
	@$(BESIDE) dwarf tests/dwarf/addr2line.sh tests/dwarf/damaged.sh tests/dwarf/symbolize.sh

# Stacks that a test build captures on the running kernel: root, else a skip.
check-oracle: $(ORACLE) $(if $(filter 0,$(shell id -u)),capture-build kernel-walk-build workloads)
	@$(RUN) oracle tests/oracle/run.sh tests/oracle/stacks.sh tests/oracle/kernel.sh \
		tests/oracle/names.sh; r=$$?; \
		sed -n 's/^# |/ /p' $(BUILD)/results/oracle/stacks.tap; exit $$r

.PHONY: capture-build
capture-build: all
	+@$(call variant,capture,OBSERVER=tests/oracle/capture.bpf.h \
		LIMITS=tests/oracle/capture_limits.h recording)

.PHONY: kernel-walk-build
kernel-walk-build: all
	+@$(call variant,kernel-walk,OBSERVER=tests/oracle/kernel.bpf.h recording)

check-lint: $(EXECUTABLES) $(PROTO_HEADERS) $(SKELETONS)
	@$(BESIDE) lint $(sort $(wildcard tests/lint/*.sh))

check-root: all
	@rm -rf $(BUILD)/results/privsep $(BUILD)/results/e2e
	@$(MAKE) -k check-privsep check-e2e

# A variant for each layer of policy/layers.def.
LAYERS    := $(shell awk -F'[^a-z_]+' '/^L/ { print $$2 }' policy/layers.def)
SABOTAGES := $(LAYERS:%=sabotage/%)
.PHONY: sabotage $(SABOTAGES)
sabotage: $(SABOTAGES)
$(SABOTAGES): all
	+@$(call variant,$@,SABOTAGE=$(@F) all)

check-privsep: $(call test_programs,privsep) $(EXECUTABLES) $(if $(SANITIZE),,sabotage)
	@$(RUN) privsep $(call test_programs,privsep) $(sort $(wildcard tests/privsep/*.sh))

# Our programs, made to end at a moment (tests/e2e/restart.cases).
DOOMED      := $(addprefix $(BUILD)/doomed/,keyhole-worker keyhole-exporter keyhole-broker)
doomed_link  = $(CC) $(LDFLAGS) $(CHILD_LINK) $(foreach name,policy_confine channel_send_ready $(2), \
	-Wl,--wrap=$(name)) -o $@ $(call group,$(1) $(SHARED_ARCHIVES) $(3))
doomed_parts = $(patsubst %,$(BUILD)/obj/tests/e2e/doomed/%.o,doomed $(1))

$(BUILD)/doomed/keyhole-worker: $(call doomed_parts,worker) $(WORKER_LINK) $(SHARED_ARCHIVES)
	$(call say,LINK)mkdir -p $(@D) && $(call doomed_link,$(call doomed_parts,worker) $(WORKER_LINK), \
		regions_configure regions_add session_turn session_finish unwind_table_build_paced \
		delivery_draft delivery_profile naming_run source_lines_run mmap,$(WORKER_LIBS))

$(BUILD)/doomed/keyhole-exporter: $(call doomed_parts,exporter) $(EXPORTER_PARTS) $(SHARED_ARCHIVES)
	$(call say,LINK)mkdir -p $(@D) && $(call doomed_link,$(call doomed_parts,exporter) \
		$(EXPORTER_PARTS),write,$(EXPORTER_LIBS))

$(BUILD)/doomed/keyhole-broker: $(call doomed_parts,broker) $(BROKER_OBJECTS) $(SHARED_ARCHIVES)
	$(call say,LINK)mkdir -p $(@D) && $(call doomed_link,$(call doomed_parts,broker) \
		$(BROKER_OBJECTS),poll, \
		$(BROKER_LIBS))

check-e2e: $(EXECUTABLES) $(MANIFEST) workloads duration-build tiny-builds $(DOOMED)
	@TEST_SECONDS=1800 $(RUN) e2e tests/e2e/run.sh

# How long each sample takes (tests/e2e/bounds.cases, make bench).
DURATIONS := duration duration-for
.PHONY: duration-build $(DURATIONS)
duration-build: $(DURATIONS)
$(DURATIONS): all
	+@$(call variant,$@,OBSERVER=tests/bench/duration.bpf.h \
		BPF_OBJECT=$(if $(filter %-for,$@),for,loop) recording)

# How much of a process's memory is read (tests/runtimes/reads.py).
.PHONY: reads-build
reads-build: all
	+@$(call variant,reads,OBSERVER=tests/bench/reads.bpf.h recording)

# e2e/losses.cases uses a variant for each file of limits.
TINIES := $(patsubst tests/e2e/%.h,%,$(wildcard tests/e2e/tiny/*.h))
.PHONY: tiny-builds $(TINIES)
tiny-builds: $(if $(SANITIZE),,$(TINIES))
$(TINIES): all
	+@$(call variant,$@,LIMITS=tests/e2e/$@.h recording)

# Emulated kernels. Programs with a larger walk budget run there, for each of the two objects.
KERNEL_VARIANTS := kernels/loop kernels/for
OBJECT_LOADER   := $(BUILD)/tests/kernels/load_objects
$(OBJECT_LOADER): TEST_LIBS := -lbpf

.PHONY: kernel-builds check-kernels $(KERNEL_VARIANTS)
$(KERNEL_VARIANTS): all
	+@$(call variant,$@,LIMITS=tests/kernels/limits.h BPF_OBJECT=$(@F) recording)

kernel-builds: $(KERNEL_VARIANTS) kernel-walk-build $(OBJECT_LOADER)
check-kernels: $(EXECUTABLES) workloads kernel-builds
	@TEST_SECONDS=1800 $(RUN) kernels tests/kernels/run.sh; r=$$?; \
		sed -n 's/^# |/ /p' $(BUILD)/results/kernels/run.tap; exit $$r

# Each event where there is a PMU: emulated, of another architecture.
PMU_SOURCES := tests/kernels/open_events.c loader/events.c
$(BUILD)/kernels/open_events: $(PMU_SOURCES) ipc/events.def ipc/messages.h loader/events.h
	$(call say,CC)mkdir -p $(@D) && $(CC) -std=gnu11 -D_GNU_SOURCE $(WARNINGS) -iquote . -O2 \
		-o $@ $(PMU_SOURCES)

.PHONY: check-pmu
check-pmu: $(BUILD)/kernels/open_events
	@$(RUN) pmu tests/kernels/pmu.sh

.PHONY: workloads bench
workloads:
	@$(MAKE) --no-print-directory -f tests/e2e/workloads/workloads.mk OUT=$(BUILD)/workloads \
		V=$(V)

bench: all workloads duration-build
	@BUILD='$(BUILD)' tests/bench/bench.sh

# ---- escape suite ---------------------------------------------------------------------------------

# policy/ once more, with layers that can be left off, under the programs that try to get out. They
# are static and have no archive that leaves groups.c out.
ESCAPE         := $(BUILD)/escape
ESCAPE_POLICY  := $(patsubst policy/%.c,$(ESCAPE)/obj/policy/%.o,$(filter-out policy/groups.c, \
	$(sort $(wildcard policy/*.c))))
ESCAPE_RENAMES := -Dpolicy_become=real_become
ESCAPE_PARTS   := $(BUILD)/obj/tests/escape/masked.o $(ESCAPE_POLICY) $(call archive,ipc)
ESCAPE_INSIDE  := $(patsubst %,$(BUILD)/obj/tests/escape/%.o,prisoner attempts \
	attempts_kernel held)
ESCAPE_PROGRAMS := $(addprefix $(ESCAPE)/,test_calls test_layers test_held malicious_worker) \
	$(BUILD)/test_peers
ESCAPE_LIBS    := -lseccomp -lcap

$(ESCAPE)/obj/policy/%.o: policy/%.c tests/escape/mask.h $(BUILD)/flags
	$(call say,CC)mkdir -p $(@D) && $(CC) $(ALL_CFLAGS) $(ESCAPE_RENAMES) \
		-include tests/escape/mask.h -c -o $@ $<
$(ESCAPE)/obj/policy/seccomp.o: ESCAPE_RENAMES += -Dpolicy_selftest=real_selftest

# Under the names by which the loader's code starts its children.
$(ESCAPE)/prisoner: $(ESCAPE_INSIDE) $(ESCAPE_PARTS)
	$(call say,LINK)mkdir -p $(@D) && $(CC) $(LDFLAGS) $(CHILD_LINK) -o $@ \
		$(call group,$^) $(ESCAPE_LIBS)
	@ln -sf prisoner $(ESCAPE)/keyhole
	@for role in worker exporter broker; do ln -sf prisoner $(ESCAPE)/keyhole-$$role; done

ESCAPE_LOADER := $(patsubst %,$(BUILD)/obj/loader/%.o,priority spawner)
$(ESCAPE)/test_%: $(BUILD)/obj/tests/escape/test_%.o $(BUILD)/obj/tests/escape/cell.o \
		$(ESCAPE_LOADER) $(ESCAPE_PARTS)
	$(call say,LINK)mkdir -p $(@D) && $(CC) $(LDFLAGS) -pie -o $@ $(call group,$^) $(ESCAPE_LIBS)

# Beside the real programs.
ESCAPE_MALICIOUS := $(BUILD)/obj/tests/escape/malicious.o
$(BUILD)/test_peers: $(BUILD)/obj/tests/escape/test_peers.o $(BUILD)/obj/tests/escape/cell.o \
		$(ESCAPE_MALICIOUS) $(ESCAPE_LOADER) $(ESCAPE_PARTS)
	$(call say,LINK)$(CC) $(LDFLAGS) -pie -o $@ $(call group,$^) $(ESCAPE_LIBS)

$(ESCAPE)/malicious_worker: $(BUILD)/obj/tests/escape/malicious_worker.o $(ESCAPE_MALICIOUS) \
		$(SHARED_ARCHIVES)
	$(call say,LINK)mkdir -p $(@D) && $(CC) $(LDFLAGS) $(CHILD_LINK) -o $@ \
		$(call group,$^) $(ESCAPE_LIBS)

.PHONY: check-escape
check-escape: $(EXECUTABLES) $(ESCAPE)/prisoner $(ESCAPE_PROGRAMS)
	@$(RUN) escape tests/escape/run.sh

# ---- delivery -------------------------------------------------------------------------------------

# Sends windows as the exporter does, linked as the exporter is.
DELIVER := $(BUILD)/otlp/deliver
$(DELIVER): $(BUILD)/obj/tests/otlp/deliver.o $(BUILD)/obj/tests/otlp/settings.o $(call archives,exporter $(EXPORTER_FOLDERS) base) \
		$(SHARED_ARCHIVES)
	$(call say,LINK)mkdir -p $(@D) && $(CC) $(LDFLAGS) $(CHILD_LINK) -o $@ \
		$(call group,$^ $(EXPORTER_LIBS))

# The same by the exporter itself.
DELIVER_CONFINED := $(BUILD)/tests/otlp/exporter
DELIVER_SETTINGS := $(BUILD)/obj/tests/otlp/settings.o
$(DELIVER_CONFINED): $(DELIVER_SETTINGS)
$(DELIVER_CONFINED): TEST_LIBS += $(DELIVER_SETTINGS)

.PHONY: check-otlp
check-otlp: $(DELIVER) $(DELIVER_CONFINED) $(EXECUTABLES)
	@$(RUN) otlp tests/otlp/run.sh

# A real Collector, which the suite builds with Go once; root.
.PHONY: check-collector
check-collector: $(EXECUTABLES)
	@$(RUN) collector tests/collector/run.sh; r=$$?; \
		sed -n 's/^# |/ /p' $(BUILD)/results/collector/run.tap; exit $$r

# ---- hostile targets ------------------------------------------------------------------------------

# Longer than the others, and root's: not a part of check-root.
.PHONY: check-hostile
check-hostile: $(EXECUTABLES) workloads duration-build
	@$(MAKE) --no-print-directory -f tests/hostile/targets/targets.mk OUT=$(BUILD)/hostile V=$(V)
	@$(RUN) hostile tests/hostile/run.sh

# ---- evidence -------------------------------------------------------------------------------------

# Compares the claims about the confinement with the results of the suites.
# EVIDENCE_ALL=1 makes a claim whose tests were not run a failure.
.PHONY: evidence
evidence:
	@PYTHONDONTWRITEBYTECODE=1 tests/evidence/evidence.py $(BUILD)

.PHONY: figures
figures: $(EXECUTABLES)
	@BUILD='$(BUILD)' tests/evidence/figures.sh

# ---- soak -----------------------------------------------------------------------------------------

# SOAK_SECONDS=3600 is what an issue is resolved with; check-hostile has it for a minute.
export SOAK_SECONDS ?= 600
.PHONY: soak soak-agent
soak-agent: $(EXECUTABLES) workloads
	@TEST_SECONDS=$$(($(SOAK_SECONDS) + 300)) $(RUN) soak-agent tests/soak/agent.py; \
		r=$$?; sed -n 's/^# / /p' $(BUILD)/results/soak-agent/*.tap; exit $$r

soak: $(EXECUTABLES) workloads
	@TEST_SECONDS=$$(($(SOAK_SECONDS) + 300)) $(RUN) soak tests/soak/growth.py tests/soak/soak.py; \
		r=$$?; sed -n 's/^# / /p' $(BUILD)/results/soak/*.tap; exit $$r

# ---- the systemd unit ------------------------------------------------------------------------------

# AWAY_SECONDS=3600 is what an issue is resolved with.
export AWAY_SECONDS ?= 60
.PHONY: check-systemd
check-systemd: $(EXECUTABLES) workloads
	@TEST_SECONDS=$$(($(AWAY_SECONDS) + 1200)) $(RUN) systemd tests/systemd/run.sh; r=$$?; \
		sed -n 's/^# |/ /p' $(BUILD)/results/systemd/run.tap; exit $$r

# ---- the image and the manifest --------------------------------------------------------------------

.PHONY: check-container
check-container: workloads
	@$(RUN) container tests/container/run.sh; r=$$?; \
		sed -n 's/^# |/ /p' $(BUILD)/results/container/run.tap; exit $$r

# ---- packages -------------------------------------------------------------------------------------

.PHONY: check-package
check-package: package other-version $(EXECUTABLES)
	@$(RUN) package tests/package/package.sh tests/package/versions.sh

# ---- secrets of targets, addresses of the kernel --------------------------------------------------

# `leaky` is the control: its sampler tells what it must not (tests/canary/leak.bpf.h).
CANARY          := $(BUILD)/canary
CANARY_PROGRAMS := $(addprefix $(CANARY)/,target victim load search watch hostile-worker list-worker)

$(CANARY)/target $(CANARY)/victim $(CANARY)/load: $(CANARY)/%: $(BUILD)/obj/tests/canary/%.o
	$(call say,LINK)mkdir -p $(@D) && $(CC) $(LDFLAGS) -pie -o $@ $^ -lpthread

$(CANARY)/search $(CANARY)/watch: $(CANARY)/%: $(BUILD)/obj/tests/canary/%.o \
		$(BUILD)/obj/tests/canary/place.o
	$(call say,LINK)mkdir -p $(@D) && $(CC) $(LDFLAGS) -pie -o $@ $^ -lpthread

$(CANARY)/hostile-worker $(CANARY)/list-worker: $(CANARY)/%-worker: \
		$(BUILD)/obj/tests/canary/%_worker.o $(BUILD)/obj/tests/canary/taken_over.o \
		$(WORKER_ARCHIVES) $(PROTO_ARCHIVE) $(SHARED_ARCHIVES)
	$(call say,LINK)mkdir -p $(@D) && $(CC) $(LDFLAGS) $(CHILD_LINK) -o $@ \
		$(call group,$^ $(WORKER_LIBS))

.PHONY: leaky-build thrifty-build check-canary
leaky-build: all
	+@$(call variant,leaky,OBSERVER=tests/canary/leak.bpf.h recording)
# grants that allow little: their accounts are reached
thrifty-build: all
	+@$(call variant,thrifty,OBSERVER=tests/canary/thrifty.bpf.h recording)

check-canary: $(EXECUTABLES) $(CANARY_PROGRAMS) leaky-build thrifty-build
	@$(RUN) canary tests/canary/run.sh

# ---- runtimes ---------------------------------------------------------------------------------

# Fetches interpreters. RUNTIMES_ALSO: further ones of this machine.
.PHONY: check-runtimes
check-runtimes: $(EXECUTABLES) reads-build
	@$(RUN) runtimes tests/runtimes/run.sh tests/runtimes/reads.py \
		tests/runtimes/compiled.py tests/runtimes/layouts.sh tests/runtimes/lua_layout.sh \
		tests/runtimes/luajit_layout.sh tests/runtimes/php_layout.sh \
		tests/runtimes/ruby_layout.sh tests/runtimes/perl_layout.sh tests/runtimes/go.sh; r=$$?; \
		sed -n 's/^# |/ /p' $(BUILD)/results/runtimes/run.tap $(BUILD)/results/runtimes/go.tap; \
		exit $$r

# Fetches servers and their libraries.
.PHONY: check-services
check-services: $(EXECUTABLES)
	@$(RUN) services tests/services/run.sh; r=$$?; \
		sed -n 's/^# |/ /p' $(BUILD)/results/services/run.tap; exit $$r

# ---- fuzzers ----------------------------------------------------------------------------------

fuzz_objects  = $(patsubst $(BUILD)/obj/%,$(BUILD)/fuzz/obj/%,$(1))
FUZZ_OBJECTS := $(call fuzz_objects,$(call not_main,$(foreach folder,$(filter-out view/check,$(FOLDERS)), \
	$(call objects,$(folder))) $(BUILD)/obj/view/check/text.o) $(PROTO_OBJECTS) $(call not_main,$(BROKER_OBJECTS)) \
	$(patsubst %,$(BUILD)/obj/loader/%.o,export link options helper priority spawner) \
	$(patsubst %.c,$(BUILD)/obj/%.o,$(foreach suite,unit bpf,$(call test_helpers,$(suite)))))
FUZZ_ARCHIVE := $(BUILD)/lib/fuzz.a
FUZZ_SECONDS ?= 60

$(BUILD)/fuzz/flags: FORCE
	$(call keep_flags,$(CLANG) $(FUZZ_CFLAGS))

$(BUILD)/fuzz/obj/%.o: %.c $(BUILD)/fuzz/flags
	$(call say,FUZZ-CC)mkdir -p $(@D) && $(CLANG) $(FUZZ_CFLAGS) -c -o $@ $<

$(BUILD)/fuzz/obj/proto/%.o: $(BUILD)/proto/%.c $(BUILD)/fuzz/flags
	$(call say,FUZZ-CC)mkdir -p $(@D) && $(CLANG) $(FUZZ_CFLAGS) -Wno-error -c -o $@ $<

$(FUZZ_OBJECTS): | $(PROTO_HEADERS) $(PAGE_INC)
$(FUZZ_ARCHIVE): $(FUZZ_OBJECTS)
	$(call say,AR)mkdir -p $(@D) && rm -f $@ && $(AR) rcs $@ $^

$(BUILD)/tests/fuzz/%: $(BUILD)/fuzz/obj/tests/fuzz/%.o $(FUZZ_ARCHIVE)
	$(call say,FUZZ-LD)mkdir -p $(@D) && $(CLANG) -fsanitize=fuzzer,$(FUZZ_SANITIZERS) -pie \
		-o $@ $< $(call group,$(FUZZ_ARCHIVE)) $(WORKER_LIBS) $(NETWORK_LIBS)

.PHONY: check-fuzz check-fuzz-replay fuzz-corpus
check-fuzz: $(FUZZERS) $(BUILD)/images/done
	@FUZZ_SECONDS=$(FUZZ_SECONDS) TEST_SECONDS=$$(($(words $(FUZZERS)) * $(FUZZ_SECONDS) + 300)) \
		$(RUN) fuzz tests/fuzz/run.sh

# The inputs that are known, and no new ones.
check-fuzz-replay: $(FUZZERS) $(BUILD)/images/done
	@FUZZ_SECONDS=0 $(RUN) fuzz tests/fuzz/run.sh

# Keeps small inputs of those that `make check-fuzz` has found.
fuzz-corpus:
	@BUILD='$(BUILD)' tests/fuzz/run.sh keep

# ---- everything -------------------------------------------------------------------------------

# Compiles all that the suites use, before the first of them begins.
.PHONY: check-builds go-tools
check-builds: all test-programs workloads capture-build duration-build reads-build tiny-builds leaky-build \
	kernel-builds sabotage other-version $(BUILD)/page/make_page $(DWARF) dwarf/few $(DOOMED) \
	$(DELIVER) $(DELIVER_CONFINED) \
	$(ESCAPE)/prisoner $(ESCAPE_PROGRAMS) $(CANARY_PROGRAMS) go-tools

# Some Go builds its pprof at the first use.
go-tools:
	@HOME=$(abspath $(BUILD)) GOTOOLCHAIN=local CGO_ENABLED=0 GOCACHE=$(abspath $(BUILD))/go-cache \
		tests/pprof -h >/dev/null 2>&1 || true

# The unit tests once more, with sanitizers. Both suites have tests of one name.
.PHONY: check-asan
check-asan:
	@$(MAKE) --no-print-directory -k BUILD=$(BUILD)/asan CC=$(CLANG) SANITIZE=address,undefined \
		check-unit check-bpf-host; r=$$?; rm -rf $(BUILD)/results/asan; mkdir -p $(BUILD)/results/asan; \
		cp $(BUILD)/asan/results/unit/* $(BUILD)/results/asan; \
		for tap in $(BUILD)/asan/results/bpf/*.tap; do cp $$tap $(BUILD)/results/asan/bpf_$${tap##*/}; done; exit $$r

# All suites with all that is in them; goes on after a failure. Root; the machine should have nothing
# else to do. FUZZ_SECONDS for each fuzzer, SOAK_SECONDS for soak.
ALL_CHECKS := $(CHECKS) check-asan check-privsep check-escape check-canary check-e2e check-collector check-runtimes check-services \
	check-pmu check-package check-container check-systemd check-kernels check-hostile check-fuzz soak soak-agent evidence
.PHONY: check-all
check-all: check-builds
	@rm -rf $(BUILD)/results
	+@for suite in $(ALL_CHECKS); do BUILD=$(BUILD) tests/suite.sh $$suite $(MAKE) -k; done
	@tests/total.sh $(BUILD)/results
