/* SPDX-License-Identifier: Apache-2.0 */
#include "view/check/process.h"

#include <stdio.h>
#include <stdlib.h>

#include "view/check/text.h"

void process_path(const struct process *process, const char *file,
		  char ret_path[PROCESS_PATH_BYTES])
{
	snprintf(ret_path, PROCESS_PATH_BYTES, "/proc/%d/%s", (int)process->pid, file);
}

void process_field(const struct process *process, const char *name, char *ret_value, size_t size)
{
	text_field(process->status, name, ret_value, size);
}

unsigned long long process_number(const struct process *process, const char *name, int base)
{
	char value[TEXT_FIELD_BYTES];

	process_field(process, name, value, sizeof(value));
	return strtoull(value, NULL, base);
}
