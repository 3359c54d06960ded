/* SPDX-License-Identifier: Apache-2.0 */
/* threads2000 [COUNT]: that many threads, eight at a time, each 5 ms of CPU time. */
#include <pthread.h>
#include "work.h"

FUNCTION void threads_burst(void)
{
	uint64_t end = clock_ns(CLOCK_THREAD_CPUTIME_ID) + 5000000;

	while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < end)
		burn_rounds(2000);
	KEEP_FRAME();
}

FUNCTION void *threads_main(void *unused)
{
	(void)unused;
	threads_burst();
	KEEP_FRAME();
	return NULL;
}

int main(int argc, char **argv)
{
	int count = (int)seconds_argument(argc, argv, 1, 2000);
	pthread_t threads[8];

	for (int started = 0; started < count; started += 8) {
		for (int i = 0; i < 8; i++)
			if (pthread_create(&threads[i], NULL, threads_main, NULL) != 0)
				return 1;
		for (int i = 0; i < 8; i++)
			pthread_join(threads[i], NULL);
	}
	return 0;
}
