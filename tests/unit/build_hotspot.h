/* SPDX-License-Identifier: Apache-2.0 */
/* Writes an ELF file that describes itself as libjvm.so does, and events about its code. */
#ifndef KEYHOLE_TESTS_UNIT_BUILD_HOTSPOT_H
#define KEYHOLE_TESTS_UNIT_BUILD_HOTSPOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/abi.h"

struct hotspot_layout;
struct image;

enum build_hotspot_version {
	BUILD_HOTSPOT_8,
	BUILD_HOTSPOT_11,
	BUILD_HOTSPOT_17,
	BUILD_HOTSPOT_21,
	BUILD_HOTSPOT_25,
	BUILD_HOTSPOT_26,
	BUILD_HOTSPOT_VERSIONS
};

/* The address of all static variables, with the number of the version in it. */
#define BUILD_HOTSPOT_VARIABLE 0x4040u
#define BUILD_HOTSPOT_INSIDE   0x1008u /* JNI_CreateJavaVM */

struct build_hotspot {
	enum build_hotspot_version version;
	uint32_t major;		/* 0: that of the version */
	bool has_offsets;	/* the tables have them; else code stores them */
	size_t unstored;	/* so many of the stores are left out */
	bool is_relocated;	/* the pointer to the table of fields has a relocation */
	const char *without;	/* the name of a row to leave out; NULL: none */
	const uint8_t *changes; /* bits to invert in the tables, in order */
	size_t changes_size;
};
struct image *build_hotspot_image(const struct build_hotspot *hotspot);

/* A function, as an event tells of it. NULL: the event lacks it. */
struct build_hotspot_function {
	const char *class, *name, *signature, *file;
	uint16_t code_size;
	const uint8_t *lines; /* the table; NULL: the function has none */
	size_t lines_size;
};
struct event_code build_hotspot_function(const struct hotspot_layout *layout,
					 const struct build_hotspot_function *function);

#endif
