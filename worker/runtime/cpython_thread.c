/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/runtime/cpython_thread.h"

#include <errno.h>
#include <stdbool.h>

#include "object/elf/dynamic.h"
#include "object/elf/exported.h"
#include "worker/runtime/accessor.h"

#define EVENTS_MAX    8u
#define KEY_AT	      4u /* in Py_tss_t: int _is_initialized; pthread_key_t _key */
#define KEY_BYTES     4u
#define POINTER_BYTES 8u

/* Functions that return _Py_tss_tstate. Python/pystate.c */
static const char *const getters[] = {
	"_PyThreadState_GetCurrent",
	"PyThreadState_GetUnchecked",
	"_PyThreadState_UncheckedGet",
};

/* The function that returns the state of this thread, with the lock or without. */
static const char own[] = "PyGILState_GetThisThreadState";

/* ---- thread-local variables ---- */

/* Evaluates a function to its end. */
static int returned(struct image *image, const struct exported *exported, const char *function,
		    struct accessor_value *ret_value)
{
	struct exported_symbol symbol;
	struct accessor accessor;
	int r = 0;

	if (!exported_find(exported, function, &symbol))
		return -ENOTSUP;

	accessor_init(&accessor, image, exported, symbol.address);
	for (unsigned int i = 0; i < EVENTS_MAX && r >= 0 && r != ACCESSOR_RETURN; i++)
		r = accessor_next(&accessor);
	if (r != ACCESSOR_RETURN)
		return -ENOTSUP;
	*ret_value = accessor.reg[ACCESSOR_RAX];
	return 0;
}

static int find_variable(struct image *image, const struct exported *exported, const char *function,
			 struct runtime_root *ret_root)
{
	struct accessor_value value;
	int r = returned(image, exported, function, &value);

	if (r < 0)
		return r;
	return accessor_root(&value, dynamic_needs_musl(image), ret_root);
}

int cpython_thread_current(struct image *image, const struct exported *exported,
			   struct runtime_root *ret_root)
{
	for (size_t i = 0; i < sizeof(getters) / sizeof(getters[0]); i++)
		if (find_variable(image, exported, getters[i], ret_root) == 0)
			return 0;
	return -ENOTSUP;
}

/* ---- variables in _PyRuntime ---- */

static bool is_inside(const struct exported_symbol *runtime, uint64_t address, uint64_t size)
{
	const uint64_t inside = address - runtime->address;

	return address >= runtime->address && runtime->size >= size &&
	       inside <= runtime->size - size && address % size == 0;
}

int cpython_thread_holder(struct image *image, const struct exported *exported,
			  struct runtime_root *ret_root)
{
	struct exported_symbol runtime;
	struct accessor_value value;
	int r = returned(image, exported, "_PyThreadState_UncheckedGet", &value);

	if (r < 0)
		return r;
	if (value.base != ACCESSOR_NUMBER || !value.loaded ||
	    !exported_find(exported, "_PyRuntime", &runtime) ||
	    !is_inside(&runtime, value.number, POINTER_BYTES))
		return -ENOTSUP;
	*ret_root = (struct runtime_root){.pc = value.number, .start = RUNTIME_AT_HOLDER};
	return 0;
}

/*
 * Returns the address of the key that an argument stands for, or 0. The argument is the key itself,
 * or a pointer to a Py_tss_t; either is in _PyRuntime.
 */
static uint64_t key_of(const struct accessor_value *argument, const struct exported_symbol *runtime)
{
	uint64_t address = argument->number;

	if (argument->base != ACCESSOR_NUMBER)
		return 0;
	if (!argument->loaded)
		address += KEY_AT;
	if (!is_inside(runtime, address, KEY_BYTES))
		return 0;
	return address;
}

/* Finds the first call whose argument is a key. */
static uint64_t find_key(struct accessor *accessor, const struct exported_symbol *runtime)
{
	uint64_t key = 0;

	for (unsigned int i = 0; i < EVENTS_MAX && key == 0; i++) {
		int r = accessor_next(accessor);

		if (r == ACCESSOR_CALL || r == ACCESSOR_JUMP)
			key = key_of(&accessor->reg[ACCESSOR_RDI], runtime);
		else if (!accessor_turn(accessor))
			return 0;
	}
	return key;
}

int cpython_thread_own(struct image *image, const struct exported *exported,
		       struct runtime_root *ret_root)
{
	struct runtime_root root = {.start = RUNTIME_AT_KEY, .steps = 1};
	struct exported_symbol runtime, symbol;
	struct accessor accessor;

	if (find_variable(image, exported, own, ret_root) == 0)
		return 0;
	if (!exported_find(exported, "_PyRuntime", &runtime) ||
	    !exported_find(exported, own, &symbol))
		return -ENOTSUP;
	accessor_init(&accessor, image, exported, symbol.address);
	root.pc = find_key(&accessor, &runtime);
	if (root.pc == 0)
		return -ENOTSUP;
	if (dynamic_needs_musl(image))
		root.start = RUNTIME_AT_KEY_MUSL;
	*ret_root = root;
	return 0;
}
