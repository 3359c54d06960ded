#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# tests/runtimes/perl_layout.sh [write]: compares worker/runtime/perl_layout.def with the headers of Debian's packages
# of Perl, and the numbers of perl_layout.c with them. The headers have to give the same rows without threads, but for
# those of an interpreter, which is none there. One TAP stream. `write` prints the rows instead.
# No Debian suite has Perl 5.34 and 5.38. They are compared where perl_of_tree of install.sh finds a tree of Perl's
# repository, with the headers that builds with threads and without have. Without a tree they are skipped.
# Packages and sources stay in ${XDG_CACHE_HOME:-~/.cache}/keyhole/runtimes, beside those of install.sh.

cd "$(dirname "$0")/../.." || exit 1
cache=${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/keyhole/runtimes
export LC_ALL=C
# shellcheck source=tests/runtimes/install.sh
source tests/runtimes/install.sh "$cache"
# shellcheck source=tests/runtimes/rows.sh
source tests/runtimes/rows.sh
folder=$cache/perl-layouts
mkdir -p "$folder" || exit 1

cat >"$folder/rows.c" <<'END'
#define PERL_NO_GET_CONTEXT
#include "EXTERN.h"
#include "perl.h"
#include <stddef.h>
#undef printf
#undef fprintf
#undef stderr
#include <stdio.h>
#define ROW(name, value) printf("%s %ld\n", #name, (long)(value));
#define AT(name, type, field) ROW(name, offsetof(type, field))
/* numbers that bpf/walk/scopes.bpf.h and perl_code.c have, of all versions */
_Static_assert(CXt_NULL == 0 && CXt_BLOCK == 2 && CXt_SUB == 9 && CXt_FORMAT == 10 && CXt_EVAL == 11, "contexts");
_Static_assert(CXTYPEMASK == 15 && CXp_SUB_RE_FAKE == 0x80 && CXp_TRYBLOCK == 0x40, "flags of contexts");
#ifdef CXp_TRY
_Static_assert(CXp_TRY == 0x80, "flags of contexts");
#endif
#ifdef CXt_DEFER
_Static_assert(CXt_DEFER == 13, "contexts");
#endif
_Static_assert(CVf_NAMED == 0x8000 && CVf_LEXICAL == 0x10000, "flags of functions");
_Static_assert(SVt_PVGV == 9 && SVt_PVCV == 13 && SVt_PVFM == 14 && SVTYPEMASK == 0xff, "types");
_Static_assert(offsetof(SV, sv_any) == 0 && offsetof(SV, sv_flags) == 12 && offsetof(SV, sv_u) == 16, "heads");
_Static_assert(offsetof(HEK, hek_len) == 4 && offsetof(HEK, hek_key) == 8, "texts");
_Static_assert(sizeof(((OP *)0)->op_next) == 8 && offsetof(OP, op_next) == 0, "operations");
#if defined(DEBUGGING) || defined(USE_QUADMATH) || defined(USE_LONG_DOUBLE)
#error "another layout"
#endif
int main(void)
{
	OP op;
	U16 kind;

#ifdef USE_ITHREADS
	AT(interpreter_statement, PerlInterpreter, Icurcop)
	AT(interpreter_stack, PerlInterpreter, Icurstackinfo)
	AT(interpreter_operation, PerlInterpreter, Iop)
#endif
	AT(stack_contexts, PERL_SI, si_cxstack)
	AT(stack_last, PERL_SI, si_cxix)
	AT(stack_previous, PERL_SI, si_prev)
	ROW(context_bytes, sizeof(PERL_CONTEXT))
	AT(context_type, PERL_CONTEXT, cx_u.cx_blk.blku_type)
	AT(context_statement, PERL_CONTEXT, cx_u.cx_blk.blku_oldcop)
	AT(context_return, PERL_CONTEXT, cx_u.cx_blk.blk_u.blku_sub.retop)
	AT(context_function, PERL_CONTEXT, cx_u.cx_blk.blk_u.blku_sub.cv)
	AT(statement_line, COP, cop_line)
#ifdef USE_ITHREADS
	AT(statement_file, COP, cop_file)
#else
	AT(statement_file, COP, cop_filegv)
#endif
	Zero(&op, 1, OP);
	op.op_type = 1;
	for (kind = 0; kind < sizeof(op) && ((char *)&op)[kind] != 1; kind++)
		;
	ROW(operation_type, kind)
	ROW(operation_statement, OP_NEXTSTATE)
	ROW(operation_debugged, OP_DBSTATE)
	ROW(operation_eval, OP_ENTEREVAL)
	ROW(operation_try, OP_ENTERTRY)
	AT(function_package, XPVCV, xcv_stash)
	AT(function_start, XPVCV, xcv_start_u)
	AT(function_root, XPVCV, xcv_root_u)
	AT(function_name, XPVCV, xcv_gv_u)
	AT(function_file, XPVCV, xcv_file)
	AT(function_flags, XPVCV, xcv_flags)
	AT(name_text, XPVGV, xiv_u)
	AT(name_package, XPVGV, xnv_u)
	AT(name_other, GP, gp_egv)
	AT(package_last, XPVHV, xhv_max)
#if PERL_VERSION >= 36
	AT(package_more, struct xpvhv_with_aux, xhv_aux)
#else
	ROW(package_more, 0)
#endif
	AT(package_name, struct xpvhv_aux, xhv_name_u)
	AT(package_names, struct xpvhv_aux, xhv_name_count)
#ifdef USE_ITHREADS
	fprintf(stderr, "{VERSION(%du, %du), %ldu},\n", PERL_REVISION, PERL_VERSION, (long)sizeof(PerlInterpreter));
#endif
	return 0;
}
END

# -w: the headers have warnings
options='-O2 -w -fwrapv -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -DPERL_CORE'

# undefine HEADERS: makes a copy of headers that is without threads
undefine() {
	rm -rf "$folder/single" && cp -r "$1" "$folder/single" &&
		printf '#undef %s\n' USE_THREADS USE_ITHREADS MULTIPLICITY PERL_IMPLICIT_CONTEXT >>"$folder/single/config.h"
}

# installed_headers: prints where a build of perl_of_tree has them
installed_headers() {
	"$tree/bin/perl" -MConfig -e 'print "$Config{archlibexp}/CORE"'
}

# headers VERSION SUITE: sets `threads` and `single`, the headers of both builds, or `reason`
headers() {
	if [ "$2" != - ]; then
		perl_of "$2" || return
		threads=$tree/usr/lib/x86_64-linux-gnu/perl/$1/CORE single=$folder/single
		undefine "$threads"
		return
	fi
	folder=$cache perl_of_tree "$1" threads || return
	threads=$(installed_headers)
	folder=$cache perl_of_tree "$1" single || return
	single=$(installed_headers)
}

# rows_of HEADERS: prints the rows
rows_of() {
	# shellcheck disable=SC2086
	${CC:-cc} $options -I"$1" -o "$folder/rows" "$folder/rows.c" && "$folder/rows"
}

rows_of_all() {
	local pair version suite threads single files=() column=0
	: >"$folder/columns"
	for pair in $perls; do
		version=${pair%=*} suite=${pair#*=} column=$((column + 1))
		files+=("$version.rows")
		if headers "$version" "$suite"; then
			rows_of "$threads" >"$folder/$version.rows" 2>>"$folder/columns" || return
			# those of a build without threads are the others
			rows_of "$single" | diff - <(grep -v '^interpreter_' "$folder/$version.rows") || return
		elif [ "$suite" = - ]; then
			of_def worker/runtime/perl_layout.def $column PERL_NONE 65535 >"$folder/$version.rows"
			lacks "$version" "$reason"
		else
			echo "E: $reason"
			return 1
		fi
	done
	as_rows O PERL_NONE 65535 "${files[@]}" >"$folder/layout"
	while read -r pair; do
		grep -qF "$pair" worker/runtime/perl_layout.c || { echo "perl_layout.c lacks $pair"; return 1; }
	done <"$folder/columns"
}

conclude Perl "$1" layout worker/runtime/perl_layout.def
