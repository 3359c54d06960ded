#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# tests/runtimes/lua_layout.sh [write]: compares worker/runtime/lua_layout.def with the headers of the
# releases of Lua that Debian has as source packages. One TAP stream. `write` prints the rows instead.
# Packages stay in ${XDG_CACHE_HOME:-~/.cache}/keyhole/runtimes.

cd "$(dirname "$0")/../.." || exit 1
folder=${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/keyhole/runtimes/lua-source
mkdir -p "$folder" || exit 1
mirror=$(tests/kernels/mirror.sh)
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
	source=$(fetch "$1") && ${CC:-cc} -w -I"$source" -o "$folder/rows" "$folder/rows.c" && "$folder/rows" >"$folder/$1.rows"
}

rows_of_all() {
	local version pair
	for version in $columns; do
		rows "$version" || return
	done
	for pair in $same; do
		rows "${pair%=*}" && cmp "$folder/${pair%=*}.rows" "$folder/${pair#*=}.rows" || return
	done
	# shellcheck disable=SC2046,SC2086
	(cd "$folder" && paste -d ' ' $(printf '%s.rows ' $columns)) | awk '{
		printf "O(%s", $1
		for (i = 2; i <= NF; i += 2)
			printf ", %s", $i == 65535 ? "LUA_NONE" : $i
		print ")"
	}' >"$folder/layout"
}

if ! rows_of_all >"$folder/log" 2>&1; then
	grep -q 'curl:' "$folder/log" && reason="# SKIP $(tail -n 1 "$folder/log")"
	[ -n "$reason" ] && echo "ok 1 - offsets of Lua $reason" || { sed 's/^/# /' "$folder/log"; echo 'not ok 1 - offsets of Lua'; }
	echo 1..1
	[ -n "$reason" ]
	exit
fi
if [ "$1" = write ]; then
	cat "$folder/layout"
	exit
fi
if diff "$folder/layout" <(sed -n 's/[ \t]\+/ /g; /^O(/p' worker/runtime/lua_layout.def) >"$folder/log"; then
	echo 'ok 1 - offsets of Lua'
	echo 1..1
	exit
fi
sed 's/^/# /' "$folder/log"
echo 'not ok 1 - offsets of Lua'
echo 1..1
exit 1
