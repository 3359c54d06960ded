#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# tests/runtimes/lua_layout.sh [write]: compares worker/runtime/lua_layout.def and lua_events.def with the headers
# of the releases of Lua that Debian has as source packages. One TAP stream. `write` prints the rows instead.
# Packages stay in ${XDG_CACHE_HOME:-~/.cache}/keyhole/runtimes.

cd "$(dirname "$0")/../.." || exit 1
folder=${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/keyhole/runtimes/lua-source
mkdir -p "$folder" || exit 1
mirror=$(tests/kernels/mirror.sh)
# shellcheck source=tests/runtimes/rows.sh
source tests/runtimes/rows.sh
columns='5.1.5 5.2.4 5.3.6 5.4.2 5.4.7 5.5.1'
same='5.3.3=5.3.6 5.4.4=5.4.7 5.4.9=5.4.7'	# releases whose rows are equal

cat >"$folder/rows.c" <<'END'
#include <stddef.h>
#include <stdio.h>
#include "lua.h"
#include "lobject.h"
#include "lstate.h"
#define NONE 0xffff
#define ROW(name, value) printf("%s %ld\n", #name, (long)(value));
#define AT(name, type, field) ROW(name, offsetof(type, field))
int main(void)
{
	AT(state_shared, lua_State, l_G)
	AT(state_frame, lua_State, ci)
	AT(state_handler, lua_State, errorJmp)
#if LUA_VERSION_NUM == 501
	AT(state_place, lua_State, savedpc)
	AT(state_end, lua_State, base_ci)
#else
	ROW(state_place, NONE)
	ROW(state_end, NONE)
#endif
#if LUA_VERSION_NUM == 505
	AT(shared_main, global_State, mainth.l)
#else
	AT(shared_main, global_State, mainthread)
#endif
	ROW(frame_bytes, sizeof(CallInfo))
	AT(frame_function, CallInfo, func)
#if LUA_VERSION_NUM == 501
	ROW(frame_previous, NONE)
	AT(frame_place, CallInfo, savedpc)
	AT(frame_tail_calls, CallInfo, tailcalls)
	ROW(frame_status, NONE)
#else
	AT(frame_previous, CallInfo, previous)
	AT(frame_place, CallInfo, u.l.savedpc)
	ROW(frame_tail_calls, NONE)
	AT(frame_status, CallInfo, callstatus)
#endif
	AT(closure_code, LClosure, p)
	AT(code_instructions, Proto, code)
	AT(code_count, Proto, sizecode)
	AT(code_lines, Proto, lineinfo)
	AT(code_lines_count, Proto, sizelineinfo)
#if LUA_VERSION_NUM >= 504
	AT(code_anchors, Proto, abslineinfo)
	AT(code_anchors_count, Proto, sizeabslineinfo)
#else
	ROW(code_anchors, NONE)
	ROW(code_anchors_count, NONE)
#endif
	AT(code_constants, Proto, k)
	AT(code_upvalues, Proto, upvalues)
#if LUA_VERSION_NUM == 501
	ROW(code_upvalue_bytes, sizeof(TString *))
#else
	ROW(code_upvalue_bytes, sizeof(Upvaldesc))
#endif
	AT(code_variables, Proto, locvars)
	AT(code_variables_count, Proto, sizelocvars)
	AT(code_source, Proto, source)
	AT(code_first_line, Proto, linedefined)
	AT(code_last_line, Proto, lastlinedefined)
	ROW(code_type, LUA_TPROTO)
	return 0;
}
END

# Instructions that call metamethods: name and opcode, in the order of worker/runtime/lua_events.def.
cat >"$folder/events.c" <<'END'
#include <stdio.h>
#include "lua.h"
#include "lobject.h"
#include "lopcodes.h"
#define NONE 0xff
#define ROW(name, op, value) printf("\"%s\"/*%s*/ %d\n", name, #op, (int)(value));
#define HAS(name, op) ROW(name, op, OP_##op)
#define LACKS(name, op) ROW(name, op, NONE)
#if LUA_VERSION_NUM >= 503
#define HAS_3 HAS
#else
#define HAS_3 LACKS
#endif
#if LUA_VERSION_NUM >= 504
#define HAS_4 HAS
#define UNTIL_3 LACKS
#else
#define HAS_4 LACKS
#define UNTIL_3 HAS
#endif
#if LUA_VERSION_NUM != 503
#define UNTIL_3_BITS LACKS
#else
#define UNTIL_3_BITS HAS
#endif
#if LUA_VERSION_NUM == 504 && LUA_VERSION_RELEASE_NUM <= 50402
#define COMPARES LACKS
#define COMPARES_4 LACKS
#define ORDERS HAS
#else
#define COMPARES HAS
#define COMPARES_4 HAS_4
#define ORDERS LACKS
#endif
int main(void)
{
	HAS("index", GETTABUP) HAS("index", GETTABLE) HAS_4("index", GETI) HAS_4("index", GETFIELD)
	HAS("index", SELF) HAS("newindex", SETTABUP) HAS("newindex", SETTABLE)
	HAS_4("newindex", SETI) HAS_4("newindex", SETFIELD)
	UNTIL_3("add", ADD) UNTIL_3("sub", SUB) UNTIL_3("mul", MUL) UNTIL_3("div", DIV)
	UNTIL_3("mod", MOD) UNTIL_3("pow", POW) UNTIL_3_BITS("idiv", IDIV) UNTIL_3_BITS("band", BAND)
	UNTIL_3_BITS("bor", BOR) UNTIL_3_BITS("bxor", BXOR) UNTIL_3_BITS("shl", SHL)
	UNTIL_3_BITS("shr", SHR) HAS("unm", UNM) HAS_3("bnot", BNOT) HAS("len", LEN)
	HAS("concat", CONCAT) HAS("eq", EQ) COMPARES("lt", LT) COMPARES("le", LE)
	COMPARES_4("lt", LTI) COMPARES_4("le", LEI) COMPARES_4("lt", GTI) COMPARES_4("le", GEI)
	ORDERS("order", LT) ORDERS("order", LE) ORDERS("order", LTI) ORDERS("order", LEI)
	HAS_4("close", CLOSE) HAS_4("close", RETURN)
	return 0;
}
END

# fetch VERSION: prints the folder of the headers.
fetch() {
	local name=lua${1%.*} tree=$folder/lua-$1
	if [ ! -d "$tree" ]; then
		mkdir -p "$tree.new" && curl -sSfL "$mirror/pool/main/l/$name/${name}_$1.orig.tar.gz" |
			tar xz --strip-components=1 -C "$tree.new" && mv "$tree.new" "$tree" || return 1
	fi
	echo "$tree/src"
}

rows() {	# VERSION
	local source
	source=$(fetch "$1") && ${CC:-cc} -w -I"$source" -o "$folder/rows" "$folder/rows.c" &&
		"$folder/rows" >"$folder/$1.rows" || return
	[[ $1 != 5.1.* ]] || return 0	# names no metamethod
	${CC:-cc} -w -I"$source" -o "$folder/events" "$folder/events.c" && "$folder/events" >"$folder/$1.events"
}

rows_of_all() {
	local version pair
	for version in $columns; do
		rows "$version" || return
	done
	for pair in $same; do
		rows "${pair%=*}" && cmp "$folder/${pair%=*}.rows" "$folder/${pair#*=}.rows" &&
			cmp "$folder/${pair%=*}.events" "$folder/${pair#*=}.events" || return
	done
	# shellcheck disable=SC2046,SC2086
	as_rows O LUA_NONE 65535 $(printf '%s.rows ' $columns) >"$folder/layout"
	# shellcheck disable=SC2046,SC2086
	as_rows E NONE 255 $(printf '%s.events ' ${columns#5.1.5}) >"$folder/calls"
}

conclude Lua "$1" layout worker/runtime/lua_layout.def calls worker/runtime/lua_events.def
