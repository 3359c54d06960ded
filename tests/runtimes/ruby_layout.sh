#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# tests/runtimes/ruby_layout.sh [write]: compares worker/runtime/ruby_layout.def with the sources of Debian's packages
# of Ruby, and with those of ruby_of_tree in install.sh that are there. One TAP stream. `write` prints the rows instead.
# Packages and sources stay in ${XDG_CACHE_HOME:-~/.cache}/keyhole/runtimes, beside those of install.sh.

cd "$(dirname "$0")/../.." || exit 1
cache=${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/keyhole/runtimes
export LC_ALL=C
# shellcheck source=tests/runtimes/install.sh
source tests/runtimes/install.sh "$cache"
# shellcheck source=tests/runtimes/rows.sh
source tests/runtimes/rows.sh
folder=$cache/ruby-layouts
mkdir -p "$folder" || exit 1

cat >"$folder/rows.c" <<'END'
#include "ruby/config.h"
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include "ruby/version.h"
#include "ruby/encoding.h"
#include "vm_core.h"
#include "iseq.h"
#include CLASSES
#include "method.h"
#include "symbol.h"
#if RUBY_API_VERSION_CODE >= 40000
#include "symbols.h"
#endif
#define ROW(name, value) printf("%s %ld\n", #name, (long)(value));
#define AT(name, type, field) ROW(name, offsetof(type, field))
#define NOT(name) ROW(name, 65535)
typedef struct rb_iseq_constant_body body;
/* numbers that bpf/abi.h, bpf/walk/control.bpf.h, ruby.c and ruby_code.c have, of all versions */
_Static_assert(VM_FRAME_MAGIC_CFUNC == 0x55550001 && VM_FRAME_MAGIC_IFUNC == 0x66660001, "kinds");
_Static_assert(VM_FRAME_MAGIC_MASK == 0x7fff0001 && VM_FRAME_FLAG_FINISH == 0x20, "flags");
_Static_assert(VM_ENV_FLAG_LOCAL == 2 && VM_ENV_DATA_INDEX_FLAGS == 0, "environments");
_Static_assert(VM_ENV_DATA_INDEX_ME_CREF == -2 && VM_ENV_DATA_INDEX_SPECVAL == -1, "environments");
_Static_assert(ISEQ_TYPE_EVAL == 6, "code");
_Static_assert(T_CLASS == 2 && T_MODULE == 3 && T_STRING == 5 && T_ARRAY == 7 && T_IMEMO == 0x1a, "types");
_Static_assert(imemo_svar == 2 && imemo_ment == 6 && imemo_iseq == 7 && FL_USHIFT == 12, "types");
_Static_assert(RSTRING_NOEMBED == 1 << 13 && RARRAY_EMBED_FLAG == 1 << 13, "flags");
_Static_assert(offsetof(struct RArray, as.ary) == 16 && offsetof(struct RArray, as.heap.ptr) == 32, "arrays");
_Static_assert(offsetof(struct RString, as.heap.ptr) == 24, "texts");
_Static_assert(offsetof(rb_symbols_t, ids) == 16, "names");
_Static_assert(offsetof(rb_execution_context_t, vm_stack) == 0, "contexts");
_Static_assert(offsetof(rb_execution_context_t, vm_stack_size) == 8, "contexts");
_Static_assert(sizeof(((body *)0)->location.first_lineno) == LINE_BYTES, "lines");

#if RUBY_API_VERSION_CODE >= 30400
/* Prints where a flag is. */
static void flag(void)
{
	rb_classext_t class;
	unsigned int words[sizeof(class) / 4];

	memset(&class, 0, sizeof(class));
	class.permanent_classpath = 1;
	memcpy(words, &class, sizeof(words));
	for (size_t i = 0; i < sizeof(words) / 4; i++)
		if (words[i]) {
			ROW(class_flags, sizeof(struct RClass) + i * 4)
			ROW(class_lasting, words[i])
		}
}
#endif

int main(void)
{
	AT(context_frame, rb_execution_context_t, cfp)
	AT(context_thread, rb_execution_context_t, thread_ptr)
#if RUBY_API_VERSION_CODE < 30000
	AT(thread_id, rb_thread_t, thread_id)
#else
	NOT(thread_id)
#endif
	ROW(frame_bytes, sizeof(rb_control_frame_t))
	AT(frame_place, rb_control_frame_t, pc)
	AT(frame_code, rb_control_frame_t, iseq)
	AT(frame_environment, rb_control_frame_t, ep)
	AT(object_code, rb_iseq_t, body)
	AT(code_type, body, type)
	AT(code_count, body, iseq_size)
	AT(code_instructions, body, iseq_encoded)
	AT(code_path, body, location.pathobj)
	AT(code_label, body, location.label)
	AT(code_first_line, body, location.first_lineno)
	ROW(code_line_bytes, sizeof(((body *)0)->location.first_lineno))
#if RUBY_API_VERSION_CODE >= 30400
	AT(code_parent, body, parent_iseq)
#else
	NOT(code_parent)
#endif
	AT(code_lines, body, insns_info.body)
	AT(code_line_table, body, insns_info.succ_index_table)
	AT(code_line_count, body, insns_info.size)
	ROW(line_bytes, sizeof(struct iseq_insn_info_entry))
	AT(line_number, struct iseq_insn_info_entry, line_no)
	AT(text_data, struct RString, TEXT)
	AT(method_definition, rb_method_entry_t, def)
	AT(method_owner, rb_method_entry_t, owner)
	AT(definition_name, struct rb_method_definition_struct, original_id)
	ROW(operators, tLAST_OP_ID)
#if RUBY_API_VERSION_CODE >= 30400
	ROW(class_name, sizeof(struct RClass) + offsetof(rb_classext_t, classpath))
	ROW(class_object, sizeof(struct RClass) + offsetof(rb_classext_t, as.singleton_class.attached_object))
	flag();
	ROW(class_single, FL_SINGLETON)
#else
	NOT(class_name) NOT(class_object) NOT(class_flags) NOT(class_lasting) NOT(class_single)
#endif
	return 0;
}
END

# sources VERSION SUITE SOURCE: sets `paths`, or `reason`
sources() {
	local at headers
	if [ "$2" = - ]; then
		folder=$cache ruby_of_tree "$1" || return
		at=$cache/ruby-source-$1/src
		headers=$(echo "$at"/.ext/include/x86_64-linux*)
	else
		ruby "$1" "$2" || { echo "E: $reason"; return 1; }
		at=$folder/ruby-$3
		headers=$(echo "$tree"/usr/include/x86_64-linux-gnu/ruby-*)
		if [ ! -e "$at/vm_core.h" ]; then
			curl -sSfL "$mirror/pool/main/r/ruby$1/ruby${1}_$3.orig.tar.xz" | tar xJ -C "$folder" || return
		fi
	fi
	# no header has it from 4.0 on
	sed -n '/^typedef struct {/,/^} rb_symbols_t;/p' "$at/symbol.c" >"$folder/symbols.h"
	paths="-I$headers -I$at -I$at/include -I$at/prism -I$folder"
}

rows_of_all() {
	local row version suite source defines paths files=() column=0
	while read -r version suite source defines; do
		column=$((column + 1))
		files+=("$version.rows")
		if sources "$version" "$suite" "$source"; then
			# shellcheck disable=SC2086
			${CC:-cc} -w $paths $defines -o "$folder/rows" "$folder/rows.c" || return
			"$folder/rows" >"$folder/$version.rows" || return
		elif [ "$suite" = - ]; then
			of_def worker/runtime/ruby_layout.def $column RUBY_NONE 65535 >"$folder/$version.rows"
			lacks "$version" "$reason"
		else
			return 1
		fi
	done <<<"$ruby_sources"
	as_rows O RUBY_NONE 65535 "${files[@]}" >"$folder/layout"
}

conclude Ruby "$1" layout worker/runtime/ruby_layout.def
