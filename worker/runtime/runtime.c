/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/runtime/runtime.h"

#include <errno.h>
#include <stdbool.h>

#include "object/elf/exported.h"
#include "worker/runtime/cpython.h"
#include "worker/runtime/hotspot.h"
#include "worker/runtime/lua.h"
#include "worker/runtime/luajit.h"
#include "worker/runtime/perl.h"
#include "worker/runtime/php.h"
#include "worker/runtime/ruby.h"
#include "worker/runtime/v8.h"

static const struct runtime_handler *const handlers[] = {
	&cpython_handler, &lua_handler,	 &luajit_handler,  &php_handler,
	&ruby_handler,	  &perl_handler, &hotspot_handler, &v8_handler,
};

static bool exports_one(const struct exported *exported, const struct runtime_row *row)
{
	for (size_t i = 0; i < RUNTIME_SYMBOLS; i++)
		if (row->symbol[i][0] && exported_has(exported, row->symbol[i]))
			return true;
	return false;
}

enum runtime runtime_recognise(struct image *image)
{
	struct exported exported;
	int r = exported_open(image, &exported);

	if (r < 0)
		return RUNTIME_NONE;
	for (uint32_t i = RUNTIME_NONE + 1; i < RUNTIME_COUNT; i++)
		if (exports_one(&exported, runtime_row(i)))
			return (enum runtime)i;
	return RUNTIME_NONE;
}

bool runtime_is_loop(const struct runtime_setup *setup, uint64_t place)
{
	for (size_t i = 0; i < RUNTIME_LOOP_RANGES; i++)
		if (place - setup->loop[i].start < setup->loop[i].end - setup->loop[i].start)
			return true;
	return false;
}

bool runtime_is_again(const struct runtime_setup *setup, uint64_t place)
{
	return place - setup->again.start < setup->again.end - setup->again.start;
}

static const struct runtime_handler *find_handler(enum runtime runtime)
{
	for (size_t i = 0; i < sizeof(handlers) / sizeof(handlers[0]); i++)
		if (handlers[i]->runtime == runtime)
			return handlers[i];
	return NULL;
}

bool runtime_has_handler(enum runtime runtime)
{
	return find_handler(runtime) != NULL;
}

int runtime_configure(enum runtime runtime, struct image *image, struct runtime_setup *ret_setup)
{
	const struct runtime_handler *handler = find_handler(runtime);
	int r;

	if (!handler)
		return -ENOENT;
	r = handler->configure(image, ret_setup);
	if (r == 0)
		ret_setup->handler = handler;
	return r;
}
