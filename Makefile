# SPDX-License-Identifier: Apache-2.0
#
# make, make check, make check-root, make check-escape, make check-canary, make check-systemd,
# make check-package, make package, make check-fuzz, make soak, make evidence, make bench, make install DESTDIR=
# V=1 shows the commands; CC=clang, SANITIZE=address,undefined and BUILD=folder change the build.

VERSION := 0.1.0
BUILD   ?= build
MAKEFLAGS += --no-builtin-rules
.SUFFIXES:
.DELETE_ON_ERROR:
.SECONDARY:
.DEFAULT_GOAL := all

prefix     ?= /usr/local
bindir     ?= $(prefix)/bin
libexecdir ?= $(prefix)/libexec
datadir    ?= $(prefix)/share

# How programs are installed; packages have them stripped (install -s).
INSTALL_PROGRAM ?= install

ifeq ($(origin CC),default)
CC := gcc
endif
AR           := ar
CLANG        ?= clang
CLANG_FORMAT ?= clang-format
LLVM_STRIP   ?= llvm-strip
PROTOC_C     ?= protoc-c
BPFTOOL      ?= $(or $(shell command -v bpftool),/usr/sbin/bpftool)
FUZZ_SECONDS ?= 60

# Test builds, in a folder of their own: a header that changes limits, one whose functions see each
# sample (bpf/sample.bpf.h), and `for`, the object of old kernels in place of the one of new ones.
LIMITS     ?=
OBSERVER   ?=
BPF_OBJECT ?= loop

# SABOTAGE=layer: programs in a folder below, of the same objects but for a policy/ that leaves that
# layer of policy/layers.def off. They must refuse to sample.
SABOTAGE ?=
OUT      := $(BUILD)$(SABOTAGE:%=/sabotage/%)
LAYERS   := $(shell awk -F'[^a-z_]+' '/^L/ { print $$2 }' policy/layers.def)

MACHINE  := $(shell uname -m)
BPF_ARCH := $(patsubst aarch64,arm64,$(patsubst x86_64,x86,$(MACHINE)))

ifeq ($(V),1)
say :=
Q   :=
else
say = @printf '  %-8s %s\n' '$(1)' '$(patsubst $(BUILD)/%,%,$@)';
Q   := @
endif

# ---- what each executable is made of ----------------------------------------------------------

# The privileged link: by name, so that a diff shows its growth. tests/lint/loader-files.sh checks.
LOADER := events helper ksyms main monitor options programs replace rules spawner user
BROKER := answers limits main mounts

WORKER_FOLDERS := worker/base worker/elf worker/unwind worker/symbol worker/profile worker/format \
	worker/process worker/target worker/sample worker/dwarf
FOLDERS := ipc policy $(WORKER_FOLDERS) worker worker/exporter helper helper/output helper/ksyms \
	helper/options helper/audit helper/policy report top symbolize

LOADER_OBJECTS   := $(LOADER:%=$(BUILD)/obj/loader/%.o)
BROKER_OBJECTS   := $(BROKER:%=$(BUILD)/obj/loader/broker/%.o)
CHECK_OBJECTS    := $(patsubst %.c,$(BUILD)/obj/%.o,$(sort $(wildcard check/*.c)))

place     = $(if $(filter policy,$(1)),$(OUT),$(BUILD))
archive   = $(place)/lib/$(subst /,-,$(1)).a
objects   = $(patsubst %.c,$(place)/obj/%.o,$(sort $(wildcard $(1)/*.c)))
not_main  = $(filter-out %/main.o,$(1))
group     = -Wl,--start-group $(1) -Wl,--end-group

SHARED_ARCHIVES := $(call archive,ipc) $(call archive,policy)
WORKER_ARCHIVES := $(foreach folder,worker $(WORKER_FOLDERS),$(call archive,$(folder)))

PROTO_SOURCES := $(patsubst %.proto,$(BUILD)/%.pb-c.c,$(wildcard proto/*.proto))
PROTO_HEADERS := $(PROTO_SOURCES:.c=.h)
PROTO_OBJECTS := $(PROTO_SOURCES:$(BUILD)/%.c=$(BUILD)/obj/%.o)
PROTO_ARCHIVE := $(BUILD)/lib/proto.a

SKELETONS := $(patsubst bpf/%.bpf.c,$(BUILD)/bpf/%.skel.h,$(wildcard bpf/*.bpf.c))

LOADER_LIBS   := -lbpf -lseccomp -lcap
BROKER_LIBS   := -lseccomp -lcap
EXPORTER_LIBS := -lseccomp -lcap
HELPER_LIBS   := -lseccomp -lcap
REPORT_LIBS   := -lprotobuf-c -lz -lseccomp -lcap
CHECK_LIBS    := -lcrypto -lseccomp -lcap
SYMBOLIZE_LIBS := -ldw -lelf -lz -llzma -lbz2 -lprotobuf-c -liberty -lseccomp -lcap -lpthread
WORKER_LIBS   := -lelf -lz -llzma -lprotobuf-c -liberty -levent_core -lseccomp -lcap -lpthread

EXECUTABLES := $(addprefix $(OUT)/,keyhole keyhole-audit keyhole-broker keyhole-check \
	keyhole-exporter keyhole-ksyms keyhole-options keyhole-output keyhole-policy \
	keyhole-report keyhole-symbolize keyhole-top keyhole-worker)
MANIFEST    := $(OUT)/keyhole-programs.sha256

# ---- flags ------------------------------------------------------------------------------------

WARNINGS := -Wall -Wextra -Werror -Wshadow -Wmissing-prototypes -Wstrict-prototypes -Wvla \
	-Wold-style-definition -Wwrite-strings -Wundef
INCLUDES := -iquote . -iquote $(BUILD)
DEFINES  := -D_GNU_SOURCE -DKEYHOLE_VERSION='"$(VERSION)"' \
	-DKEYHOLE_LIBEXECDIR='"$(libexecdir)/keyhole"'
OPTIMISE ?= -O2 -g
LIMITED  := $(if $(LIMITS),-include $(LIMITS))
COMMON   := -std=gnu11 $(LIMITED) $(INCLUDES) $(DEFINES) -ffile-prefix-map=$(CURDIR)=. -MMD -MP

HARDEN  := -fPIE -fstack-protector-strong -fstack-clash-protection
LDFLAGS += -Wl,-z,relro,-z,now,-z,noexecstack
ifeq ($(SANITIZE),)
HARDEN      += -D_FORTIFY_SOURCE=2
quiet_ld    := -Wl,--no-warnings
# libevent_core refers to resolver functions that the static glibc warns about; nothing calls them.
CHILD_LINK := -static-pie $(if $(shell ld --help | grep -e --no-warnings),$(quiet_ld))
else
HARDEN      += -fsanitize=$(SANITIZE) -fno-sanitize-recover=all -fno-omit-frame-pointer
LDFLAGS     += -fsanitize=$(SANITIZE)
CHILD_LINK := -pie
endif
ALL_CFLAGS = $(COMMON) $(OPTIMISE) $(HARDEN) $(WARNINGS) $(CFLAGS)

BPF_CFLAGS := $(LIMITED) $(if $(OBSERVER),-DOBSERVER='"$(OBSERVER)"') -O2 -g -target bpf -mcpu=v3 -D__TARGET_ARCH_$(BPF_ARCH) $(INCLUDES) \
	-I/usr/include/$(MACHINE)-linux-gnu -Wall -Wextra -Werror -Wno-unused-function -Wno-unused-parameter \
	-ffile-prefix-map=$(CURDIR)=. -MMD -MP

FUZZ_SANITIZERS := address,undefined
FUZZ_CFLAGS := $(COMMON) -O1 -g -fPIE -fsanitize=fuzzer-no-link,$(FUZZ_SANITIZERS) \
	-fno-sanitize-recover=all -fno-omit-frame-pointer $(WARNINGS)

.PHONY: all
all: $(EXECUTABLES) $(MANIFEST)

# What keyhole check holds the programs against.
$(MANIFEST): $(EXECUTABLES)
	@cd $(OUT) && sha256sum $(notdir $^) > $(@F)

# Objects are rebuilt when the compiler or a flag changes.
$(BUILD)/flags: FORCE
	@mkdir -p $(@D)
	@printf '%s\n' '$(subst ','\'',$(CC) $(ALL_CFLAGS))' | cmp -s - $@ || \
		printf '%s\n' '$(subst ','\'',$(CC) $(ALL_CFLAGS))' > $@
.PHONY: FORCE
FORCE:

# ---- compile ----------------------------------------------------------------------------------

$(BUILD)/obj/%.o: %.c $(BUILD)/flags
	$(call say,CC)mkdir -p $(@D) && $(CC) $(ALL_CFLAGS) -c -o $@ $<

ifneq ($(SABOTAGE),)
$(OUT)/obj/policy/%.o: policy/%.c $(BUILD)/flags
	$(call say,CC)mkdir -p $(@D) && $(CC) $(ALL_CFLAGS) -DPOLICY_SABOTAGE=LAYER_$(SABOTAGE) -c -o $@ $<
endif

$(BUILD)/obj/proto/%.o: $(BUILD)/proto/%.c $(BUILD)/flags
	$(call say,CC)mkdir -p $(@D) && $(CC) $(COMMON) $(OPTIMISE) $(HARDEN) -c -o $@ $<

$(BUILD)/proto/%.pb-c.c $(BUILD)/proto/%.pb-c.h: proto/%.proto
	$(call say,PROTOC)mkdir -p $(BUILD) && $(PROTOC_C) --c_out=$(BUILD) $<

$(BUILD)/bpf/%.bpf.o: bpf/%.bpf.c
	$(call say,BPF)mkdir -p $(@D) && $(CLANG) $(BPF_CFLAGS) -c -o $@ $< && $(LLVM_STRIP) -g $@

$(BUILD)/bpf/%.skel.h: $(BUILD)/bpf/%.bpf.o
	$(call say,SKELETON)$(BPFTOOL) gen skeleton $(<:walk_loop.bpf.o=walk_$(BPF_OBJECT).bpf.o) \
		name $*_bpf > $@
$(BUILD)/bpf/walk_loop.skel.h: $(BUILD)/bpf/walk_$(BPF_OBJECT).bpf.o

define archive_rule
$(call archive,$(1)): $(call not_main,$(call objects,$(1)))
	$$(call say,AR)mkdir -p $$(@D) && rm -f $$@ && $(AR) rcs $$@ $$^
endef
$(foreach folder,$(FOLDERS),$(eval $(call archive_rule,$(folder))))

$(PROTO_ARCHIVE): $(PROTO_OBJECTS)
	$(call say,AR)mkdir -p $(@D) && rm -f $@ && $(AR) rcs $@ $^

# The page of worker/format/html.c in one piece, as bytes for a C array. Its policy allows what has
# these hashes alone: of all that is between the tags.
PAGE         := worker/format/page
PAGE_STYLE   := $(PAGE)/page.css
PAGE_SCRIPTS := $(addprefix $(PAGE)/,text.js tree.js graph.js page.js)
PAGE_INC     := $(BUILD)/$(PAGE)/page.inc
csp_hash      = sha256-$$({ echo; cat $(1); } | sha256sum | cut -c 1-64 | tr a-f A-F | \
	basenc --base16 -d | base64)

$(PAGE_INC): $(PAGE)/page.html $(PAGE_STYLE) $(PAGE_SCRIPTS)
	$(call say,PAGE)mkdir -p $(@D) && sed -e "s|@STYLE_HASH@|$(call csp_hash,$(PAGE_STYLE))|" \
		-e "s|@SCRIPT_HASH@|$(call csp_hash,$(PAGE_SCRIPTS))|" \
		$(foreach file,$(PAGE_STYLE),-e '/^@STYLE@$$/r $(file)') -e '/^@STYLE@$$/d' \
		$(foreach file,$(PAGE_SCRIPTS),-e '/^@SCRIPT@$$/r $(file)') -e '/^@SCRIPT@$$/d' $< | \
		od -An -v -tx1 | sed 's/ \(..\)/0x\1,/g' > $@

$(LOADER_OBJECTS) $(CHECK_OBJECTS): | $(SKELETONS)
$(CHECK_OBJECTS): CFLAGS += -DKEYHOLE_BINDIR='"$(bindir)"' -DKEYHOLE_PROGRAMS='"$(notdir $(EXECUTABLES))"'
$(BUILD)/obj/top/main.o: CFLAGS += -DKEYHOLE_BINDIR='"$(bindir)"'
$(call objects,worker/format): | $(PROTO_HEADERS) $(PAGE_INC)

# ---- link -------------------------------------------------------------------------------------

$(OUT)/keyhole: $(LOADER_OBJECTS) $(SHARED_ARCHIVES)
	$(call say,LINK)$(CC) $(LDFLAGS) -pie -o $@ $(LOADER_OBJECTS) \
		$(call group,$(SHARED_ARCHIVES)) $(LOADER_LIBS)

$(OUT)/keyhole-broker: $(BROKER_OBJECTS) $(SHARED_ARCHIVES)
	$(call say,LINK)$(CC) $(LDFLAGS) $(CHILD_LINK) -o $@ $(BROKER_OBJECTS) \
		$(call group,$(SHARED_ARCHIVES)) $(BROKER_LIBS)

# Refuses a loader of another build. In every program that the loader becomes, or starts as a helper.
SAME_BUILD := $(BUILD)/obj/helper/build.o

# Whoever may run it: with root's rights it gives up all but looking.
$(OUT)/keyhole-check: $(CHECK_OBJECTS) $(SAME_BUILD) $(SHARED_ARCHIVES)
	$(call say,LINK)$(CC) $(LDFLAGS) -pie -o $@ $(CHECK_OBJECTS) $(SAME_BUILD) \
		$(call group,$(SHARED_ARCHIVES)) $(CHECK_LIBS)

EXPORTER_PARTS := $(BUILD)/obj/worker/exporter/main.o $(call archive,worker/exporter)
$(OUT)/keyhole-exporter: $(EXPORTER_PARTS) $(SHARED_ARCHIVES)
	$(call say,LINK)$(CC) $(LDFLAGS) $(CHILD_LINK) -o $@ \
		$(call group,$(EXPORTER_PARTS) $(SHARED_ARCHIVES)) $(EXPORTER_LIBS)

HELPERS := $(addprefix $(OUT)/keyhole-,audit ksyms options output policy)
$(HELPERS): $(OUT)/keyhole-%: $(BUILD)/obj/helper/%/main.o $(SAME_BUILD) $(BUILD)/lib/helper-%.a \
		$(call archive,helper) $(call archive,ipc) $(call archive,worker/base)
	$(call say,LINK)$(CC) $(LDFLAGS) $(CHILD_LINK) -o $@ $(call group,$^) $(HELPER_LIBS)

$(OUT)/keyhole-output: $(call archive,worker/dwarf)

REPORT_PARTS := $(BUILD)/obj/report/main.o $(SAME_BUILD) $(call archive,report) \
	$(call archive,worker/format) $(call archive,worker/profile) $(call archive,worker/base) \
	$(PROTO_ARCHIVE) $(call archive,ipc)
$(OUT)/keyhole-report: $(REPORT_PARTS)
	$(call say,LINK)$(CC) $(LDFLAGS) $(CHILD_LINK) -o $@ $(call group,$^) $(REPORT_LIBS)

TOP_PARTS := $(BUILD)/obj/top/main.o $(call archive,top) $(filter-out %/main.o,$(REPORT_PARTS)) \
	$(call archive,policy)
$(OUT)/keyhole-top: $(TOP_PARTS)
	$(call say,LINK)$(CC) $(LDFLAGS) $(CHILD_LINK) -o $@ $(call group,$^) $(REPORT_LIBS)

SYMBOLIZE_PARTS := $(BUILD)/obj/symbolize/main.o $(SAME_BUILD) $(foreach folder,symbolize report \
	worker/base worker/elf worker/dwarf worker/symbol worker/profile worker/format ipc,\
	$(call archive,$(folder))) $(PROTO_ARCHIVE)
$(OUT)/keyhole-symbolize: $(SYMBOLIZE_PARTS)
	$(call say,LINK)$(CC) $(LDFLAGS) $(CHILD_LINK) -o $@ $(call group,$^ $(SYMBOLIZE_LIBS))

WORKER_PARTS := $(BUILD)/obj/worker/main.o $(WORKER_ARCHIVES) $(PROTO_ARCHIVE)
$(OUT)/keyhole-worker: $(WORKER_PARTS) $(SHARED_ARCHIVES)
	$(call say,LINK)$(CC) $(LDFLAGS) $(CHILD_LINK) -o $@ \
		$(call group,$(WORKER_PARTS) $(SHARED_ARCHIVES) $(WORKER_LIBS))

# ---- tests ------------------------------------------------------------------------------------

# Every tests/<suite>/test_*.c is a program; the other .c files there and in tests/unit help them.
SUITES       := unit bpf privsep oracle
TEST_LIBS    := $(LOADER_LIBS) $(WORKER_LIBS) -lcrypto -lcmocka
test_sources  = $(sort $(wildcard tests/$(1)/test_*.c))
test_helpers  = $(filter-out $(call test_sources,$(1)),$(sort $(wildcard tests/$(1)/*.c)))
test_programs = $(patsubst %.c,$(BUILD)/%,$(call test_sources,$(1)))
FUZZERS       := $(patsubst %.c,$(BUILD)/%,$(sort $(wildcard tests/fuzz/fuzz_*.c)))
TEST_OBJECTS := $(foreach suite,$(SUITES),$(call objects,tests/$(suite)))
TEST_ARCHIVES := $(foreach suite,$(SUITES),$(call archive,tests/$(suite))) \
	$(BUILD)/lib/loader.a $(BUILD)/lib/broker.a $(BUILD)/lib/check.a $(call archive,worker/exporter) \
	$(call archive,helper/output) $(call archive,helper/ksyms) $(call archive,helper/options) \
	$(call archive,helper/audit) $(call archive,helper/policy) $(call archive,report) \
	$(call archive,top) $(call archive,symbolize) \
	$(WORKER_ARCHIVES) $(PROTO_ARCHIVE) $(SHARED_ARCHIVES)

define suite_rule
$(call archive,tests/$(1)): $(patsubst %.c,$(BUILD)/obj/%.o,$(call test_helpers,$(1)))
	$$(call say,AR)mkdir -p $$(@D) && rm -f $$@ && $(AR) rcs $$@ $$^
endef
$(foreach suite,$(SUITES),$(eval $(call suite_rule,$(suite))))

$(BUILD)/lib/loader.a: $(call not_main,$(LOADER_OBJECTS))
$(BUILD)/lib/broker.a: $(call not_main,$(BROKER_OBJECTS))
$(BUILD)/lib/check.a: $(call not_main,$(CHECK_OBJECTS))
$(BUILD)/lib/loader.a $(BUILD)/lib/broker.a $(BUILD)/lib/check.a:
	$(call say,AR)mkdir -p $(@D) && rm -f $@ && $(AR) rcs $@ $^

$(TEST_OBJECTS) $(call objects,tests/oracle): | $(PROTO_HEADERS)

$(BUILD)/tests/%: $(BUILD)/obj/tests/%.o $(TEST_ARCHIVES)
	$(call say,LINK)mkdir -p $(@D) && $(CC) $(LDFLAGS) -pie -o $@ $< \
		$(call group,$(TEST_ARCHIVES)) $(TEST_LIBS)

# Our tables beside those of libdw, and what reads debug information with it.
ORACLE := $(call test_programs,oracle)
DWARF  := $(addprefix $(BUILD)/tests/dwarf/,resolve profile)
$(ORACLE) $(DWARF) $(addprefix $(BUILD)/tests/unit/,test_lines test_debug): TEST_LIBS += -ldw

RUN := BUILD='$(BUILD)' CC='$(CC)' CLANG='$(CLANG)' CLANG_FORMAT='$(CLANG_FORMAT)' \
	LOADER='$(LOADER)' BROKER='$(BROKER)' SANITIZE='$(SANITIZE)' tests/run.sh

.PHONY: test-programs
test-programs: $(foreach suite,$(SUITES),$(call test_programs,$(suite))) $(ORACLE) $(FUZZERS)

CHECKS := check-unit check-bpf-host check-formats check-oracle check-dwarf check-lint
.PHONY: check $(CHECKS) check-root check-privsep check-e2e
check: all
	@rm -rf $(BUILD)/results
	@$(MAKE) -k $(CHECKS); r=$$?; \
		tests/total.sh $(BUILD)/results && exit $$r

# Programs that are not about time run beside each other.
BESIDE := JOBS=$$(nproc) $(RUN)

check-unit: $(call test_programs,unit)
	@$(BESIDE) unit $^

check-bpf-host: $(call test_programs,bpf)
	@$(BESIDE) bpf $^

MODEL_ARCHIVES := $(foreach folder,worker/format worker/profile worker/base,\
	$(call archive,$(folder))) $(PROTO_ARCHIVE)
$(BUILD)/page/make_page: $(BUILD)/obj/tests/page/make_page.o $(MODEL_ARCHIVES)
	$(call say,LINK)mkdir -p $(@D) && $(CC) $(LDFLAGS) -pie -o $@ $(call group,$^) -lprotobuf-c -lz

check-formats: $(MODEL_ARCHIVES) $(BUILD)/page/make_page
	@$(RUN) formats tests/e2e/pprof_readable.sh tests/formats/run.sh tests/page/page.py

# Inlined functions and lines beside what addr2line says, of programs built here.
check-dwarf: $(DWARF) $(EXECUTABLES)
	@$(BESIDE) dwarf tests/dwarf/addr2line.sh tests/dwarf/damaged.sh tests/dwarf/symbolize.sh

# Stacks that a test build captures on the running kernel: root, else a skip.
check-oracle: $(ORACLE) $(if $(filter 0,$(shell id -u)),capture-build workloads)
	@$(RUN) oracle tests/oracle/run.sh tests/oracle/names.sh tests/oracle/stacks.sh; r=$$?; \
		sed -n 's/^# |/ /p' $(BUILD)/results/oracle/stacks.tap; exit $$r

.PHONY: capture-build
capture-build:
	@$(MAKE) --no-print-directory BUILD=$(BUILD)/capture OBSERVER=tests/oracle/capture.bpf.h \
		LIMITS=tests/oracle/capture_limits.h all

check-lint: $(EXECUTABLES) $(PROTO_HEADERS) $(SKELETONS)
	@$(BESIDE) lint $(sort $(wildcard tests/lint/*.sh))

check-root: all
	@rm -rf $(BUILD)/results/privsep $(BUILD)/results/e2e
	@$(MAKE) -k check-privsep check-e2e

.PHONY: sabotage
sabotage: all
	@for layer in $(LAYERS); do $(MAKE) --no-print-directory SABOTAGE=$$layer all || exit; done

check-privsep: $(call test_programs,privsep) $(EXECUTABLES) $(if $(SANITIZE),,sabotage)
	@$(RUN) privsep $(call test_programs,privsep) $(sort $(wildcard tests/privsep/*.sh))

# Our programs, made to end at a moment (tests/e2e/restart.cases).
DOOMED      := $(addprefix $(BUILD)/doomed/,keyhole-worker keyhole-exporter keyhole-broker)
doomed_link  = $(CC) $(LDFLAGS) $(CHILD_LINK) $(foreach name,policy_confine channel_send_ready $(2), \
	-Wl,--wrap=$(name)) -o $@ $(call group,$(1) $(SHARED_ARCHIVES) $(3))
doomed_parts = $(patsubst %,$(BUILD)/obj/tests/e2e/doomed/%.o,doomed $(1))

$(BUILD)/doomed/keyhole-worker: $(call doomed_parts,worker) $(WORKER_PARTS) $(SHARED_ARCHIVES)
	$(call say,LINK)mkdir -p $(@D) && $(call doomed_link,$(call doomed_parts,worker) $(WORKER_PARTS), \
		regions_configure regions_add session_turn session_finish unwind_table_build \
		mmap,$(WORKER_LIBS))

$(BUILD)/doomed/keyhole-exporter: $(call doomed_parts,exporter) $(EXPORTER_PARTS) $(SHARED_ARCHIVES)
	$(call say,LINK)mkdir -p $(@D) && $(call doomed_link,$(call doomed_parts,exporter) \
		$(EXPORTER_PARTS),write,$(EXPORTER_LIBS))

$(BUILD)/doomed/keyhole-broker: $(call doomed_parts,broker) $(BROKER_OBJECTS) $(SHARED_ARCHIVES)
	$(call say,LINK)mkdir -p $(@D) && $(call doomed_link,$(call doomed_parts,broker) \
		$(BROKER_OBJECTS),poll, \
		$(BROKER_LIBS))

check-e2e: $(EXECUTABLES) $(MANIFEST) workloads duration-build tiny-builds $(DOOMED)
	@TEST_SECONDS=1800 $(RUN) e2e tests/e2e/run.sh

# Builds of which the loader alone is another one: folder, variables, folder of the other programs.
loader_build = $(MAKE) --no-print-directory BUILD=$(BUILD)/$(1) $(2) $(BUILD)/$(1)/keyhole && \
	for program in $(filter-out keyhole,$(notdir $(EXECUTABLES))); do \
		ln -sf $(3)/$$program $(BUILD)/$(1)/ || exit; \
	done

# How long each sample takes (tests/e2e/bounds.cases, make bench).
DURATION_BUILDS := duration duration-for
.PHONY: duration-build $(DURATION_BUILDS)
duration-build: $(DURATION_BUILDS)
$(DURATION_BUILDS): $(EXECUTABLES)
	@$(call loader_build,$@,OBSERVER=tests/bench/duration.bpf.h \
		BPF_OBJECT=$(if $(filter %-for,$@),for,loop),..)

# Before the cases of losses ask for them, when nothing is measured yet.
.PHONY: tiny-builds
tiny-builds: $(EXECUTABLES)
	@$(if $(SANITIZE),,sed -n 's/^\ttiny //p' tests/e2e/losses.cases | sort -u | \
		BUILD='$(BUILD)' xargs -L 1 tests/e2e/tiny/build.sh)

# Emulated kernels. What they run is of two builds with a larger walk budget, one for each object;
# of the second the loader alone is another one.
KERNEL_BUILDS := $(BUILD)/kernels/loop $(BUILD)/kernels/for
OBJECT_LOADER := $(BUILD)/tests/kernels/load_objects
$(OBJECT_LOADER): TEST_LIBS := -lbpf

.PHONY: kernel-builds check-kernels $(KERNEL_BUILDS)
$(BUILD)/kernels/loop:
	@$(MAKE) --no-print-directory BUILD=$@ LIMITS=tests/kernels/limits.h

$(BUILD)/kernels/for: $(BUILD)/kernels/loop
	@$(call loader_build,kernels/for,LIMITS=tests/kernels/limits.h BPF_OBJECT=for,../loop)

kernel-builds: $(KERNEL_BUILDS) $(OBJECT_LOADER)
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

# ---- escape suite ---------------------------------------------------------------------------------

# policy/ once more, with layers that can be left off, under the programs that try to get out.
ESCAPE         := $(BUILD)/escape
ESCAPE_POLICY  := $(patsubst policy/%.c,$(ESCAPE)/obj/policy/%.o,$(sort $(wildcard policy/*.c)))
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

$(ESCAPE)/test_%: $(BUILD)/obj/tests/escape/test_%.o $(BUILD)/obj/tests/escape/cell.o \
		$(BUILD)/obj/loader/spawner.o $(ESCAPE_PARTS)
	$(call say,LINK)mkdir -p $(@D) && $(CC) $(LDFLAGS) -pie -o $@ $(call group,$^) $(ESCAPE_LIBS)

# Beside the real programs.
ESCAPE_MALICIOUS := $(BUILD)/obj/tests/escape/malicious.o
$(BUILD)/test_peers: $(BUILD)/obj/tests/escape/test_peers.o $(BUILD)/obj/tests/escape/cell.o \
		$(ESCAPE_MALICIOUS) $(BUILD)/obj/loader/spawner.o $(ESCAPE_PARTS)
	$(call say,LINK)$(CC) $(LDFLAGS) -pie -o $@ $(call group,$^) $(ESCAPE_LIBS)

$(ESCAPE)/malicious_worker: $(BUILD)/obj/tests/escape/malicious_worker.o $(ESCAPE_MALICIOUS) \
		$(SHARED_ARCHIVES)
	$(call say,LINK)mkdir -p $(@D) && $(CC) $(LDFLAGS) $(CHILD_LINK) -o $@ \
		$(call group,$^) $(ESCAPE_LIBS)

.PHONY: check-escape
check-escape: $(EXECUTABLES) $(ESCAPE)/prisoner $(ESCAPE_PROGRAMS)
	@$(RUN) escape tests/escape/run.sh

# ---- hostile targets ------------------------------------------------------------------------------

# Longer than the others, and root's: not a part of check-root.
.PHONY: check-hostile
check-hostile: $(EXECUTABLES) workloads
	@$(MAKE) --no-print-directory -f tests/hostile/targets/targets.mk OUT=$(BUILD)/hostile V=$(V)
	@$(RUN) hostile tests/hostile/run.sh

# ---- evidence -------------------------------------------------------------------------------------

# What is claimed of the confinement beside what the suites that were run have shown.
# EVIDENCE_ALL=1 makes a claim whose tests were not run a failure.
.PHONY: evidence
evidence:
	@PYTHONDONTWRITEBYTECODE=1 tests/evidence/evidence.py $(BUILD)

.PHONY: figures
figures: $(EXECUTABLES)
	@BUILD='$(BUILD)' tests/evidence/figures.sh

# ---- soak -----------------------------------------------------------------------------------------

# An hour, so in no list; check-hostile has it for a minute.
export SOAK_SECONDS ?= 3600
.PHONY: soak
soak: $(EXECUTABLES) workloads
	@TEST_SECONDS=$$(($(SOAK_SECONDS) + 300)) $(RUN) soak tests/soak/growth.py tests/soak/soak.py; \
		r=$$?; sed -n 's/^# / /p' $(BUILD)/results/soak/*.tap; exit $$r

# ---- the systemd unit ------------------------------------------------------------------------------

.PHONY: check-systemd
check-systemd: $(EXECUTABLES) workloads
	@$(RUN) systemd tests/systemd/run.sh; r=$$?; \
		sed -n 's/^# |/ /p' $(BUILD)/results/systemd/run.tap; exit $$r

# ---- secrets of targets, addresses of the kernel --------------------------------------------------

# `leaky` is the control: its sampler tells what it must not (tests/canary/leak.bpf.h).
CANARY          := $(BUILD)/canary
CANARY_PROGRAMS := $(addprefix $(CANARY)/,target victim load search watch keyhole-worker)

$(CANARY)/target $(CANARY)/victim $(CANARY)/load: $(CANARY)/%: $(BUILD)/obj/tests/canary/%.o
	$(call say,LINK)mkdir -p $(@D) && $(CC) $(LDFLAGS) -pie -o $@ $^ -lpthread

$(CANARY)/search $(CANARY)/watch: $(CANARY)/%: $(BUILD)/obj/tests/canary/%.o \
		$(BUILD)/obj/tests/canary/place.o
	$(call say,LINK)mkdir -p $(@D) && $(CC) $(LDFLAGS) -pie -o $@ $^ -lpthread

$(CANARY)/keyhole-worker: $(BUILD)/obj/tests/canary/hostile_worker.o $(WORKER_ARCHIVES) \
		$(PROTO_ARCHIVE) $(SHARED_ARCHIVES)
	$(call say,LINK)mkdir -p $(@D) && $(CC) $(LDFLAGS) $(CHILD_LINK) -o $@ \
		$(call group,$^ $(WORKER_LIBS))

.PHONY: leaky-build check-canary
leaky-build: $(EXECUTABLES)
	@$(call loader_build,leaky,OBSERVER=tests/canary/leak.bpf.h,..)

check-canary: $(EXECUTABLES) $(CANARY_PROGRAMS) leaky-build
	@$(RUN) canary tests/canary/run.sh

# ---- fuzzers ----------------------------------------------------------------------------------

fuzz_objects  = $(patsubst $(BUILD)/obj/%,$(BUILD)/fuzz/obj/%,$(1))
FUZZ_OBJECTS := $(call fuzz_objects,$(call not_main,$(foreach folder,$(FOLDERS), \
	$(call objects,$(folder)))) $(PROTO_OBJECTS) $(call not_main,$(BROKER_OBJECTS)) \
	$(patsubst %,$(BUILD)/obj/loader/%.o,options helper spawner) $(BUILD)/obj/check/text.o \
	$(patsubst %.c,$(BUILD)/obj/%.o,$(foreach suite,unit bpf,$(call test_helpers,$(suite)))))
FUZZ_ARCHIVE := $(BUILD)/lib/fuzz.a

$(BUILD)/fuzz/obj/%.o: %.c
	$(call say,FUZZ-CC)mkdir -p $(@D) && $(CLANG) $(FUZZ_CFLAGS) -c -o $@ $<

$(BUILD)/fuzz/obj/proto/%.o: $(BUILD)/proto/%.c
	$(call say,FUZZ-CC)mkdir -p $(@D) && $(CLANG) $(FUZZ_CFLAGS) -Wno-error -c -o $@ $<

$(FUZZ_OBJECTS): | $(PROTO_HEADERS) $(PAGE_INC)
$(FUZZ_ARCHIVE): $(FUZZ_OBJECTS)
	$(call say,AR)mkdir -p $(@D) && rm -f $@ && $(AR) rcs $@ $^

$(BUILD)/tests/fuzz/%: $(BUILD)/fuzz/obj/tests/fuzz/%.o $(FUZZ_ARCHIVE)
	$(call say,FUZZ-LD)mkdir -p $(@D) && $(CLANG) -fsanitize=fuzzer,$(FUZZ_SANITIZERS) -pie \
		-o $@ $< $(call group,$(FUZZ_ARCHIVE)) $(WORKER_LIBS)

.PHONY: check-fuzz check-fuzz-smoke
check-fuzz: $(FUZZERS)
	@FUZZ_SECONDS=$(FUZZ_SECONDS) $(RUN) fuzz tests/fuzz/run.sh

check-fuzz-smoke: $(FUZZERS)
	@FUZZ_SECONDS=5 $(RUN) fuzz tests/fuzz/run.sh

# ---- everything else --------------------------------------------------------------------------

# All that is compiled for the suites, before one of them begins (contrib/try).
.PHONY: check-builds
check-builds: all test-programs workloads capture-build duration-build tiny-builds leaky-build \
	kernel-builds sabotage package other-version $(BUILD)/page/make_page $(DWARF) $(DOOMED) $(ESCAPE)/prisoner \
	$(ESCAPE_PROGRAMS) $(CANARY_PROGRAMS)

.PHONY: workloads bench install install-documents install-systemd package size legal format clean
workloads:
	@$(MAKE) --no-print-directory -f tests/e2e/workloads/workloads.mk OUT=$(BUILD)/workloads \
		V=$(V)

bench: all workloads duration-build
	@BUILD='$(BUILD)' tests/bench/bench.sh

install: all install-documents
	$(INSTALL_PROGRAM) -D -m 0755 $(BUILD)/keyhole '$(DESTDIR)$(bindir)/keyhole'
	install -d -m 0755 '$(DESTDIR)$(libexecdir)/keyhole'
	$(INSTALL_PROGRAM) -m 0755 $(filter-out %/keyhole,$(EXECUTABLES)) \
		'$(DESTDIR)$(libexecdir)/keyhole'
	cd '$(DESTDIR)$(libexecdir)/keyhole' && rm -f $(notdir $(MANIFEST)) && \
		(sha256sum keyhole-* && cd '$(DESTDIR)$(bindir)' && sha256sum keyhole) > .manifest && \
		chmod 0644 .manifest && mv .manifest $(notdir $(MANIFEST))

install-documents:
	for page in contrib/man/*; do \
		install -D -m 0644 $$page "$(DESTDIR)$(datadir)/man/man$${page##*.}/$${page##*/}" || \
			exit; \
	done
	install -D -m 0644 contrib/policy.conf \
		'$(DESTDIR)$(datadir)/doc/keyhole/examples/policy.conf'
	install -D -m 0644 contrib/completions/keyhole.bash \
		'$(DESTDIR)$(datadir)/bash-completion/completions/keyhole'
	install -D -m 0644 contrib/completions/_keyhole \
		'$(DESTDIR)$(datadir)/zsh/site-functions/_keyhole'
	install -D -m 0644 contrib/completions/keyhole.fish \
		'$(DESTDIR)$(datadir)/fish/vendor_completions.d/keyhole.fish'

# A .deb and an .rpm in $(BUILD)/package, of a build of its own: where programs are is compiled in.
package:
	@$(MAKE) --no-print-directory BUILD=$(BUILD)/package prefix=/usr all
	@rm -rf $(BUILD)/package/stage
	@$(MAKE) --no-print-directory -s BUILD=$(BUILD)/package prefix=/usr \
		INSTALL_PROGRAM='install -s' DESTDIR=$(abspath $(BUILD))/package/stage \
		install install-systemd
	@contrib/package/build $(BUILD)/package/stage $(BUILD)/package $(VERSION)

# Of another version, with which programs of this one do not run (tests/package/versions.sh).
.PHONY: other-version
other-version:
	@$(MAKE) --no-print-directory BUILD=$(BUILD)/other VERSION=$(VERSION)+other all

.PHONY: check-package
check-package: package other-version $(EXECUTABLES)
	@$(RUN) package tests/package/package.sh tests/package/versions.sh

# Beside an installed keyhole. The service runs the one of $(bindir).
install-systemd:
	install -d '$(DESTDIR)$(prefix)/lib/systemd/system'
	sed 's|^ExecStart=/usr/bin/|ExecStart=$(bindir)/|' contrib/systemd/keyhole.service \
		> '$(DESTDIR)$(prefix)/lib/systemd/system/keyhole.service'
	install -D -m 0644 contrib/systemd/keyhole.sysusers \
		'$(DESTDIR)$(prefix)/lib/sysusers.d/keyhole.conf'
	install -D -m 0644 contrib/systemd/keyhole.tmpfiles \
		'$(DESTDIR)$(prefix)/lib/tmpfiles.d/keyhole.conf'

size: all
	@BUILD='$(BUILD)' tests/lint/size.sh report

legal: all
	@BUILD='$(BUILD)' contrib/legal

format:
	@$(CLANG_FORMAT) -i $$(tests/lint/sources)

clean:
	rm -rf $(BUILD)

-include $(shell find $(BUILD) -name '*.d' -type f 2>/dev/null)
