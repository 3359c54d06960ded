/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A small profile with one of everything. It has native, kernel and marker frames, a frame without
 * a function, threads, a cgroup, a cut stack, and names that need cleaning.
 */
#ifndef KEYHOLE_TESTS_UNIT_BUILD_PROFILE_H
#define KEYHOLE_TESTS_UNIT_BUILD_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct format;
struct format_options;
struct profile;
struct profile_times;

extern const struct profile_times build_profile_times;

/* The raw path of the one cgroup, and the id of the container in that path. */
#define BUILD_CONTAINER "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define BUILD_CGROUP	"/a\033[2J/docker-" BUILD_CONTAINER ".scope"

struct profile *build_profile(void);

/*
 * Three samples, alike but for goroutines. The first has none. Goroutine 17 has labels, of which
 * one has a key of ours and one has no text. Goroutine 18 has a label with a long key.
 */
struct profile *build_profile_of_goroutines(void);
#define BUILD_LONG_KEY_BYTES 300u /* all 'k' */

/* Returns the location of a function with a name in an object. Makes both as needed. */
uint32_t build_profile_location(struct profile *profile, const char *object, const char *function);

/* Renders into memory: malloc()ed bytes, or NULL after a failure. */
unsigned char *build_profile_render(const struct format *format, const struct profile *profile,
				    bool by_thread, size_t *ret_size);
/* The same with times and options of the caller. */
unsigned char *build_profile_render_as(const struct format *format, const struct profile *profile,
				       const struct profile_times *times,
				       const struct format_options *options, size_t *ret_size);

#endif
