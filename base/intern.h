/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers byte strings: equal bytes have equal ids, and ids count up from 1. Id 0 is the empty
 * string.
 */
#ifndef KEYHOLE_BASE_INTERN_H
#define KEYHOLE_BASE_INTERN_H

#include <stddef.h>
#include <stdint.h>

struct intern;

struct intern *intern_new(void);
void intern_free(struct intern *intern);
/* Returns the id of the bytes, or INTERN_FAILED when memory or numbers run out. */
#define INTERN_FAILED UINT32_MAX
uint32_t intern_add(struct intern *intern, const void *bytes, size_t size);
/* Returns the id of the bytes, or 0: nobody has added them. */
uint32_t intern_find(const struct intern *intern, const void *bytes, size_t size);
/*
 * Gives the bytes a new id without a search for equal ones: fast for many that are known to differ.
 * intern_add() never finds appended bytes.
 */
uint32_t intern_append(struct intern *intern, const void *bytes, size_t size);
uint32_t intern_string(struct intern *intern, const char *string);
/*
 * Returns the bytes, valid until intern_free(). A NUL, which the size leaves out, follows the
 * bytes. An unknown id has those of the empty string.
 */
const void *intern_get(const struct intern *intern, uint32_t id, size_t *ret_size);
uint32_t intern_count(const struct intern *intern); /* ids are 0..count-1 */

#endif
