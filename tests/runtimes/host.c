/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host [-k KEYS] [-s SCRIPT] LIBRARY ARGUMENT...: a program that loads an interpreter when it runs,
 * as servers do. KEYS are keys of pthreads that the program has before. -s SCRIPT runs in a
 * sub-interpreter of the thread, with the arguments as sys.argv; else the interpreter gets the
 * arguments.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* The functions that the program uses, as Include/ of CPython declares them. */
struct interpreter {
	int (*bytes_main)(int argc, char **argv);
	void (*initialize)(int signals);
	void *(*new_interpreter)(void);
	int (*run)(const char *text, void *flags);
};

static void *function(void *library, const char *name)
{
	void *found = dlsym(library, name);

	if (!found) {
		fprintf(stderr, "%s: %s\n", name, dlerror());
		exit(1);
	}
	return found;
}

static void load(const char *path, struct interpreter *interpreter)
{
	void *library = dlopen(path, RTLD_NOW | RTLD_GLOBAL);

	if (!library) {
		fprintf(stderr, "%s\n", dlerror());
		exit(1);
	}
	*interpreter = (struct interpreter){
		function(library, "Py_BytesMain"),
		function(library, "Py_InitializeEx"),
		function(library, "Py_NewInterpreter"),
		function(library, "PyRun_SimpleStringFlags"),
	};
}

static void make_keys(int count)
{
	pthread_key_t key;

	for (int i = 0; i < count; i++)
		if (pthread_key_create(&key, NULL) != 0)
			exit(1);
}

static int run_inside(const struct interpreter *interpreter, const char *script, char **arguments)
{
	char text[4096];
	int used = snprintf(text, sizeof(text), "import sys\nsys.argv = [r'''%s'''", script);

	for (; *arguments; arguments++)
		used += snprintf(text + used, sizeof(text) - (size_t)used, ", r'''%s'''",
				 *arguments);
	snprintf(text + used, sizeof(text) - (size_t)used,
		 "]\nexec(compile(open(sys.argv[0]).read(), sys.argv[0], 'exec'))\n");
	interpreter->initialize(1);
	if (!interpreter->new_interpreter())
		return 1;
	return interpreter->run(text, NULL) != 0;
}

int main(int argc, char **argv)
{
	struct interpreter interpreter;
	const char *script = NULL;
	int option;

	while ((option = getopt(argc, argv, "+k:s:")) != -1) {
		if (option == 'k')
			make_keys(atoi(optarg));
		else if (option == 's')
			script = optarg;
		else
			return 2;
	}
	if (optind >= argc)
		return 2;
	load(argv[optind], &interpreter);
	if (script)
		return run_inside(&interpreter, script, argv + optind + 1);
	return interpreter.bytes_main(argc - optind, argv + optind);
}
