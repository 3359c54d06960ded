/* SPDX-License-Identifier: Apache-2.0 */
/* Loads a library of Go, which works for the milliseconds of the second argument and calls back. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

typedef uint32_t (*back)(uint32_t n);

static back spin_in_go;

__attribute__((noinline)) static uint32_t spin_in_c(uint32_t n)
{
	volatile uint32_t sum = n;

	for (uint32_t i = 0; i < n; i++)
		sum = sum * 1664525u + 1013904223u;
	return sum;
}

__attribute__((noinline)) static uint32_t called_back(uint32_t n)
{
	return spin_in_c(n) + spin_in_go(n);
}

int main(int argc, char **argv)
{
	void *library = dlopen(argv[1], RTLD_NOW);
	uint32_t (*work)(uint32_t milliseconds, back function);

	if (argc != 3 || !library) {
		fprintf(stderr, "%s\n", dlerror());
		return 1;
	}
	*(void **)&spin_in_go = dlsym(library, "shared_spin");
	*(void **)&work = dlsym(library, "shared_work");
	return work((uint32_t)atoi(argv[2]), called_back) == 0;
}
