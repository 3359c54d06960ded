/* SPDX-License-Identifier: Apache-2.0 */
/*
 * load_objects TIMES OBJECT[:PROGRAM]...: loads each BPF object file so often in each mode of its
 * filter. The running kernel verifies each load, and the program says what that took. PROGRAM:
 * loads that one alone; without it, all but on_leave, which only time off the CPU needs.
 * load_objects functions OBJECT: loads it once, and says how the instructions are distributed.
 * FILE is the object's name without folder and suffix.
 * Lines of standard output:
 *   calibration NANOSECONDS                                    of a fixed piece of work, at best
 *   object FILE MODE MILLISECONDS NANOSECONDS ok|ERRNO         all of it, of median speed;
 *                                                              calibration just then
 *   program FILE MODE NAME INSTRUCTIONS MICROSECONDS BYTES     verified, so long, translated
 *   function NAME INSTRUCTIONS                                 of a global function, verified in
 *                                                              all programs that call it
 * The last lines of a refused program's log go to standard error.
 */
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bpf/abi.h"
#include "ipc/guard.h"
#include "ipc/time.h"

#define FILTER_MODES   3 /* enum filter_mode of bpf/abi.h */
#define LOADS_MAX      9
#define LOG_STATISTICS 4u /* BPF_LOG_STATS of include/linux/bpf_verifier.h */
#define LOG_ALL	       2u /* BPF_LOG_LEVEL2: a line for each instruction */
#define LOG_BYTES      65536u
#define LOG_ALL_BYTES  (64u << 20)
#define LOG_TAIL       1500
#define PROGRAMS_MAX   16
#define PROGRAM_APART  "on_leave"
#define PATH_BYTES     4096

/* ---- calibration: copying and comparing states with differences, as a verifier does ---- */

#define STATES	     64
#define STATE_WORDS  160
#define STATE_ROUNDS 40
#define SAME_WORDS   8 /* to each that is not; natively as fast as a verifier then */
#define CALIBRATIONS 10

struct state {
	uint64_t word[STATE_WORDS];
};

static struct state *make_states(void)
{
	struct state *states = calloc(STATES, sizeof(*states));
	uint64_t random = 1;

	for (int i = 0; states && i < STATES * STATE_WORDS; i++) {
		random = random * 6364136223846793005u + 1442695040888963407u;
		states[i / STATE_WORDS].word[i % STATE_WORDS] =
			(random >> 33) % SAME_WORDS ? 0 : random;
	}
	return states;
}

static uint64_t compare_states(const struct state *a, const struct state *b)
{
	uint64_t differences = 0;

	for (int k = 0; k < STATE_WORDS; k++) {
		if (a->word[k] != b->word[k])
			differences += a->word[k] > b->word[k] ? a->word[k] : differences / 3;
		/* one after the other, as branches */
		__asm__ volatile("" : "+r"(differences));
	}
	return differences;
}

/* Returns the CPU time of this process, without others on the machine. */
static uint64_t cpu_time(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * NS_PER_SECOND + (uint64_t)now.tv_nsec;
}

static uint64_t calibrate_once(void)
{
	guard_free struct state *states = make_states();
	uint64_t begun = cpu_time();

	for (int i = 0; states && i < STATES * STATE_ROUNDS; i++) {
		struct state *copy = malloc(sizeof(*copy));

		if (!copy)
			break;
		*copy = states[i % STATES];
		copy->word[i % STATE_WORDS] = compare_states(copy, &states[i * 7 % STATES]);
		states[i * 3 % STATES].word[i % STATE_WORDS] = copy->word[i % STATE_WORDS] & 1;
		free(copy);
	}
	return cpu_time() - begun;
}

struct calibration {
	uint64_t best, mean;
};

static struct calibration calibrate(unsigned int times)
{
	struct calibration calibration = {.best = UINT64_MAX};
	uint64_t sum = 0;

	for (unsigned int i = 0; i < times; i++) {
		uint64_t took = calibrate_once();

		calibration.best = took < calibration.best ? took : calibration.best;
		sum += took;
	}
	calibration.mean = sum / times;
	return calibration;
}

/* ---- one object ---- */

struct attempt {
	const char *file, *name;
	const char *only; /* the program to load; NULL: all but PROGRAM_APART */
	int mode, count;
	const struct bpf_program *program[PROGRAMS_MAX];
	uint32_t log_level;
	size_t log_bytes;
	char *log[PROGRAMS_MAX]; /* each lives as long as this program */
};

/* The time of a load, and of the calibration just before it. */
struct timing {
	uint64_t took, calibration;
	bool last;
};

/* A constant of the object's read-only data. */
static uint32_t *find_constant(struct bpf_object *object, const char *name)
{
	const struct btf *btf = bpf_object__btf(object);
	struct bpf_map *map = bpf_object__find_map_by_name(object, ".rodata");
	int id = btf__find_by_name_kind(btf, ".rodata", BTF_KIND_DATASEC);
	const struct btf_type *section = id < 0 ? NULL : btf__type_by_id(btf, (uint32_t)id);
	size_t size;
	uintptr_t data = map ? (uintptr_t)bpf_map__initial_value(map, &size) : 0;

	for (int i = 0; data && section && i < btf_vlen(section); i++) {
		const struct btf_var_secinfo *variable = &btf_var_secinfos(section)[i];
		const struct btf_type *type = btf__type_by_id(btf, variable->type);

		if (!strcmp(btf__name_by_offset(btf, type->name_off), name))
			return (uint32_t *)(data + variable->offset);
	}
	return NULL;
}

static uint32_t newer_helpers; /* NEWER_*, as the loader finds them */

static bool has_helper(enum bpf_func_id helper)
{
	return libbpf_probe_bpf_helper(BPF_PROG_TYPE_PERF_EVENT, helper, NULL) == 1;
}

static void find_newer_helpers(void)
{
	if (has_helper(BPF_FUNC_task_pt_regs) && has_helper(BPF_FUNC_get_current_task_btf))
		newer_helpers |= NEWER_TASK_PT_REGS;
	if (has_helper(BPF_FUNC_snprintf))
		newer_helpers |= NEWER_SNPRINTF;
}

static bool is_wanted(const struct attempt *attempt, const char *program)
{
	if (attempt->only)
		return strcmp(program, attempt->only) == 0;
	return strcmp(program, PROGRAM_APART) != 0;
}

static int prepare(struct bpf_object *object, struct attempt *attempt)
{
	uint32_t *mode = find_constant(object, "filter_mode");
	uint32_t *kinds = find_constant(object, "deny_kinds");
	struct sample_filter *filter = (void *)find_constant(object, "sample_filter");
	uint32_t *newer = find_constant(object, "newer_helpers");
	struct bpf_program *program;

	if (!mode || !kinds || !filter || !newer)
		return -ENOENT;
	*mode = (uint32_t)attempt->mode;
	*kinds = ~0u; /* a rule of each */
	*newer = newer_helpers;
	filter->uid[0] = 1; /* and what else takes instructions: the others spare them */
	filter->excluded_cgroup[0] = 1;
	attempt->count = 0;
	bpf_object__for_each_program(program, object)
	{
		if (attempt->count == PROGRAMS_MAX)
			return -E2BIG;
		if (!is_wanted(attempt, bpf_program__name(program))) {
			bpf_program__set_autoload(program, false);
			continue;
		}
		bpf_program__set_autoload(program, true);
		if (!attempt->log[attempt->count])
			attempt->log[attempt->count] = calloc(1, attempt->log_bytes);
		if (!attempt->log[attempt->count])
			return -ENOMEM;
		bpf_program__set_log_level(program, attempt->log_level);
		bpf_program__set_log_buf(program, attempt->log[attempt->count], attempt->log_bytes);
		attempt->log[attempt->count][0] = 0;
		attempt->program[attempt->count++] = program;
	}
	return 0;
}

static unsigned long after(const char *log, const char *text)
{
	const char *at = strstr(log, text);

	return at ? strtoul(at + strlen(text), NULL, 10) : 0;
}

static void print_program(const struct attempt *attempt, int i)
{
	struct bpf_prog_info info = {0};
	const char *log = attempt->log[i];
	uint32_t size = sizeof(info);
	unsigned long instructions;

	bpf_obj_get_info_by_fd(bpf_program__fd(attempt->program[i]), &info, &size);
	/* The field came with 5.16. The log is short of the global functions on 7.2. */
	instructions = info.verified_insns ? info.verified_insns : after(log, "processed ");
	printf("program %s %d %s %lu %lu %u\n", attempt->name, attempt->mode,
	       bpf_program__name(attempt->program[i]), instructions,
	       after(log, "verification time "), info.xlated_prog_len);
}

static void print_refusals(const struct attempt *attempt)
{
	for (int i = 0; i < attempt->count; i++) {
		const char *log = attempt->log[i];
		size_t length = strlen(log);

		if (bpf_program__fd(attempt->program[i]) >= 0 || !length)
			continue;
		fprintf(stderr, "%s mode %d: %s:\n%s\n", attempt->name, attempt->mode,
			bpf_program__name(attempt->program[i]),
			log + (length > LOG_TAIL ? length - LOG_TAIL : 0));
	}
}

static int load(struct attempt *attempt, struct timing *ret_timing)
{
	struct bpf_object *object = bpf_object__open_file(attempt->file, NULL);
	int r = object ? prepare(object, attempt) : -errno;
	uint64_t begun;

	ret_timing->calibration = calibrate(CALIBRATIONS).mean;
	begun = cpu_time();
	r = r ? r : bpf_object__load(object);
	ret_timing->took = cpu_time() - begun;
	for (int i = 0; !r && ret_timing->last && i < attempt->count; i++)
		print_program(attempt, i);
	if (r)
		print_refusals(attempt);
	bpf_object__close(object);
	return r;
}

static int compare_timings(const void *left, const void *right)
{
	const struct timing *a = left, *b = right;
	double difference =
		(double)a->took * (double)b->calibration - (double)b->took * (double)a->calibration;

	return (difference > 0) - (difference < 0);
}

static int load_in_mode(struct attempt *attempt, int mode, int times)
{
	struct timing timing[LOADS_MAX] = {0}, *median = &timing[times / 2];
	int r = 0;

	attempt->mode = mode;
	timing[times - 1].last = true;
	for (int i = 0; !r && i < times; i++)
		r = load(attempt, &timing[i]);
	qsort(timing, (size_t)times, sizeof(timing[0]), compare_timings);
	printf("object %s %d %.2f %" PRIu64 " %s\n", attempt->name, mode,
	       (double)median->took / NS_PER_MS, median->calibration,
	       r ? strerrorname_np(-r) : "ok");
	return r;
}

/* what: FILE or FILE:PROGRAM. Ends with the first mode that is refused. */
static void load_in_all_modes(const char *what, int times)
{
	static struct attempt attempt = {.log_level = LOG_STATISTICS, .log_bytes = LOG_BYTES};
	static char file[PATH_BYTES], name[PATH_BYTES];
	const char *colon = strchrnul(what, ':'), *base;

	snprintf(file, sizeof(file), "%.*s", (int)(colon - what), what);
	base = strrchr(file, '/');
	base = base ? base + 1 : file;
	snprintf(name, sizeof(name), "%.*s%s", (int)strcspn(base, "."), base, colon);
	attempt.file = file;
	attempt.name = name;
	attempt.only = *colon ? colon + 1 : NULL;
	for (int mode = 0; mode < FILTER_MODES; mode++)
		if (load_in_mode(&attempt, mode, times))
			break;
}

/* ---- by function ---- */

#define FUNCTIONS_MAX 256

struct function {
	char name[64];
	unsigned long instructions;
};

static struct function functions[FUNCTIONS_MAX];

/* Returns the function of a name, which is new if need be. */
static struct function *find_function(const char *name, size_t length)
{
	struct function *function = functions;

	if (length >= sizeof(function->name))
		return NULL;
	while (function->name[0] &&
	       (strncmp(function->name, name, length) != 0 || function->name[length]))
		function++;
	if (function == &functions[FUNCTIONS_MAX - 1])
		return NULL;
	memcpy(function->name, name, length);
	return function;
}

/* "12: (b7) r1 = 0" */
static bool is_instruction(const char *line)
{
	const size_t digits = strspn(line, "0123456789");

	return digits > 0 && strncmp(line + digits, ": (", 3) == 0;
}

/* Counts the instructions in the log of a program. The program itself comes first. */
static void count_instructions(char *log)
{
	static const char begin[] = "Validating ";
	struct function *function = NULL;
	char *rest = log, *line;

	while ((line = strsep(&rest, "\n")) != NULL) {
		if (strncmp(line, begin, strlen(begin)) == 0) {
			line += strlen(begin);
			function = find_function(line, strcspn(line, "("));
		} else if (function && is_instruction(line)) {
			function->instructions++;
		}
	}
}

static int print_functions(const char *file)
{
	static struct attempt attempt = {.log_level = LOG_ALL, .log_bytes = LOG_ALL_BYTES};
	struct timing timing = {0};
	int r;

	attempt.file = attempt.name = file;
	attempt.mode = FILTER_MODES - 1;
	r = load(&attempt, &timing);
	for (int i = 0; r == 0 && i < attempt.count; i++)
		count_instructions(attempt.log[i]);
	for (int i = 0; functions[i].name[0]; i++)
		printf("function %s %lu\n", functions[i].name, functions[i].instructions);
	return r;
}

static int print(enum libbpf_print_level level, const char *format, va_list arguments)
{
	return level == LIBBPF_WARN ? vfprintf(stderr, format, arguments) : 0;
}

int main(int argc, char **argv)
{
	int times = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 1;

	setvbuf(stdout, NULL, _IOLBF, 0);
	libbpf_set_print(print);
	find_newer_helpers();
	if (argc == 3 && strcmp(argv[1], "functions") == 0)
		return print_functions(argv[2]) ? 1 : 0;
	if (times < 1 || times > LOADS_MAX)
		return 2;
	printf("calibration %" PRIu64 "\n", calibrate(10 * CALIBRATIONS).best);
	for (int i = 2; i < argc; i++)
		load_in_all_modes(argv[i], times);
	return 0;
}
