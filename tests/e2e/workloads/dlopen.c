/* SPDX-License-Identifier: Apache-2.0 */
/* dlopen LIBRARY [SECONDS]: loads it after a while of other work and calls plugin_work(). */
#include <dlfcn.h>
#include "work.h"

FUNCTION void dlopen_before(uint64_t end)
{
	while (clock_ns(CLOCK_MONOTONIC) < end)
		burn_rounds(20000);
	KEEP_FRAME();
}

FUNCTION void dlopen_after(uint64_t end, void (*work)(void))
{
	while (clock_ns(CLOCK_MONOTONIC) < end)
		work();
	KEEP_FRAME();
}

int main(int argc, char **argv)
{
	uint64_t start = clock_ns(CLOCK_MONOTONIC);
	uint64_t half = (uint64_t)(5e8 * seconds_argument(argc, argv, 2, 2));
	void *library, *work;

	dlopen_before(start + half);
	library = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
	work = library ? dlsym(library, "plugin_work") : NULL;
	if (!work)
		return 1;
	dlopen_after(start + 2 * half, (void (*)(void))work);
	return 0;
}
