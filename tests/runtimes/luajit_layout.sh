#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# tests/runtimes/luajit_layout.sh [write]: compares worker/runtime/luajit_layout.def and luajit_events.def with the
# headers of the releases of LuaJIT that Debian has as source packages. One TAP stream. `write` prints the rows instead.
# Packages stay in ${XDG_CACHE_HOME:-~/.cache}/keyhole/runtimes.

cd "$(dirname "$0")/../.." || exit 1
folder=${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/keyhole/runtimes/luajit-headers
mkdir -p "$folder" || exit 1
mirror=$(tests/kernels/mirror.sh)
# shellcheck source=tests/runtimes/rows.sh
source tests/runtimes/rows.sh
columns='luajit_2.1.0~beta3+dfsg.orig.tar.gz luajit_2.1.0~beta3+git20220320+dfsg.orig.tar.gz
	luajit2_2.1-20230119.orig.tar.xz luajit_2.1.0+openresty20250117.orig.tar.xz'
# packages whose rows are equal
same=luajit_2.1.0+openresty20251030.orig.tar.xz=luajit_2.1.0+openresty20250117.orig.tar.xz
# Debian's patches of 2017, which the mirror has no longer: lua_close() of the package loads at 132, not 128
patched='shared_main shared_running'

cat >"$folder/rows.c" <<'END'
#include <stddef.h>
#include <stdio.h>
#include "lj_obj.h"
#include "lj_frame.h"
#include "lj_bc.h"
#include "lj_jit.h"
#include "lj_dispatch.h"
#include "lj_debug.h"
#define NONE 0xffff
#define ROW(name, value) printf("%s %ld\n", #name, (long)(value));
#define AT(name, type, field) ROW(name, offsetof(type, field))
#define SHARED(name, field) ROW(name, offsetof(GG_State, field) - offsetof(GG_State, g))
/* numbers that luajit.c, luajit_code.c and luajit_names.c have, of all versions */
_Static_assert(BC_MOV == 18 && BC_UGET == 45 && BC_GGET == 54 && BC_TGETS == 57 && BC_CALLM == 65 &&
	       BC_CALL == 66 && BC_JMP == 88 && BC_FUNCF == 89 && BC_JFUNCV == 94, "opcodes");
_Static_assert((int)~LJ_TSTR == 4 && (int)~LJ_TTHREAD == 6 && (int)~LJ_TPROTO == 7 && (int)~LJ_TFUNC == 8,
	       "types");
_Static_assert(VARNAME__MAX == 7 && REF_BIAS == 0x8000 && SNAP_FRAME == 0x10000, "traces");
_Static_assert(offsetof(GCfuncL, ffid) == offsetof(GCobj, gch.gct) + 1, "the kind follows the type");
int main(void)
{
	AT(state_shared, lua_State, glref)
	AT(state_base, lua_State, base)
	AT(state_stack, lua_State, stack)
	AT(state_native, lua_State, cframe)
	SHARED(shared_main, g.mainthref)
	SHARED(shared_panic, g.panic)
	SHARED(shared_trace_base, g.jit_base)
	SHARED(shared_running, g.vmstate)
	SHARED(shared_traces, J.trace)
	ROW(native_state, CFRAME_OFS_L)
	ROW(native_place, CFRAME_OFS_PC)
	ROW(native_previous, CFRAME_OFS_PREV)
	ROW(native_bytes, CFRAME_SIZE)
	ROW(reference_bytes, sizeof(GCRef))
	ROW(frame_slots, 1 + LJ_FR2)
	AT(object_type, GCobj, gch.gct)
	AT(function_place, GCfuncL, pc)
	ROW(code_bytes, sizeof(GCproto))
	AT(code_count, GCproto, sizebc)
	AT(code_constants, GCproto, k)
	AT(code_size, GCproto, sizept)
	AT(code_source, GCproto, chunkname)
	AT(code_first_line, GCproto, firstline)
	AT(code_lines_count, GCproto, numline)
	AT(code_lines, GCproto, lineinfo)
	AT(code_upvalues, GCproto, uvinfo)
	AT(code_variables, GCproto, varinfo)
	ROW(text_bytes, sizeof(GCstr))
	AT(trace_constants, GCtrace, ir)
	AT(trace_snapshots, GCtrace, snap)
	AT(trace_snapshots_count, GCtrace, nsnap)
	AT(trace_entries, GCtrace, snapmap)
	AT(trace_code, GCtrace, mcode)
	AT(trace_code_bytes, GCtrace, szmcode)
	ROW(snapshot_bytes, sizeof(SnapShot))
	AT(snapshot_first, SnapShot, mapofs)
	AT(snapshot_count, SnapShot, nent)
#ifdef HAS_CODE
	AT(snapshot_code, SnapShot, mcofs)
#else
	ROW(snapshot_code, NONE)
#endif
	return 0;
}
END

# Instructions that call metamethods: worker/runtime/luajit_events.def.
cat >"$folder/events.c" <<'END'
#include <stdio.h>
#include "lj_obj.h"
#include "lj_bc.h"
static const char *const names[] = {
#define NAME(name) #name,
	MMDEF(NAME)
	NULL
};
#define ROW(op, a, b, c, event) \
	if (MM_##event != MM____ && MM_##event != MM_call) \
		printf("E(\"%s\", %d) /* %s */\n", names[MM_##event], BC_##op, #op);
int main(void)
{
	BCDEF(ROW)
	return 0;
}
END

# fetch PACKAGE: prints the folder of the headers.
fetch() {
	local tree=$folder/${1%.orig*} options
	if [ ! -d "$tree" ]; then
		rm -rf "$tree.new" && mkdir -p "$tree.new" &&
			curl -sSfL --retry 3 "$mirror/pool/main/l/${1%%_*}/$1" -o "$tree.tar" || return 1
		# some packages have no folder around all files
		[[ $(tar tf "$tree.tar") = *$'\n'src/lua.h* ]] || options=--strip-components=1
		tar xf "$tree.tar" $options -C "$tree.new" && mv "$tree.new" "$tree" && rm "$tree.tar" || return 1
	fi
	echo "$tree/src"
}

rows() {	# PACKAGE
	local source has=
	source=$(fetch "$1") || return
	! grep -q mcofs "$source/lj_jit.h" || has=-DHAS_CODE
	${CC:-cc} -w $has -I"$source" -o "$folder/rows" "$folder/rows.c" && "$folder/rows" >"$folder/$1.rows" &&
		${CC:-cc} -w -I"$source" -o "$folder/events" "$folder/events.c" && "$folder/events" >"$folder/$1.events"
}

rows_of_all() {
	local package pair row
	for package in $columns; do
		rows "$package" && cp "$folder/$package.events" "$folder/calls" || return
	done
	for package in $columns; do
		cmp "$folder/$package.events" "$folder/calls" || return
	done
	for pair in $same; do
		rows "${pair%=*}" && cmp "$folder/${pair%=*}.rows" "$folder/${pair#*=}.rows" &&
			cmp "$folder/${pair%=*}.events" "$folder/calls" || return
	done
	for row in $patched; do
		awk -v row="$row" '{ print $1, $2 + ($1 == row ? 4 : 0) }' "$folder/${columns%% *}.rows" >"$folder/row" &&
			mv "$folder/row" "$folder/${columns%% *}.rows" || return
	done
	# shellcheck disable=SC2046,SC2086
	as_rows O LUAJIT_NONE 65535 $(printf '%s.rows ' $columns) >"$folder/layout"
}

conclude LuaJIT "$1" layout worker/runtime/luajit_layout.def calls worker/runtime/luajit_events.def
