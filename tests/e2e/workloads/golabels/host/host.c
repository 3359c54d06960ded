/* SPDX-License-Identifier: Apache-2.0 */
/* Loads a library of Go, which gives goroutines labels for the seconds of the second argument. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	void *library = dlopen(argv[1], RTLD_NOW);
	void (*work)(int seconds);

	if (argc != 3 || !library) {
		fprintf(stderr, "%s\n", dlerror());
		return 1;
	}
	*(void **)&work = dlsym(library, "labels_work");
	work(atoi(argv[2]));
	return 0;
}
