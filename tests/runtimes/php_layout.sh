#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# tests/runtimes/php_layout.sh [write]: compares worker/runtime/php_layout.def with the headers of Debian's packages
# of PHP, and php_versions.def with them. The columns of versions without such a package stay as they are. One TAP
# stream. `write` prints the rows instead.
# Packages stay in ${XDG_CACHE_HOME:-~/.cache}/keyhole/runtimes, beside those of install.sh.

cd "$(dirname "$0")/../.." || exit 1
cache=${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/keyhole/runtimes
export LC_ALL=C
# shellcheck source=tests/runtimes/install.sh
source tests/runtimes/install.sh "$cache"
# shellcheck source=tests/runtimes/rows.sh
source tests/runtimes/rows.sh
folder=$cache/php-layouts
mkdir -p "$folder" || exit 1

cat >"$folder/rows.c" <<'END'
#include <stddef.h>
#include <stdio.h>
#include "php.h"
#include "zend_generators.h"
#define ROW(name, value) printf("%s %ld\n", #name, (long)(value));
#define AT(name, type, field) ROW(name, offsetof(type, field))
/* numbers that php.c and php_code.c have, of all versions */
_Static_assert(ZEND_INTERNAL_FUNCTION == 1 && ZEND_USER_FUNCTION == 2 && ZEND_EVAL_CODE == 4, "types");
_Static_assert(ZEND_CALL_TOP == 1 << 17, "borders");
#if ZTS || ZEND_DEBUG
#error "another layout"
#endif
int main(void)
{
	AT(globals_frame, zend_executor_globals, current_execute_data)
	AT(frame_place, zend_execute_data, opline)
	AT(frame_result, zend_execute_data, return_value)
	AT(frame_function, zend_execute_data, func)
	AT(frame_object, zend_execute_data, This)
	AT(frame_info, zend_execute_data, This.u1.type_info)
	AT(frame_previous, zend_execute_data, prev_execute_data)
	ROW(frame_bytes, sizeof(zend_execute_data))
	AT(function_type, zend_op_array, type)
	AT(function_name, zend_op_array, function_name)
	AT(function_class, zend_op_array, scope)
	AT(code_count, zend_op_array, last)
	AT(code_instructions, zend_op_array, opcodes)
	AT(code_file, zend_op_array, filename)
	AT(code_first_line, zend_op_array, line_start)
	AT(code_last_line, zend_op_array, line_end)
	AT(class_name, zend_class_entry, name)
	AT(text_size, zend_string, len)
	AT(text_data, zend_string, val)
	AT(instruction_line, zend_op, lineno)
	ROW(instruction_bytes, sizeof(zend_op))
	AT(generator_frame, zend_generator, execute_data)
	AT(generator_waiting_count, zend_generator, node.children)
#if PHP_VERSION_ID < 80000
	AT(generator_waiting, zend_generator, node.child.single.child)
#else
	AT(generator_waiting, zend_generator, node.child.single)
#endif
	AT(generator_placeholder, zend_generator, execute_fake)
	fprintf(stderr, "V(%du, %du, %du)\n", ZEND_MODULE_API_NO, PHP_MAJOR_VERSION, PHP_MINOR_VERSION);
	return 0;
}
END

rows_of_all() {
	local pair version headers paths files=() column=0
	: >"$folder/columns"
	for pair in $(printf '%s\n' $phps $phps_of_npm | sort); do
		version=${pair%=*} column=$((column + 1))
		files+=("$version.rows")
		if [[ " $phps_of_npm " == *" $pair "* ]]; then
			of_def worker/runtime/php_layout.def $column PHP_NONE 65535 >"$folder/$version.rows"
			lacks "$version" 'Debian has no headers of it'
			continue
		fi
		php "$version" "${pair#*=}" || { echo "E: $reason"; return 1; }
		headers=$(echo "$tree"/usr/include/php/2*)
		paths="-I$headers -I$headers/main -I$headers/Zend -I$headers/TSRM"
		# shellcheck disable=SC2086
		${CC:-cc} -w $paths -o "$folder/rows" "$folder/rows.c" &&
			"$folder/rows" >"$folder/$version.rows" 2>>"$folder/columns" || return
	done
	as_rows O PHP_NONE 65535 "${files[@]}" >"$folder/layout"
	while read -r pair; do
		grep -qF "$pair" worker/runtime/php_versions.def || { echo "php_versions.def lacks $pair"; return 1; }
	done <"$folder/columns"
}

conclude PHP "$1" layout worker/runtime/php_layout.def
