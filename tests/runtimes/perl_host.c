/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perl_host LIBRARY SCRIPT ARGUMENT...: a program that loads Perl's library when it runs, and runs
 * a script in an interpreter of it.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

typedef void start_function(void *interpreter);

static void *library;

static void *find(const char *name)
{
	void *symbol = dlsym(library, name);

	if (symbol)
		return symbol;
	fprintf(stderr, "perl_host: %s\n", dlerror());
	exit(1);
}

/* Modules in C need DynaLoader. */
static void start(void *interpreter)
{
	void *(*new_function)(void *, const char *, void *, const char *) = find("Perl_newXS");

	new_function(interpreter, "DynaLoader::boot_DynaLoader", find("boot_DynaLoader"), __FILE__);
}

int main(int argc, char **argv, char **environment)
{
	void (*begin)(int *, char ***, char ***);
	void *(*allocate)(void);
	void (*construct)(void *);
	int (*parse)(void *, start_function *, int, char **, char **);
	int (*run)(void *);
	void *interpreter;

	if (argc < 3) {
		fprintf(stderr, "usage: perl_host LIBRARY SCRIPT ARGUMENT...\n");
		return 2;
	}
	library = dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL);
	if (!library) {
		fprintf(stderr, "perl_host: %s\n", dlerror());
		return 1;
	}
	begin = find("Perl_sys_init3");
	allocate = find("perl_alloc");
	construct = find("perl_construct");
	parse = find("perl_parse");
	run = find("perl_run");
	argv++;
	argc--;
	begin(&argc, &argv, &environment);
	interpreter = allocate();
	construct(interpreter);
	if (parse(interpreter, start, argc, argv, NULL) != 0)
		return 1;
	return run(interpreter);
}
