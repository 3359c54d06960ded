/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/kernel/late_names.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

struct late_name {
	uint32_t module;
	char text[LATE_NAME_BYTES];
};

struct late_names {
	uint32_t ids[LATE_NAMES_MAX]; /* of the names */
	struct late_name *names;
	size_t count, capacity;
	char modules[LATE_MODULES_MAX][LATE_NAME_BYTES];
	uint32_t module_count;
};

struct late_names *late_names_new(void)
{
	return calloc(1, sizeof(struct late_names));
}

void late_names_free(struct late_names *names)
{
	if (!names)
		return;
	free(names->names);
	free(names);
}

static void copy_printable(char *to, const char *text)
{
	size_t i = 0;

	for (; i < LATE_NAME_BYTES - 1 && text[i]; i++)
		to[i] = text[i];
	for (size_t j = 0; j < i; j++)
		if (to[j] < ' ' || to[j] > '~')
			to[j] = '?';
	to[i] = '\0';
}

/* Cuts " [module]" off and returns "[module]"; a name that the kernel cut may lack that part. */
static const char *split(char *text)
{
	char *module = strstr(text, " [");
	const size_t length = strlen(text);
	const bool whole = text[length - 1] == ']', cut = !whole && length == LATE_NAME_BYTES - 1;

	if (module && module != text && (whole || cut))
		*module = '\0';
	else
		module = NULL;
	if (cut)
		return "[kernel unknown]";
	if (!module)
		return "[kernel]";
	return module + 1;
}

static int module_number(struct late_names *names, const char *module)
{
	for (uint32_t i = 0; i < names->module_count; i++)
		if (strcmp(names->modules[i], module) == 0)
			return (int)i;
	if (names->module_count == LATE_MODULES_MAX)
		return -ENOSPC;
	snprintf(names->modules[names->module_count], LATE_NAME_BYTES, "%s", module);
	return (int)names->module_count++;
}

void late_names_add(struct late_names *names, uint64_t id, const char *text)
{
	struct late_name name = {0};
	uint32_t known;
	int module;

	if (id == 0 || id > UINT32_MAX || !text[0] || names->count == LATE_NAMES_MAX ||
	    late_names_find(names, (uint32_t)id, &known) >= 0)
		return;
	copy_printable(name.text, text);
	module = module_number(names, split(name.text));
	if (module < 0 || ARRAY_RESERVE(names->names, names->capacity, names->count + 1) < 0)
		return;
	name.module = (uint32_t)module;
	names->ids[names->count] = (uint32_t)id;
	names->names[names->count++] = name;
}

int late_names_find(const struct late_names *names, uint32_t id, uint32_t *ret_module)
{
	for (size_t i = 0; i < names->count; i++) {
		if (names->ids[i] != id)
			continue;
		*ret_module = names->names[i].module;
		return (int)i;
	}
	return -ENOENT;
}

const char *late_names_function(const struct late_names *names, uint64_t place)
{
	if (place >= names->count)
		return NULL;
	return names->names[place].text;
}

const char *late_names_module(const struct late_names *names, uint32_t module)
{
	if (module >= names->module_count)
		return NULL;
	return names->modules[module];
}
