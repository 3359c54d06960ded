# SPDX-License-Identifier: Apache-2.0
#
# Programs that do their worst to a profiler. The code of body.so runs inside damaged files.

OUT  ?= build/hostile
HERE := $(dir $(lastword $(MAKEFILE_LIST)))
ifeq ($(origin CC),default)
CC := gcc
endif
MAKEFLAGS += --no-builtin-rules
.DELETE_ON_ERROR:

PROGRAMS := mapflood deepstack fuse manymounts memory runner pidreuse names race rootless
FLAGS    := -std=gnu11 -D_GNU_SOURCE -O2 -g0 -fomit-frame-pointer -fno-optimize-sibling-calls -Wall -Wextra -Werror

.PHONY: all
all: $(addprefix $(OUT)/,$(PROGRAMS) body.so scribble.so)

ifneq ($(V),1)
Q := @
endif

$(addprefix $(OUT)/,$(PROGRAMS)): $(OUT)/%: $(HERE)%.c $(wildcard $(HERE)*.h)
	$(Q)mkdir -p $(@D) && $(CC) $(FLAGS) -iquote $(HERE)../../.. -o $@ $< -lpthread

# Its functions are bound at once: what a later binding reads may be changed by then.
$(OUT)/scribble.so: $(HERE)scribble.c $(wildcard $(HERE)*.h)
	$(Q)mkdir -p $(@D) && $(CC) $(FLAGS) -fPIC -shared -Wl,-z,now -iquote $(HERE)../../.. -o $@ $< -lpthread

# Without a call or a relocation in its text: it runs wherever its bytes are mapped.
$(OUT)/body.so: $(HERE)body.c
	$(Q)mkdir -p $(@D) && $(CC) $(FLAGS) -fPIC -shared -nostdlib -Wl,--build-id -Wl,--hash-style=gnu \
		-fcf-protection=none -o $@ $<
