# SPDX-License-Identifier: Apache-2.0
#
# Names the objects of a variant and compiles them; the Makefile includes this file if VARIANT is set.

ifeq ($(wildcard $(BUILD)/$(notdir $(MANIFEST))),)
$(error a variant takes objects from $(BUILD); run: make BUILD=$(BUILD))
endif
made_of          = $(if $(strip $(1)),$(patsubst %.d,%.o,$(shell cd $(BUILD) && \
	grep -rlwF --include='*.d' $(addprefix -e ,$(1)) obj bpf)))
PRODUCT_FOLDERS := bpf loader $(sort $(foreach folder,$(FOLDERS),$(firstword $(subst /, ,$(folder)))))

# VARIED_NAMES: macros whose values differ. VARIED_FILES: files that mention such a macro, or differ
# themselves. VARIED: what is made of these files, as the compiler wrote into the .d files of $(BUILD).
VARIED_NAMES := $(if $(LIMITS),$(shell sed -nE 's/^.define ([A-Z_0-9]+)[ \t].*/\1/p' $(LIMITS))) \
	$(SABOTAGE:%=POLICY_SABOTAGE) $(OBSERVER:%=OBSERVER)
VARIED_FILES := $(if $(strip $(VARIED_NAMES)),$(shell grep -rlwF --include='*.[ch]' \
	--include='*.def' $(VARIED_NAMES:%=-e %) $(PRODUCT_FOLDERS))) \
	$(foreach name,$(GENERATED),$(shell $(call is_file,$(name),$(BUILD)/generated/$(name).h) || \
		echo generated/$(name).h))
VARIED_BPF   := $(filter bpf/%,$(call made_of,$(VARIED_FILES)))
VARIED_BPF   += $(VARIED_BPF:.bpf.o=.skel.h) $(if $(filter-out loop,$(BPF_OBJECT)),bpf/walk_loop.skel.h)
VARIED       := $(filter generated/%,$(VARIED_FILES)) $(VARIED_BPF) \
	$(call made_of,$(VARIED_FILES) $(filter %.skel.h,$(VARIED_BPF)))

OPTIMISE      ?= -O1	# nothing measures how fast these programs are
VARIANT_FLAGS := -iquote . -iquote $(OUT) $(LIMITS:%=-include %) \
	$(SABOTAGE:%=-DPOLICY_SABOTAGE=LAYER_%) $(OBSERVER:%=-DOBSERVER='"%"')

$(OUT)/obj/%.o: %.c $(BUILD)/flags | $(HEADERS) $(SKELETONS)
	$(call compile,$(VARIANT_FLAGS))

$(OUT)/bpf/%.bpf.o: bpf/%.bpf.c
	$(call compile_bpf,$(VARIANT_FLAGS))

$(OUT)/bpf/%.skel.h: $(OUT)/bpf/%.bpf.o
	$(call skeleton,$*)
$(OUT)/bpf/walk_loop.skel.h: $(call place,bpf/walk_$(BPF_OBJECT).bpf.o)
	$(call skeleton,walk_loop)
