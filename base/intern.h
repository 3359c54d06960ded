/* SPDX-License-Identifier: Apache-2.0 */
/* Byte strings with small numbers: equal bytes have equal ids. Id 0 is the empty string. */
#ifndef KEYHOLE_BASE_INTERN_H
#define KEYHOLE_BASE_INTERN_H

#include <stddef.h>
#include <stdint.h>

struct intern;

struct intern *intern_new(void);
void intern_free(struct intern *intern);
/* The id, or INTERN_FAILED when there is no memory. Ids count up from 1. */
#define INTERN_FAILED UINT32_MAX
uint32_t intern_add(struct intern *intern, const void *bytes, size_t size);
/* A new id whether there are equal bytes or not, which nothing finds: for many known to differ. */
uint32_t intern_append(struct intern *intern, const void *bytes, size_t size);
uint32_t intern_string(struct intern *intern, const char *string);
/* Valid until intern_free(); followed by a NUL that does not count. */
const void *intern_get(const struct intern *intern, uint32_t id, size_t *ret_size);
uint32_t intern_count(const struct intern *intern); /* ids are 0..count-1 */

#endif
