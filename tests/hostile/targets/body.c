/* SPDX-License-Identifier: Apache-2.0 */
/* Code in a file that a runner maps and calls, however damaged the file is. */
#include <stdint.h>

uint64_t body_of_a_hostile_file(uint64_t rounds);
uint64_t caller_in_a_hostile_file(uint64_t rounds);

__attribute__((noinline, noclone, visibility("hidden"))) uint64_t
body_of_a_hostile_file(uint64_t rounds)
{
	uint64_t value = rounds | 1;

	while (rounds--) {
		value = value * 6364136223846793005u + 1442695040888963407u;
		__asm__ volatile("" : "+r"(value));
	}
	return value;
}

__attribute__((noinline)) uint64_t caller_in_a_hostile_file(uint64_t rounds)
{
	uint64_t value = body_of_a_hostile_file(rounds);

	__asm__ volatile("" : "+r"(value));
	return value + 1;
}
