# SPDX-License-Identifier: Apache-2.0
#
# make, make check, make check-root, make check-all, make package, make install DESTDIR=, make bench;
# tests/README.md lists the suites.
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

# VARIANT=name: programs in $(BUILD)/name that differ in one of these variables. A variant compiles
# the sources that read what differs and takes all other objects from $(BUILD), so `make all` comes first.
#   LIMITS=header     other values of the limits that sources define under #ifndef
#   SABOTAGE=layer    one layer of policy/layers.def is left off; the programs must refuse to sample
#   OBSERVER=header   functions that see each sample (bpf/sample.bpf.h)
#   BPF_OBJECT=for    the object of old kernels in place of the object of new ones
#   VERSION, prefix   what generated/ has of them
VARIANT    ?=
LIMITS     ?=
SABOTAGE   ?=
OBSERVER   ?=
BPF_OBJECT ?= loop
OUT        := $(BUILD)$(VARIANT:%=/%)

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
LOADER := accounts chance cpus equip events export helper kernel_symbols link main map_memory map_share monitor off_cpu options priority programs recording replace rules \
	sampling spawner start starts status user zones
BROKER := answers charges code_file context entries environment grant grant_table limits main mapped maps_line mountinfo mounts thread verdicts

# A folder is one archive: a library, or a process less its main.o.
OBJECT_FOLDERS  := object/elf object/unwind object/symbol object/dwarf object/debug
PROFILE_FOLDERS := profile profile/format profile/read
WORKER_PARTS    := $(patsubst %/,%,$(sort $(dir $(wildcard worker/*/*.c))))
EXPORTER_FOLDERS := $(patsubst %/,%,$(sort $(dir $(wildcard exporter/*/*.c))))
HELPERS         := audit connector kernel_symbols options output rules
VIEWS           := check report symbolize top
FOLDERS := base ipc policy $(OBJECT_FOLDERS) $(PROFILE_FOLDERS) worker $(WORKER_PARTS) exporter \
	$(EXPORTER_FOLDERS) \
	$(HELPERS:%=helper/%) helper/debug_reader view $(VIEWS:%=view/%)

EXECUTABLES := $(addprefix $(OUT)/,keyhole keyhole-audit keyhole-broker keyhole-check \
	keyhole-connector keyhole-debug-reader keyhole-exporter keyhole-kernel-symbols keyhole-options keyhole-output \
	keyhole-report keyhole-rules keyhole-symbolize keyhole-top keyhole-worker)
MANIFEST    := $(OUT)/keyhole-programs.sha256

# ---- what may differ in a variant -------------------------------------------------------------

# Sources include generated/version.h and generated/install.h.
GENERATED     := version install
version_lines := '\#define KEYHOLE_VERSION "$(VERSION)"'
install_lines := '\#define KEYHOLE_BINDIR "$(bindir)"' \
	'\#define KEYHOLE_LIBEXECDIR "$(libexecdir)/keyhole"' \
	'\#define KEYHOLE_PROGRAMS "$(notdir $(EXECUTABLES))"'
is_file        = printf '%s\n' $($(1)_lines) | cmp -s - $(2)

# Where a file below the build is: in the variant's folder, if it is one of those that vary.
place      = $(if $(filter $(1),$(VARIED)),$(OUT),$(BUILD))/$(1)
object     = $(call place,obj/$(1).o)
HEADERS    = $(foreach header,$(GENERATED:%=generated/%.h),$(call place,$(header)))
SKELETONS  = $(foreach source,$(wildcard bpf/*.bpf.c),$(call place,$(source:.bpf.c=.skel.h)))

ifneq ($(VARIANT),)
include tests/variants.mk
endif

# ---- objects, archives, programs --------------------------------------------------------------

LOADER_OBJECTS := $(foreach name,$(LOADER),$(call object,loader/$(name)))
BROKER_OBJECTS := $(foreach name,$(BROKER),$(call object,loader/broker/$(name)))

objects   = $(foreach source,$(sort $(wildcard $(1)/*.c)),$(call object,$(source:.c=)))
not_main  = $(filter-out %/main.o,$(1))
main      = $(call object,$(1)/main)
archive   = $(if $(filter $(patsubst %.c,obj/%.o,$(wildcard $(1)/*.c)),$(VARIED)),$(OUT),$(BUILD))/$\
	lib/$(subst /,-,$(1)).a
archives  = $(foreach folder,$(1),$(call archive,$(folder)))
group     = -Wl,--start-group $(1) -Wl,--end-group

PROTO_SOURCES := $(patsubst %.proto,$(BUILD)/%.pb-c.c,$(wildcard proto/*.proto))
PROTO_HEADERS := $(PROTO_SOURCES:.c=.h)
PROTO_OBJECTS := $(PROTO_SOURCES:$(BUILD)/%.c=$(BUILD)/obj/%.o)
PROTO_ARCHIVE := $(BUILD)/lib/proto.a

SHARED_ARCHIVES := $(call archives,ipc policy)
MODEL_FOLDERS   := base profile profile/format profile/read
WORKER_ARCHIVES := $(call archives,base $(OBJECT_FOLDERS) profile profile/format worker $(WORKER_PARTS))

# Refuses a loader of another build. In every program that the loader becomes, or starts as a helper.
SAME_BUILD := $(call object,ipc/same_build)
VIEW_PARTS := $(SAME_BUILD) $(call archives,view $(MODEL_FOLDERS)) $(SHARED_ARCHIVES) $(PROTO_ARCHIVE)

CONFINED_LIBS  := -lseccomp -lcap
LOADER_LIBS    := -lbpf $(CONFINED_LIBS)
BROKER_LIBS    := $(CONFINED_LIBS)
NETWORK_LIBS   := -lnghttp2 -lssl -lcrypto -lzstd -lz
EXPORTER_LIBS  := -levent_core $(NETWORK_LIBS) $(CONFINED_LIBS) $(foreach name,dlopen gethostbyname \
	getnameinfo,-Wl,--wrap=$(name))
HELPER_LIBS    := $(CONFINED_LIBS)
VIEW_LIBS      := -lprotobuf-c -lz $(CONFINED_LIBS)
TOP_LIBS       := -levent_core $(VIEW_LIBS)
CHECK_LIBS     := $(CONFINED_LIBS)
READER_LIBS    := -ldw -lelf -lz -llzma -lbz2 -liberty $(CONFINED_LIBS) -lpthread
WORKER_LIBS    := -lelf -lz -llzma -lprotobuf-c -liberty -levent_core $(CONFINED_LIBS) -lpthread

EXPORTER_PARTS := $(call main,exporter) $(call archives,exporter $(EXPORTER_FOLDERS) base)
WORKER_LINK    := $(call main,worker) $(WORKER_ARCHIVES) $(PROTO_ARCHIVE)

# ---- flags ------------------------------------------------------------------------------------

WARNINGS := -Wall -Wextra -Werror -Wshadow -Wmissing-prototypes -Wstrict-prototypes -Wvla \
	-Wold-style-definition -Wwrite-strings -Wundef
INCLUDES := -iquote . -iquote $(BUILD)
OPTIMISE ?= -O2 -g
COMMON   := -std=gnu11 $(INCLUDES) -D_GNU_SOURCE -ffile-prefix-map=$(CURDIR)=. -MMD -MP

HARDEN  := -fPIE -fstack-protector-strong -fstack-clash-protection
LDFLAGS += -Wl,-z,relro,-z,now,-z,noexecstack
LOADER_LINK := -pie
ifeq ($(SANITIZE),)
HARDEN      += -D_FORTIFY_SOURCE=2
# A static program reaches no NSS: the C library's warning of a look-up that would load modules ends
# the link. libevent_core refers to four functions that nothing calls: policy/resolver.c has them.
CHILD_LINK  := -static-pie -Wl,--fatal-warnings $(foreach name,getaddrinfo freeaddrinfo \
	getservbyname getprotobynumber,-Wl,--wrap=$(name))
else
HARDEN      += -fsanitize=$(SANITIZE) -fno-sanitize-recover=all -fno-omit-frame-pointer
LDFLAGS     += -fsanitize=$(SANITIZE)
CHILD_LINK  := -pie
endif
ALL_CFLAGS = $(COMMON) $(OPTIMISE) $(HARDEN) $(WARNINGS) $(CFLAGS)

# Without columns, and with one line for an inlined call: the kernel checks and keeps each line number.
BPF_CFLAGS := -O2 -g -gno-column-info -gno-inline-line-tables -target bpf -mcpu=v3 -D__TARGET_ARCH_$(BPF_ARCH) $(INCLUDES) \
	-I/usr/include/$(MACHINE)-linux-gnu -Wall -Wextra -Werror -Wno-unused-function \
	-Wno-unused-parameter -ffile-prefix-map=$(CURDIR)=. -MMD -MP

FUZZ_SANITIZERS := address,undefined
FUZZ_OPTIMISE ?= -O1 -g
FUZZ_CFLAGS := $(COMMON) $(FUZZ_OPTIMISE) -fPIE -fsanitize=fuzzer-no-link,$(FUZZ_SANITIZERS) \
	-fno-sanitize-recover=all -fno-omit-frame-pointer $(WARNINGS)

# Manual pages and completions: templates, filled in with the rows of the options.def files.
PAGES       := $(patsubst contrib/%,$(BUILD)/documents/%,$(wildcard contrib/man/*))
COMPLETIONS := $(patsubst contrib/%,$(BUILD)/documents/%,$(wildcard contrib/completions/*))
DOCUMENTS   := $(PAGES) $(COMPLETIONS)

.PHONY: all recording
all: $(EXECUTABLES) $(MANIFEST) $(DOCUMENTS)
	@:

# The programs that `keyhole record` starts, for the variants that do nothing but record.
recording: $(addprefix $(OUT)/,keyhole keyhole-audit keyhole-broker keyhole-debug-reader \
	keyhole-exporter keyhole-kernel-symbols keyhole-options keyhole-output keyhole-worker)
	@:

# keyhole check compares the programs with this list.
$(MANIFEST): $(EXECUTABLES)
	@cd $(OUT) && sha256sum $(notdir $^) > $(@F)

# Objects are rebuilt when the compiler or a flag changes.
keep_flags = @mkdir -p $(@D) && { printf '%s\n' '$(subst ','\'',$(1))' | cmp -s - $@ || \
	printf '%s\n' '$(subst ','\'',$(1))' > $@; }
$(BUILD)/flags: $(if $(VARIANT),,FORCE)
	$(call keep_flags,$(CC) $(ALL_CFLAGS))
.PHONY: FORCE
FORCE:

# ---- compile ----------------------------------------------------------------------------------

compile     = $(call say,CC)mkdir -p $(@D) && $(CC) $(1) $(ALL_CFLAGS) -c -o $@ $<
compile_bpf = $(call say,BPF)mkdir -p $(@D) && $(CLANG) $(1) $(BPF_CFLAGS) -c -o $@ $< && \
	$(LLVM_STRIP) -g $@
skeleton    = $(call say,SKELETON)mkdir -p $(@D) && $(BPFTOOL) gen skeleton $< name $(1)_bpf > $@

$(BUILD)/obj/%.o: %.c $(BUILD)/flags | $(HEADERS)
	$(call compile)

$(BUILD)/obj/proto/%.o: $(BUILD)/proto/%.c $(BUILD)/flags
	$(call say,CC)mkdir -p $(@D) && $(CC) $(COMMON) $(OPTIMISE) $(HARDEN) -c -o $@ $<

$(BUILD)/proto/%.pb-c.c $(BUILD)/proto/%.pb-c.h: proto/%.proto
	$(call say,PROTOC)mkdir -p $(BUILD) && $(PROTOC_C) --c_out=$(BUILD) $<

$(BUILD)/bpf/%.bpf.o: bpf/%.bpf.c
	$(call compile_bpf)

$(BUILD)/bpf/%.skel.h: $(BUILD)/bpf/%.bpf.o
	$(call skeleton,$*)

$(HEADERS): FORCE
	@mkdir -p $(@D)
	@$(call is_file,$(basename $(@F)),$@) || printf '%s\n' $($(basename $(@F))_lines) > $@

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
$(call objects,profile/format): | $(PROTO_HEADERS) $(PAGE_INC)

# ---- link -------------------------------------------------------------------------------------

# In a variant, a program without an object that varies is the program of $(BUILD).
define program_rule
$(OUT)/$(1): $(2)
	$$(call say,LINK)$$(if $$(if $(VARIANT),$$(filter $(OUT)/%,$$^),yes),$$(call link,$(3),$(4)), \
		mkdir -p $$(@D) && ln -f $(BUILD)/$(1) $$@)
endef
link    = mkdir -p $(@D) && $(CC) $(LDFLAGS) $($(1)) -o $@ $(call group,$^ $($(2)))
program = $(eval $(call program_rule,$(1),$(2),$(3),$(4)))

#               name, objects and archives, kind of link, libraries
$(call program,keyhole,$(LOADER_OBJECTS) $(SHARED_ARCHIVES),LOADER_LINK,LOADER_LIBS)
$(call program,keyhole-broker,$(BROKER_OBJECTS) $(SHARED_ARCHIVES),CHILD_LINK,BROKER_LIBS)
$(call program,keyhole-exporter,$(EXPORTER_PARTS) $(SHARED_ARCHIVES),CHILD_LINK,EXPORTER_LIBS)
$(call program,keyhole-worker,$(WORKER_LINK) $(SHARED_ARCHIVES),CHILD_LINK,WORKER_LIBS)

# Folder helper/kernel_symbols is program keyhole-kernel-symbols.
$(foreach helper,$(filter-out connector,$(HELPERS)),$(call program,keyhole-$(subst _,-,$(helper)),$(call main,helper/$(helper)) \
	$(SAME_BUILD) $(call archives,helper/$(helper) base) $(SHARED_ARCHIVES),CHILD_LINK,HELPER_LIBS))
$(OUT)/keyhole-output: $(call archives,object/debug object/dwarf)

# The C library loads modules to look a name up, which no static program can.
$(call program,keyhole-connector,$(call main,helper/connector) $(SAME_BUILD) \
	$(call archives,helper/connector base) $(SHARED_ARCHIVES),LOADER_LINK,HELPER_LIBS)

# keyhole-output and keyhole-symbolize start it, for one object each time.
$(call program,keyhole-debug-reader,$(call main,helper/debug_reader) $(call archives,helper/debug_reader \
	object/debug object/dwarf object/elf object/symbol base) $(SHARED_ARCHIVES),CHILD_LINK,READER_LIBS)

# keyhole-check runs as anybody: with root's rights it gives up all but looking.
$(call program,keyhole-check,$(call main,view/check) $(call archives,view/check base) $(SAME_BUILD) \
	$(SHARED_ARCHIVES),LOADER_LINK,CHECK_LIBS)
$(call program,keyhole-report,$(call main,view/report) $(call archive,view/report) $(VIEW_PARTS),CHILD_LINK,VIEW_LIBS)
$(call program,keyhole-top,$(call main,view/top) $(call archive,view/top) $(VIEW_PARTS),CHILD_LINK,TOP_LIBS)
$(call program,keyhole-symbolize,$(call main,view/symbolize) \
	$(call archives,view/symbolize object/debug object/dwarf) $(VIEW_PARTS),CHILD_LINK,VIEW_LIBS)

# ---- documents --------------------------------------------------------------------------------

DOCUMENT_MAKER := $(BUILD)/documents/make
$(DOCUMENT_MAKER): $(call objects,contrib/documents) $(call archives,base ipc)
	$(call say,LINK)mkdir -p $(@D) && $(CC) $(LDFLAGS) -pie -o $@ $(call group,$^)

$(DOCUMENTS): $(BUILD)/documents/%: contrib/% $(DOCUMENT_MAKER)
	$(call say,DOCUMENT)mkdir -p $(@D) && $(DOCUMENT_MAKER) < $< > $@

include tests/tests.mk

# ---- everything else --------------------------------------------------------------------------

.PHONY: install install-documents install-systemd package size legal format clean
install: all install-documents
	$(INSTALL_PROGRAM) -D -m 0755 $(OUT)/keyhole '$(DESTDIR)$(bindir)/keyhole'
	install -d -m 0755 '$(DESTDIR)$(libexecdir)/keyhole'
	$(INSTALL_PROGRAM) -m 0755 $(filter-out %/keyhole,$(EXECUTABLES)) \
		'$(DESTDIR)$(libexecdir)/keyhole'
	cd '$(DESTDIR)$(libexecdir)/keyhole' && rm -f $(notdir $(MANIFEST)) && \
		(sha256sum keyhole-* && cd '$(DESTDIR)$(bindir)' && sha256sum keyhole) > .manifest && \
		chmod 0644 .manifest && mv .manifest $(notdir $(MANIFEST))

install-documents: $(DOCUMENTS)
	for page in $(PAGES); do \
		install -D -m 0644 $$page "$(DESTDIR)$(datadir)/man/man$${page##*.}/$${page##*/}" || \
			exit; \
	done
	for example in policy.conf agent.conf; do \
		install -D -m 0644 contrib/$$example \
			'$(DESTDIR)$(datadir)/doc/keyhole/examples/'$$example || exit; \
	done
	install -D -m 0644 contrib/alerts/keyhole.rules.yml \
		'$(DESTDIR)$(datadir)/doc/keyhole/examples/keyhole.rules.yml'
	install -D -m 0644 $(BUILD)/documents/completions/keyhole.bash \
		'$(DESTDIR)$(datadir)/bash-completion/completions/keyhole'
	install -D -m 0644 $(BUILD)/documents/completions/_keyhole \
		'$(DESTDIR)$(datadir)/zsh/site-functions/_keyhole'
	install -D -m 0644 $(BUILD)/documents/completions/keyhole.fish \
		'$(DESTDIR)$(datadir)/fish/vendor_completions.d/keyhole.fish'

variant = $(MAKE) --no-print-directory VARIANT=$(1) $(2)

# A .deb and an .rpm in $(BUILD)/package, of a variant: where programs are is compiled in.
package: all
	+@$(call variant,package,prefix=/usr all)
	@rm -rf $(BUILD)/package/stage
	+@$(call variant,package,-s prefix=/usr INSTALL_PROGRAM='install -s' \
		DESTDIR=$(abspath $(BUILD))/package/stage install install-systemd)
	@contrib/package/build $(BUILD)/package/stage $(BUILD)/package $(VERSION)

# Programs of another version, which do not run with programs of this one (tests/package/versions.sh).
.PHONY: other-version
other-version: all
	+@$(call variant,other,VERSION=$(VERSION)+other all)

# Beside an installed keyhole. The service runs the one of $(bindir).
install-systemd:
	install -d '$(DESTDIR)$(prefix)/lib/systemd/system'
	for unit in keyhole.service keyhole-connector.socket keyhole-connector@.service; do \
		sed -E 's|^(Exec[A-Za-z]*=)/usr/bin/keyhole |\1$(bindir)/keyhole |; s|=/usr/libexec/|=$(libexecdir)/|' \
			contrib/systemd/$$unit > '$(DESTDIR)$(prefix)/lib/systemd/system/'$$unit || exit; \
	done
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
