/* SPDX-License-Identifier: Apache-2.0 */
/* dlopen LIBRARY [SECONDS]: loads it after a while of other work and calls plugin_work(). */
#include <dlfcn.h>
#include "work.h"

FUNCTION void dlopen_before(struct work_time time)
{
	while (is_left(&time))
		burn_rounds(20000);
	KEEP_FRAME();
}

FUNCTION void dlopen_after(struct work_time time, void (*work)(void))
{
	while (is_left(&time))
		work();
	KEEP_FRAME();
}

int main(int argc, char **argv)
{
	double half = seconds_argument(argc, argv, 2, 2) / 2;
	void *library, *work;

	dlopen_before(work_for(half));
	library = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
	work = library ? dlsym(library, "plugin_work") : NULL;
	if (!work)
		return 1;
	dlopen_after(work_for(half), (void (*)(void))work);
	return 0;
}
