# SPDX-License-Identifier: Apache-2.0
#
# Programs to be profiled, compiled as a distribution would: -O2, no frame pointers. The flags in
# the variables below are a part of the tests.

OUT  ?= build/workloads
HERE := $(dir $(lastword $(MAKEFILE_LIST)))
ifeq ($(origin CC),default)
CC := gcc
endif
ifeq ($(origin CXX),default)
CXX := g++
endif
MAKEFLAGS += --no-builtin-rules
.DELETE_ON_ERROR:

C_PROGRAMS   := accounted waits recursion bigframe frames signals threads2000 short exec_a exec_b spin other \
	memfd forkserver execs dlopen libraries jit jit_frames paths become happenings bpfspin publish
CXX_PROGRAMS := mixed
TRACED_LIBRARIES := $(addprefix traced_,gnu2.so gnu2_room.so gnu.so gnu_room.so initial.so)
PLAIN        := -O2 -g0 -fomit-frame-pointer -fno-optimize-sibling-calls -Wall -Wextra

.PHONY: all
all: $(addprefix $(OUT)/,$(C_PROGRAMS) $(CXX_PROGRAMS) framepointer debugframe plugin.so nss_probe.so coldstack traced $(TRACED_LIBRARIES))

ifneq ($(V),1)
Q := @
endif

$(addprefix $(OUT)/,$(C_PROGRAMS)): $(OUT)/%: $(HERE)%.c $(wildcard $(HERE)*.h)
	$(Q)mkdir -p $(@D) && $(CC) -std=gnu11 -D_GNU_SOURCE $(PLAIN) -o $@ $< -lpthread -ldl

$(OUT)/mixed: $(HERE)mixed.cpp
	$(Q)mkdir -p $(@D) && $(CXX) -std=gnu++17 $(PLAIN) -o $@ $< -lpthread

# No unwind information at all: only the frame pointer leads out of these functions.
$(OUT)/framepointer: $(HERE)framepointer.c $(HERE)framepointer_code.c $(HERE)work.h
	$(Q)mkdir -p $(@D) && $(CC) -std=gnu11 -D_GNU_SOURCE -O2 -g0 -fno-omit-frame-pointer \
		-fno-optimize-sibling-calls -fno-asynchronous-unwind-tables -fno-unwind-tables \
		-fno-stack-protector -fcf-protection=none -c -o $@.code.o $(HERE)framepointer_code.c
	$(Q)$(CC) -std=gnu11 -D_GNU_SOURCE $(PLAIN) -o $@ $(HERE)framepointer.c $@.code.o

# Unwind information in .debug_frame alone, and no frame pointers.
$(OUT)/debugframe: $(HERE)debugframe.c $(HERE)work.h
	$(Q)mkdir -p $(@D) && $(CC) -std=gnu11 -D_GNU_SOURCE -O2 -g -gz=none -fomit-frame-pointer \
		-fno-optimize-sibling-calls -fno-asynchronous-unwind-tables -fno-unwind-tables \
		-o $@ $<

$(OUT)/plugin.so: $(HERE)plugin.c $(HERE)work.h
	$(Q)mkdir -p $(@D) && $(CC) -std=gnu11 -D_GNU_SOURCE $(PLAIN) -fPIC -shared -o $@ $<

$(OUT)/nss_probe.so: $(HERE)nss_probe.c
	$(Q)mkdir -p $(@D) && $(CC) -std=gnu11 -D_GNU_SOURCE $(PLAIN) -fPIC -shared -o $@ $<

# Beside it 500 objects, which differ in their build id: coldstack_objects.py replaces this one.
$(OUT)/coldstack: $(HERE)coldstack.c $(HERE)coldstack_object.S $(HERE)coldstack_objects.py $(HERE)work.h
	$(Q)mkdir -p $(@D) && $(CC) -shared -nostdlib -s -o $@.so $(HERE)coldstack_object.S \
		-Wl,--build-id=0x00112233445566778899aabbccddeeff00112233
	$(Q)python3 $(HERE)coldstack_objects.py $@.so $@.objects 500
	$(Q)$(CC) -std=gnu11 -D_GNU_SOURCE $(PLAIN) -o $@ $< -ldl

# A thread-local variable for others to read, in the ways in which compilers reach it.
$(OUT)/traced: $(HERE)traced.c $(HERE)traced_slot.c $(HERE)traced_slot.h $(HERE)work.h
	$(Q)mkdir -p $(@D) && $(CC) -std=gnu11 -D_GNU_SOURCE $(PLAIN) -o $@ $(HERE)traced.c $(HERE)traced_slot.c \
		-Wl,--export-dynamic-symbol=otel_thread_ctx_v1 -lpthread -ldl

$(OUT)/traced_gnu2.so:      TLS := -mtls-dialect=gnu2
$(OUT)/traced_gnu2_room.so: TLS := -mtls-dialect=gnu2 -DTRACED_ROOM=65536
$(OUT)/traced_gnu.so:       TLS := -mtls-dialect=gnu
$(OUT)/traced_gnu_room.so:  TLS := -mtls-dialect=gnu -DTRACED_ROOM=65536
$(OUT)/traced_initial.so:   TLS := -ftls-model=initial-exec
$(addprefix $(OUT)/,$(TRACED_LIBRARIES)): $(HERE)traced_slot.c $(HERE)traced_slot.h
	$(Q)mkdir -p $(@D) && $(CC) -std=gnu11 -D_GNU_SOURCE $(PLAIN) $(TLS) -fPIC -shared -o $@ $<
