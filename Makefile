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
LOADER := events helper kernel_symbols main monitor options programs replace rules spawner user
BROKER := answers limits main mounts

# A folder is one archive: a library, or a process less its main.o.
OBJECT_FOLDERS  := object/elf object/unwind object/symbol object/dwarf object/debug
PROFILE_FOLDERS := profile profile/format profile/read
WORKER_PARTS    := $(patsubst %/,%,$(sort $(dir $(wildcard worker/*/*.c))))
HELPERS         := audit kernel_symbols options output rules
VIEWS           := check report symbolize top
FOLDERS := base ipc policy $(OBJECT_FOLDERS) $(PROFILE_FOLDERS) worker $(WORKER_PARTS) exporter \
	helper $(HELPERS:%=helper/%) helper/debug_reader view $(VIEWS:%=view/%)

LOADER_OBJECTS := $(LOADER:%=$(BUILD)/obj/loader/%.o)
BROKER_OBJECTS := $(BROKER:%=$(BUILD)/obj/loader/broker/%.o)

place     = $(if $(filter policy,$(1)),$(OUT),$(BUILD))
archive   = $(place)/lib/$(subst /,-,$(1)).a
archives  = $(foreach folder,$(1),$(call archive,$(folder)))
objects   = $(patsubst %.c,$(place)/obj/%.o,$(sort $(wildcard $(1)/*.c)))
not_main  = $(filter-out %/main.o,$(1))
main      = $(BUILD)/obj/$(1)/main.o
group     = -Wl,--start-group $(1) -Wl,--end-group

SHARED_ARCHIVES := $(call archives,ipc policy)
MODEL_FOLDERS   := base profile profile/format profile/read
WORKER_ARCHIVES := $(call archives,base $(OBJECT_FOLDERS) profile profile/format worker $(WORKER_PARTS))

PROTO_SOURCES := $(patsubst %.proto,$(BUILD)/%.pb-c.c,$(wildcard proto/*.proto))
PROTO_HEADERS := $(PROTO_SOURCES:.c=.h)
PROTO_OBJECTS := $(PROTO_SOURCES:$(BUILD)/%.c=$(BUILD)/obj/%.o)
PROTO_ARCHIVE := $(BUILD)/lib/proto.a

SKELETONS := $(patsubst bpf/%.bpf.c,$(BUILD)/bpf/%.skel.h,$(wildcard bpf/*.bpf.c))

LOADER_LIBS    := -lbpf -lseccomp -lcap
BROKER_LIBS    := -lseccomp -lcap
EXPORTER_LIBS  := -lseccomp -lcap
HELPER_LIBS    := -lseccomp -lcap
VIEW_LIBS      := -lprotobuf-c -lz -lseccomp -lcap
CHECK_LIBS     := -lcrypto -lseccomp -lcap
READER_LIBS    := -ldw -lelf -lz -llzma -lbz2 -liberty -lseccomp -lcap -lpthread
WORKER_LIBS    := -lelf -lz -llzma -lprotobuf-c -liberty -levent_core -lseccomp -lcap -lpthread

EXECUTABLES := $(addprefix $(OUT)/,keyhole keyhole-audit keyhole-broker keyhole-check \
	keyhole-debug-reader keyhole-exporter keyhole-kernel-symbols keyhole-options keyhole-output keyhole-rules \
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

# The page of profile/format/html.c in one piece, as bytes for a C array. Its policy allows what has
# these hashes alone: of all that is between the tags.
PAGE         := profile/format/page
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

$(LOADER_OBJECTS) $(call objects,view/check): | $(SKELETONS)
$(call objects,view/check): CFLAGS += -DKEYHOLE_BINDIR='"$(bindir)"' -DKEYHOLE_PROGRAMS='"$(notdir $(EXECUTABLES))"'
$(call main,view/top): CFLAGS += -DKEYHOLE_BINDIR='"$(bindir)"'
$(call objects,profile/format): | $(PROTO_HEADERS) $(PAGE_INC)

# ---- link -------------------------------------------------------------------------------------

$(OUT)/keyhole: $(LOADER_OBJECTS) $(SHARED_ARCHIVES)
	$(call say,LINK)$(CC) $(LDFLAGS) -pie -o $@ $(LOADER_OBJECTS) \
		$(call group,$(SHARED_ARCHIVES)) $(LOADER_LIBS)

$(OUT)/keyhole-broker: $(BROKER_OBJECTS) $(SHARED_ARCHIVES)
	$(call say,LINK)$(CC) $(LDFLAGS) $(CHILD_LINK) -o $@ $(BROKER_OBJECTS) \
		$(call group,$(SHARED_ARCHIVES)) $(BROKER_LIBS)

# Refuses a loader of another build. In every program that the loader becomes, or starts as a helper.
SAME_BUILD := $(BUILD)/obj/ipc/same_build.o

EXPORTER_PARTS := $(call main,exporter) $(call archive,exporter)
$(OUT)/keyhole-exporter: $(EXPORTER_PARTS) $(SHARED_ARCHIVES)
	$(call say,LINK)$(CC) $(LDFLAGS) $(CHILD_LINK) -o $@ $(call group,$^) $(EXPORTER_LIBS)

WORKER_LINK := $(call main,worker) $(WORKER_ARCHIVES) $(PROTO_ARCHIVE)
$(OUT)/keyhole-worker: $(WORKER_LINK) $(SHARED_ARCHIVES)
	$(call say,LINK)$(CC) $(LDFLAGS) $(CHILD_LINK) -o $@ $(call group,$^ $(WORKER_LIBS))

# Folder helper/kernel_symbols is program keyhole-kernel-symbols.
define helper_rule
$(OUT)/keyhole-$(subst _,-,$(1)): $(call main,helper/$(1)) $(SAME_BUILD) \
		$(call archives,helper/$(1) helper ipc base)
	$$(call say,LINK)$$(CC) $$(LDFLAGS) $$(CHILD_LINK) -o $$@ $$(call group,$$^) $$(HELPER_LIBS)
endef
$(foreach helper,$(HELPERS),$(eval $(call helper_rule,$(helper))))
$(OUT)/keyhole-output: $(call archives,object/debug object/dwarf)

# Whoever may run it: with root's rights it gives up all but looking.
$(OUT)/keyhole-check: $(call main,view/check) $(call archive,view/check) $(SAME_BUILD) $(SHARED_ARCHIVES)
	$(call say,LINK)$(CC) $(LDFLAGS) -pie -o $@ $(call group,$^) $(CHECK_LIBS)

VIEW_PARTS := $(SAME_BUILD) $(call archives,view $(MODEL_FOLDERS) ipc) $(PROTO_ARCHIVE)
$(OUT)/keyhole-report: $(call main,view/report) $(call archive,view/report) $(VIEW_PARTS)
	$(call say,LINK)$(CC) $(LDFLAGS) $(CHILD_LINK) -o $@ $(call group,$^) $(VIEW_LIBS)

$(OUT)/keyhole-top: $(call main,view/top) $(call archives,view/top policy) $(VIEW_PARTS)
	$(call say,LINK)$(CC) $(LDFLAGS) $(CHILD_LINK) -o $@ $(call group,$^) $(VIEW_LIBS)

$(OUT)/keyhole-symbolize: $(call main,view/symbolize) \
		$(call archives,view/symbolize object/debug object/dwarf) $(VIEW_PARTS)
	$(call say,LINK)$(CC) $(LDFLAGS) $(CHILD_LINK) -o $@ $(call group,$^) $(VIEW_LIBS)

# Started by keyhole-output and keyhole-symbolize, for one object each time.
$(OUT)/keyhole-debug-reader: $(call main,helper/debug_reader) $(call archives,helper/debug_reader \
		object/debug object/dwarf object/elf object/symbol view base ipc)
	$(call say,LINK)$(CC) $(LDFLAGS) $(CHILD_LINK) -o $@ $(call group,$^ $(READER_LIBS))

include tests/tests.mk

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
