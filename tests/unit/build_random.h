/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles of any size, the same ones for the same seed. */
#ifndef KEYHOLE_TESTS_UNIT_BUILD_RANDOM_H
#define KEYHOLE_TESTS_UNIT_BUILD_RANDOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct profile;

struct build_random {
	const char *const *names; /* of objects, functions, processes, threads */
	size_t name_count;	  /* 0: numbers */
	uint32_t objects, locations, stacks, depth, threads;
	uint32_t samples;
	uint64_t seed;
	bool inlined; /* some locations have lines and functions that are inlined there */
	bool timed;   /* each sample has its time; false: most have */
	bool details; /* samples have a CPU, and processes a program and a time of creation */
};

/* Names that writers easily get wrong. */
extern const char *const build_random_hostile[];
extern const size_t build_random_hostile_count;

/* Returns a profile with times, all within build_profile_times. NULL: no memory. */
struct profile *build_random_profile(const struct build_random *of);

#endif
