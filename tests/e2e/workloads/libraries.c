/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libraries SECONDS LIBRARY...: loads all libraries and calls plugin_work() of each in turn. With
 * "close" for the first, each library is unloaded before the next one is loaded in its place.
 */
#include <dlfcn.h>
#include <string.h>
#include "work.h"

FUNCTION void libraries_call(void *library)
{
	void (*work)(void) = (void (*)(void))dlsym(library, "plugin_work");

	for (int i = 0; i < 20; i++)
		work();
	KEEP_FRAME();
}

int main(int argc, char **argv)
{
	struct work_time time = work_for(seconds_argument(argc, argv, 1, 2));
	int close = argc > 2 && strcmp(argv[2], "close") == 0, first = close ? 3 : 2;

	do {
		for (int i = first; i < argc; i++) {
			void *library = dlopen(argv[i], RTLD_NOW);

			if (!library)
				return 1;
			libraries_call(library);
			if (close)
				dlclose(library);
		}
	} while (is_left(&time));
	return 0;
}
