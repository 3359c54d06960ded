/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host [-k KEYS] [-s] [-o LIBRARY -h HOME] LIBRARY ARGUMENT...: a program that loads an interpreter
 * when it runs, as servers do.
 *   -k  so many keys of pthreads are there before
 *   -s  runs the script in a sub-interpreter of the thread, and ignores SIGTERM
 *   -o  loads another interpreter before, whose home is HOME; call_other() runs a text in it
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define TEXT_BYTES 8192
#ifndef RTLD_DEEPBIND
#define RTLD_DEEPBIND 0 /* musl has none, and does not need it: -o is for glibc */
#endif

/* The functions that the program uses, as Include/ of CPython declares them. */
struct interpreter {
	int (*main)(int argc, char **argv);
	void (*initialize)(int signals);
	void *(*new_interpreter)(void);
	int (*run)(const char *text, void *flags);
	void *(*save)(void);
	int (*ensure)(void);
	void (*release)(int state);
};

struct options {
	int keys;
	bool inside;
	const char *other, *home;
};

static struct interpreter other;

static void *function(void *library, const char *name)
{
	void *found = dlsym(library, name);

	if (!found) {
		fprintf(stderr, "%s: %s\n", name, dlerror());
		exit(1);
	}
	return found;
}

static void load(const char *path, int flags, struct interpreter *ret_interpreter)
{
	void *library = dlopen(path, RTLD_NOW | flags);

	if (!library) {
		fprintf(stderr, "%s\n", dlerror());
		exit(1);
	}
	*ret_interpreter = (struct interpreter){
		function(library, "Py_BytesMain"),
		function(library, "Py_InitializeEx"),
		function(library, "Py_NewInterpreter"),
		function(library, "PyRun_SimpleStringFlags"),
		function(library, "PyEval_SaveThread"),
		function(library, "PyGILState_Ensure"),
		function(library, "PyGILState_Release"),
	};
}

static void make_keys(int count)
{
	pthread_key_t key;

	for (int i = 0; i < count; i++)
		if (pthread_key_create(&key, NULL) != 0)
			exit(1);
}

static void load_other(const char *path, const char *home)
{
	const char *own = getenv("PYTHONHOME");
	char *kept = own ? realpath(own, NULL) : NULL;

	load(path, RTLD_LOCAL | RTLD_DEEPBIND, &other);
	setenv("PYTHONHOME", home, 1);
	other.initialize(0);
	other.save();
	if (kept)
		setenv("PYTHONHOME", kept, 1);
	else
		unsetenv("PYTHONHOME");
}

/* Scripts call this by ctypes. */
int call_other(const char *text)
{
	const int state = other.ensure(), failed = other.run(text, NULL);

	other.release(state);
	return failed;
}

static int run_inside(const struct interpreter *interpreter, int count, char **arguments)
{
	char text[TEXT_BYTES];
	size_t used = (size_t)snprintf(text, sizeof(text), "import sys\nsys.argv = [");

	for (int i = 0; i < count && used < sizeof(text); i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used, "r'%s', ", arguments[i]);
	if (used < sizeof(text))
		used += (size_t)snprintf(text + used, sizeof(text) - used,
					 "]\nsys.path.insert(0, sys.argv[0].rpartition('/')[0])\n"
					 "exec(compile(open(sys.argv[0], encoding='utf-8').read(), "
					 "sys.argv[0], 'exec'))\n");
	if (used >= sizeof(text))
		return 2;
	signal(SIGTERM, SIG_IGN);
	interpreter->initialize(0);
	if (!interpreter->new_interpreter())
		return 1;
	return interpreter->run(text, NULL) != 0;
}

static bool parse(int argc, char **argv, struct options *ret_options)
{
	int option;

	*ret_options = (struct options){0};
	while ((option = getopt(argc, argv, "+k:so:h:")) != -1) {
		if (option == 'k')
			ret_options->keys = (int)strtol(optarg, NULL, 10);
		else if (option == 's')
			ret_options->inside = true;
		else if (option == 'o')
			ret_options->other = optarg;
		else if (option == 'h')
			ret_options->home = optarg;
		else
			return false;
	}
	return optind < argc && !ret_options->other == !ret_options->home;
}

int main(int argc, char **argv)
{
	struct interpreter interpreter;
	struct options options;

	if (!parse(argc, argv, &options))
		return 2;
	make_keys(options.keys);
	if (options.other)
		load_other(options.other, options.home);
	load(argv[optind], RTLD_GLOBAL, &interpreter);
	if (options.inside)
		return run_inside(&interpreter, argc - optind - 1, argv + optind + 1);
	return interpreter.main(argc - optind, argv + optind);
}
