/* SPDX-License-Identifier: Apache-2.0 */
#include "object/symbol/rust_v0.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "object/symbol/demangle.h"

#define RUST_DEPTH_MAX	   200u
#define RUST_LIFETIMES_MAX 64u
#define BASIC_TYPES	   "abcdefhijlmnopstuvxyz"
#define INTEGER_TYPES	   "ahijlmnostxy"

struct rust_v0 {
	const char *name; /* after "_R", up to a '.' */
	size_t length, at;
	unsigned int depth;
	bool bad;
	uint8_t starts[(DEMANGLE_INPUT_MAX + 7) / 8]; /* bit per byte: a path, type or constant */
};

static void v0_path(struct rust_v0 *v0);
static void v0_type(struct rust_v0 *v0);

static char v0_peek(const struct rust_v0 *v0)
{
	if (v0->bad || v0->at >= v0->length)
		return '\0';
	return v0->name[v0->at];
}

static char v0_next(struct rust_v0 *v0)
{
	char c = v0_peek(v0);

	if (c)
		v0->at++;
	else
		v0->bad = true;
	return c;
}

static bool v0_eat(struct rust_v0 *v0, char c)
{
	if (v0_peek(v0) != c)
		return false;
	v0->at++;
	return true;
}

static bool is_one_of(char c, const char *set)
{
	return c && strchr(set, c);
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static void v0_begin(struct rust_v0 *v0)
{
	if (++v0->depth > RUST_DEPTH_MAX)
		v0->bad = true;
	if (!v0->bad)
		v0->starts[v0->at / 8] |= (uint8_t)(1u << v0->at % 8);
}

static void v0_end(struct rust_v0 *v0)
{
	v0->depth--;
}

static unsigned int base62_digit(char c)
{
	if (is_digit(c))
		return (unsigned int)(c - '0');
	if (c >= 'a')
		return (unsigned int)(c - 'a' + 10);
	return (unsigned int)(c - 'A' + 36);
}

/* "_" is 0, "0_" is 1. Hashes have 64 bits; a number that matters is small, so it may saturate. */
static uint64_t v0_base62(struct rust_v0 *v0)
{
	uint64_t value = 0;
	char c;

	if (v0_eat(v0, '_'))
		return 0;
	while (!v0->bad && !v0_eat(v0, '_')) {
		c = v0_next(v0);
		if (value < UINT32_MAX)
			value = value * 62 + base62_digit(c);
	}
	return value + 1;
}

static void v0_disambiguator(struct rust_v0 *v0)
{
	if (v0_eat(v0, 's'))
		v0_base62(v0);
}

static void v0_identifier(struct rust_v0 *v0)
{
	size_t length = (size_t)(v0_peek(v0) - '0');

	if (!is_digit(v0_next(v0))) { /* 'u' before the length: Punycode */
		v0->bad = true;
		return;
	}
	while (length > 0 && length <= DEMANGLE_INPUT_MAX && is_digit(v0_peek(v0)))
		length = length * 10 + (size_t)(v0_next(v0) - '0');
	v0_eat(v0, '_');
	if (length > v0->length - v0->at)
		v0->bad = true;
	else
		v0->at += length;
}

/* To what has begun before, so that nothing is read in another way than it was here. */
static void v0_reference(struct rust_v0 *v0)
{
	size_t own = v0->at - 1;
	uint64_t to = v0_base62(v0);

	if (to >= own || !(v0->starts[to / 8] >> to % 8 & 1))
		v0->bad = true;
}

static void v0_constant(struct rust_v0 *v0)
{
	char type;

	v0_begin(v0);
	type = v0_next(v0);
	if (type == 'B') {
		v0_reference(v0);
	} else if (is_one_of(type, INTEGER_TYPES "bc")) {
		v0_eat(v0, 'n');
		while (is_one_of(v0_peek(v0), "0123456789abcdef"))
			v0->at++;
		if (v0_next(v0) != '_')
			v0->bad = true;
	} else if (type != 'p') {
		v0->bad = true;
	}
	v0_end(v0);
}

static void v0_generic_argument(struct rust_v0 *v0)
{
	if (v0_eat(v0, 'L'))
		v0_base62(v0);
	else if (v0_eat(v0, 'K'))
		v0_constant(v0);
	else
		v0_type(v0);
}

static void v0_list(struct rust_v0 *v0, void (*item)(struct rust_v0 *v0))
{
	while (!v0->bad && !v0_eat(v0, 'E'))
		item(v0);
}

static void v0_binder(struct rust_v0 *v0)
{
	if (v0_eat(v0, 'G') && v0_base62(v0) >= RUST_LIFETIMES_MAX)
		v0->bad = true;
}

static void v0_function(struct rust_v0 *v0)
{
	v0_binder(v0);
	v0_eat(v0, 'U');
	if (v0_eat(v0, 'K') && !v0_eat(v0, 'C'))
		v0_identifier(v0);
	v0_list(v0, v0_type);
	v0_type(v0);
}

static void v0_dyn_trait(struct rust_v0 *v0)
{
	v0_path(v0);
	while (v0_eat(v0, 'p')) {
		v0_identifier(v0);
		v0_type(v0);
	}
}

static void v0_dyn(struct rust_v0 *v0)
{
	v0_binder(v0);
	v0_list(v0, v0_dyn_trait);
	if (!v0_eat(v0, 'L'))
		v0->bad = true;
	v0_base62(v0);
}

static void v0_borrow(struct rust_v0 *v0)
{
	if (v0_eat(v0, 'L'))
		v0_base62(v0);
	v0_type(v0);
}

static void v0_array(struct rust_v0 *v0)
{
	v0_type(v0);
	v0_constant(v0);
}

static void v0_tuple(struct rust_v0 *v0)
{
	v0_list(v0, v0_type);
}

static void v0_crate(struct rust_v0 *v0)
{
	v0_disambiguator(v0);
	v0_identifier(v0);
}

static void v0_nested(struct rust_v0 *v0)
{
	char namespace = v0_next(v0);

	if (is_digit(namespace) || namespace == '_')
		v0->bad = true;
	v0_path(v0);
	v0_crate(v0);
}

static void v0_inherent_impl(struct rust_v0 *v0)
{
	v0_disambiguator(v0);
	v0_path(v0);
	v0_type(v0);
}

static void v0_trait(struct rust_v0 *v0)
{
	v0_type(v0);
	v0_path(v0);
}

static void v0_trait_impl(struct rust_v0 *v0)
{
	v0_disambiguator(v0);
	v0_path(v0);
	v0_trait(v0);
}

static void v0_generic(struct rust_v0 *v0)
{
	v0_path(v0);
	v0_list(v0, v0_generic_argument);
}

struct production {
	char tag;
	void (*parse)(struct rust_v0 *v0);
};

static const struct production paths[] = {
	{'C', v0_crate}, {'N', v0_nested},  {'M', v0_inherent_impl}, {'X', v0_trait_impl},
	{'Y', v0_trait}, {'I', v0_generic}, {'B', v0_reference},
};

static const struct production types[] = {
	{'R', v0_borrow}, {'Q', v0_borrow}, {'P', v0_type},	{'O', v0_type}, {'S', v0_type},
	{'A', v0_array},  {'T', v0_tuple},  {'F', v0_function}, {'D', v0_dyn},
};

static bool v0_produce(struct rust_v0 *v0, const struct production *productions, size_t count)
{
	char tag = v0_peek(v0);

	for (size_t i = 0; tag && i < count; i++) {
		if (productions[i].tag != tag)
			continue;
		v0->at++;
		productions[i].parse(v0);
		return true;
	}
	return false;
}

static void v0_path(struct rust_v0 *v0)
{
	v0_begin(v0);
	if (!v0_produce(v0, paths, sizeof(paths) / sizeof(paths[0])))
		v0->bad = true;
	v0_end(v0);
}

static void v0_type(struct rust_v0 *v0)
{
	v0_begin(v0);
	if (is_one_of(v0_peek(v0), BASIC_TYPES))
		v0->at++;
	else if (!v0_produce(v0, types, sizeof(types) / sizeof(types[0])))
		v0_path(v0);
	v0_end(v0);
}

bool rust_v0_is_harmless(const char *name)
{
	struct rust_v0 v0 = {.name = name + 2};
	static const char alphabet[] = "_0123456789abcdefghijklmnopqrstuvwxyz"
				       "ABCDEFGHIJKLMNOPQRSTUVWXYZ";

	if (strncmp(name, "_R", 2) != 0)
		return false;
	v0.length = strcspn(v0.name, ".");
	if (v0.length > DEMANGLE_INPUT_MAX || strspn(v0.name, alphabet) < v0.length)
		return false;
	v0_path(&v0);
	if (v0.at < v0.length) /* the crate that instantiates a generic function */
		v0_path(&v0);
	return !v0.bad;
}
