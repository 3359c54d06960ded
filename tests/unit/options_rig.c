/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "helper/options/command_line.h"
#include "tests/unit/options_rig.h"

int rig_parse(int argc, char **argv, struct options *ret_options)
{
	FILE *null = fopen("/dev/null", "we");

	assert_non_null(null);
	command_line_read(argc, argv, null, NULL, &ret_options->given);
	fclose(null);
	if (ret_options->given.status != OPTIONS_RECORD)
		return ret_options->given.status;
	assert_int_equal(options_check(argc, argv, ret_options), 0);
	return 0;
}
