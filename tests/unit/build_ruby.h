/* SPDX-License-Identifier: Apache-2.0 */
/* Makes events about code, as BPF reads it from Ruby, and images that look like interpreters. */
#ifndef KEYHOLE_TESTS_UNIT_BUILD_RUBY_H
#define KEYHOLE_TESTS_UNIT_BUILD_RUBY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/abi.h"

struct image;
struct ruby_layout;

#define BUILD_RUBY_CODE 0x7f0000010000ull

struct build_ruby {
	const char *class, *label, *path; /* NULL: none */
	uint32_t named;			  /* enum control_class */
	bool is_in_c;
	uint32_t first_line;
	const uint32_t (*lines)[2]; /* the first place, and the line of this and the next ones */
	uint32_t count, places;	    /* of lines; of all places */
};

struct event_code build_ruby(const struct ruby_layout *layout, const struct build_ruby *code);

/* How the image tells of the context, and what else it has. */
enum build_ruby_kind {
	BUILD_RUBY_LOCK,    /* 2.7: a variable */
	BUILD_RUBY_THREADS, /* 3.1: a thread-local variable that is exported, and YJIT */
	BUILD_RUBY_HIDDEN,  /* 3.3: one that a function loads */
	BUILD_RUBY_NOTHING  /* none of it */
};

#define BUILD_RUBY_NAMES 0x4208u /* address of the variable that leads to names */
/* Returns an image of a version: "3.1.2". */
struct image *build_ruby_image(enum build_ruby_kind kind, const char *version);

#endif
