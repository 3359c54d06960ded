/* SPDX-License-Identifier: Apache-2.0 */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

#include "_cgo_export.h"

#define NUMBERS 4096

static int compare(const void *a, const void *b)
{
	uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;

	return left < right ? -1 : left > right;
}

__attribute__((noinline)) uint32_t sort_in_c(void)
{
	uint32_t numbers[NUMBERS];

	for (uint32_t i = 0; i < NUMBERS; i++)
		numbers[i] = i * 2654435761u;
	qsort(numbers, NUMBERS, sizeof(numbers[0]), compare);
	return numbers[NUMBERS / 2];
}

__attribute__((noinline)) uint32_t call_back(uint32_t depth)
{
	return called_back(depth) + 1;
}

static void *thread_of_c(void *unused)
{
	(void)unused;
	return (void *)(uintptr_t)call_back(0);
}

__attribute__((noinline)) uint32_t call_from_thread(void)
{
	pthread_t thread;
	void *result;

	if (pthread_create(&thread, NULL, thread_of_c, NULL))
		return 0;
	pthread_join(thread, &result);
	return (uint32_t)(uintptr_t)result;
}
