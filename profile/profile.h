/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one model behind every format: interned strings, objects, functions, locations, stacks and
 * counted samples of one recording. Ids start at 1; 0 means none. Adders return the id of an equal
 * earlier entry where there is one. Adders return PROFILE_FAILED when memory runs out.
 *
 * Every id inside an entry is 0 or names an existing entry; the adder's caller ensures it.
 */
#ifndef KEYHOLE_PROFILE_PROFILE_H
#define KEYHOLE_PROFILE_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct language;

#define PROFILE_FAILED	  UINT32_MAX
#define PROFILE_CPUS_MAX  2047u
#define PROFILE_STACK_MAX 2400 /* locations */
#define PROFILE_LINES_MAX 64   /* of a location: inlined functions and the function around them */
#define PROFILE_UNKNOWN	  "[unknown]"	     /* stands for a name that is not known */
#define PROFILE_CUT_LIST  "[cut: functions]" /* marks that an interpreted program's are missing */

enum profile_kind {
	KIND_NATIVE,
	KIND_KERNEL,
	/*
	 * executable memory without a file, as code that is made at run time;
	 * base/made_languages.def has the objects of such code that has names
	 */
	KIND_ANON,
	KIND_SCRIPT, /* functions of a language that is interpreted: base/languages.def */
	KIND_MARKER  /* "[cut: ...]" and the like */
};

struct profile_object {	       /* a file or pseudo file; pprof's mapping */
	uint32_t name;	       /* string: path as the process saw it, "[kernel]", "[vdso]" … */
	uint32_t build_id;     /* string of lower-case hex, or 0 */
	uint32_t go_build_id;  /* string: of Go's note, raw, or 0 */
	uint32_t file_id;      /* string: base/file_id.h, or 0: nobody has read the file's bytes */
	uint64_t start, limit; /* of its executable segment, in its own address space */
	uint64_t file_offset;
	bool has_functions; /* a search for names found at least one */
	enum profile_kind kind;
	uint32_t runtime; /* enum runtime of base/runtimes.h */
};

struct profile_function {
	uint32_t name;	      /* string: for people (demangled), or object+0xoffset */
	uint32_t system_name; /* string: as in the symbol table; equal to name when not mangled */
	uint32_t file;	      /* string: of the source, 0: not known */
	uint32_t line;	      /* in that file, of its beginning; 0: not known */
	uint32_t object;
	uint64_t start; /* 0: the function is inlined everywhere */
	bool named;	/* false: object+0xoffset */
};

struct profile_line {
	uint32_t function;
	uint32_t line; /* in the function's file; 0: not known */
};

struct profile_location {
	uint32_t object;
	uint32_t function; /* the owner of the code; 0 until names are known */
	uint32_t line;	   /* in that function's file, of the call to inlined code; 0: not known */
	uint32_t inlined;  /* see profile_location_lines(); 0: none */
	uint64_t address;  /* in the object's address space; return addresses already minus 1 */
	bool converted;	   /* the recorder has put that address in place of an offset in a file */
};

/* A span, of OpenTelemetry's traces: ids as bytes, most significant first. */
struct profile_link {
	uint8_t trace[16], span[8];
};
/* At most PROFILE_LINKS_MAX are kept. */
#ifndef PROFILE_LINKS_MAX
#define PROFILE_LINKS_MAX 131072u
#endif

/* Texts that a program gives to a part of its work. A sample has at most PROFILE_LABELS_MAX. */
struct profile_label {
	uint32_t key, value; /* strings */
};
#define PROFILE_LABELS_MAX 16u
/* At most so many different sets of labels are kept. */
#ifndef PROFILE_LABEL_SETS_MAX
#define PROFILE_LABEL_SETS_MAX 16384u
#endif

/* The activity of a thread in the time of a sample. */
enum profile_state {
#define S(id, word, frame) STATE_##id,
#include "profile/states.def"
#undef S
	PROFILE_STATES
};
struct profile_state_row {
	const char *word;  /* in formats */
	const char *frame; /* behind the innermost function; NULL: none */
};
/* Returns the row of an enum profile_state, or NULL for an unknown one. */
const struct profile_state_row *profile_state(uint32_t state);
/* Returns the state of a word, or STATE_WAIT for an unknown one. */
uint32_t profile_state_find(const char *word);
bool profile_state_is_frame(const char *name);	/* whether the name is the frame of a state */
const char *profile_state_side(uint32_t state); /* "on-cpu" or "off-cpu" */

#define PROFILE_WAITS_ONE 1024u /* in profile_sample.waits: one wait */

struct profile_sample { /* a number of equal samples */
	uint32_t pid, tid;
	uint32_t process_name; /* string: name of the process's main thread or program */
	uint32_t thread_name;  /* string: comm of the thread when it was sampled */
	uint32_t stack;
	uint32_t reason;  /* enum sample_reason of bpf/abi.h */
	uint32_t process; /* id of profile_process_get(); 0: not known, or not asked for */
	uint32_t cpu;  /* its number + 1, up to PROFILE_CPUS_MAX; 0: not known, or not asked for */
	uint32_t link; /* id of profile_link_get(): in which the thread was; 0: none, not known */
	uint32_t labels;    /* id of profile_labels_get(): that the program gave; 0: none */
	uint32_t state;	    /* enum profile_state */
	uint32_t waker;	    /* string: who ended the wait; 0: none, not known */
	uint64_t cgroup;    /* key of profile_cgroup_get(), in a new profile the id; 0: not known */
	uint64_t goroutine; /* its number in Go's runtime; 0: none, not known */
	uint64_t count;
	uint64_t base;	/* of a difference: the count in the older profile */
	uint64_t waits; /* how often a thread left its CPU, times PROFILE_WAITS_ONE; 0: not known */
};

/*
 * The time of a sample. profile_keep_times() asks for times. A time takes 4 to 8 bytes as a rule.
 * Where no file takes them (profile_spill_to()), the first PROFILE_MOMENTS_MAX times are kept.
 */
#ifndef PROFILE_MOMENTS_MAX
#define PROFILE_MOMENTS_MAX (1u << 22)
#endif
struct profile_moment {
	uint64_t time;	 /* CLOCK_MONOTONIC, ns */
	uint32_t sample; /* index below profile_samples() */
};
struct profile_moment_walk { /* begins as zeros */
	struct profile_moment moment;
	size_t done, chunk; /* the rest belongs to profile_moment_next() */
	uint32_t at;
};

/*
 * Where profile_spill_to() gives a file, samples, stacks and times take about PROFILE_MEMORY_MAX
 * bytes of memory. The file takes at most PROFILE_SPILL_MAX bytes.
 */
#ifndef PROFILE_MEMORY_MAX
#define PROFILE_MEMORY_MAX (24u << 20)
#endif
#ifndef PROFILE_SPILL_MAX
#define PROFILE_SPILL_MAX (1ull << 30)
#endif

/* The user's words about resources: OTEL_RESOURCE_ATTRIBUTES, OTEL_SERVICE_NAME. */
struct profile_attribute {
	const char *key, *value; /* borrowed and raw */
};
struct profile_own {
	/*
	 * Beginnings of the paths of keyhole's own programs. Attributes that tell a process from
	 * others, such as "service.name", are about processes that execute one of these.
	 */
	const char *const *programs;
	size_t program_count;
	const struct profile_attribute *attributes; /* others are about the machine */
	size_t attribute_count;
};

struct profile_times {
	uint64_t period;   /* worth of a sample: ns of CPU time, or a number of `event` */
	const char *event; /* "page-faults"; NULL: CPU time; borrowed and raw */
	/*
	 * The values of a file that counts no samples ("delay", "nanoseconds"): a count is worth
	 * one unit, and the period is 1. NULL: counts are samples. Borrowed and raw.
	 */
	const char *type, *unit;
	/*
	 * Counts are ns of threads off their CPU, or on and off it; samples have a state. ns of the
	 * clock that stand for a sample on the CPU; 0: samples are no times of threads.
	 */
	uint64_t tick;
	const char *host; /* the recording machine's name; NULL: not known; borrowed and raw */
	/* The recording machine's, borrowed and raw; NULL: not known. */
	const char *arch;	       /* as OpenTelemetry's host.arch: "amd64" */
	const char *kernel;	       /* tells one build of the kernel from others */
	const struct profile_own *own; /* NULL: the user says nothing; OTLP alone has it */
	bool walked; /* keyhole walked the stacks: reasons say whether they are complete */
	uint64_t start_monotonic_ns;
	uint64_t start_realtime_ns;
	uint64_t duration_ns;
};

/* A control group of version 2. At most PROFILE_CGROUPS_MAX have a path. */
#ifndef PROFILE_CGROUPS_MAX
#define PROFILE_CGROUPS_MAX 16384u
#endif
struct profile_cgroup {
	uint64_t id;	    /* the kernel's, until the next boot; 0: not known */
	uint32_t path;	    /* string: "/" is the root; 0: not known */
	uint32_t container; /* string: the id in that path (profile/container.h), or 0 */
	uint32_t pod;	    /* string: the uid in that path (profile/container.h), or 0 */
	uint32_t unused;    /* 0 */
};

/*
 * A program that a process runs. Two programs of one pid are two processes here. At most
 * PROFILE_PROCESSES_MAX are kept.
 */
#ifndef PROFILE_PROCESSES_MAX
#define PROFILE_PROCESSES_MAX 16383u
#endif
struct profile_process {
	uint64_t generation; /* the recorder's number of the process, never 0 */
	uint64_t created;    /* CLOCK_REALTIME in ns, when the pid was given; 0: not known */
	uint32_t pid;
	uint32_t executable; /* string: path as the process has it, or 0 */
	/* string: what the process says of itself, as of worker/context/attributes.h; 0: nothing */
	uint32_t attributes;
	uint32_t is_kernel; /* 1: a thread of the kernel, which runs no program */
};

enum reason_class { /* see bpf/counters.def */
	CLASS_END,
	CLASS_GUESS,
	CLASS_CUT,
	CLASS_LOST
};

struct profile_reason {
	const char *name; /* as in bpf/counters.def */
	enum reason_class class;
	const char *help;
};
#define PROFILE_REASONS_MAX 64u /* each enum sample_reason is less */
/* Returns the row of an enum sample_reason, or NULL for an unknown one. */
const struct profile_reason *profile_reason(uint32_t reason);

/*
 * Returns the reason of a name that a file has. Another version of keyhole may have reasons of its
 * own: each is taken for an end, a guess or a cut, as its name begins.
 */
uint32_t profile_reason_find(const char *name);
/* Returns whether a stack with that enum sample_reason is cut. An unknown one cuts none. */
bool profile_reason_is_cut(uint32_t reason);
/* Returns whether such a stack is complete, but led to its root by a guess. */
bool profile_reason_is_guess(uint32_t reason);
/* Returns whether such a stack is cut or guessed: each format names the reason then. */
bool profile_reason_is_told(uint32_t reason);

struct profile;

struct profile *profile_new(void);
void profile_free(struct profile *profile);

/* Returns whether the object is code: it is neither NULL nor a marker. */
static inline bool profile_object_is_file(const struct profile_object *object)
{
	return object && object->kind != KIND_MARKER;
}

/* Getters return NULL, "" or an empty stack for 0 and for unknown ids. */
uint32_t profile_string(struct profile *profile, const char *string);
/* Returns the raw text, as the target gave it: profile/format/names.h says who cleans text. */
const char *profile_string_get(const struct profile *profile, uint32_t id);
uint32_t profile_strings(const struct profile *profile); /* ids are 0..n-1 */

/*
 * Adds a new object each time; the caller knows the ids of its objects. Pointers to objects and
 * locations are valid until the next object or location is added.
 */
uint32_t profile_object_add(struct profile *profile, const struct profile_object *object);
struct profile_object *profile_object_get(const struct profile *profile, uint32_t id);
uint32_t profile_objects(const struct profile *profile); /* ids are 1..n */

uint32_t profile_function_add(struct profile *profile, const struct profile_function *function);
const struct profile_function *profile_function_get(const struct profile *profile, uint32_t id);
uint32_t profile_functions(const struct profile *profile);

uint32_t profile_location_add(struct profile *profile, uint32_t object, uint64_t address);
/*
 * Adds one of several locations at the same address: with different inlined functions, or from a
 * file that leaves addresses out.
 */
uint32_t profile_location_add_variant(struct profile *profile, uint32_t object, uint64_t address,
				      uint64_t variant);
struct profile_location *profile_location_get(const struct profile *profile, uint32_t id);
/* Returns the object that a location is in. */
const struct profile_object *profile_location_object(const struct profile *profile, uint32_t id);
/* Returns the kind of the location's object. A location without an object is KIND_NATIVE. */
enum profile_kind profile_location_kind(const struct profile *profile, uint32_t id);
/* Returns the language of the code that a location is in, or NULL: native code, the kernel. */
const struct language *profile_location_language(const struct profile *profile, uint32_t id);
uint32_t profile_locations(const struct profile *profile);
/*
 * Gets the lines that a location is shown as, and returns their number, at least 1. Inlined
 * functions come first, innermost first; the function that owns the code is last.
 */
size_t profile_location_lines(const struct profile *profile, uint32_t id,
			      struct profile_line ret_lines[PROFILE_LINES_MAX]);
/* Keeps the outermost PROFILE_LINES_MAX - 1 of the inlined functions. Returns 0 or -ENOMEM. */
int profile_location_set_inlined(struct profile *profile, uint32_t id,
				 const struct profile_line *inlined, size_t count);

/*
 * Locations come leaf first; more than PROFILE_STACK_MAX fail. Stack 0 has no location. Locations
 * that profile_stack_get() returns are valid until the next stack or sample is added.
 */
uint32_t profile_stack_add(struct profile *profile, const uint32_t *locations, size_t count);
size_t profile_stack_get(const struct profile *profile, uint32_t id,
			 const uint32_t **ret_locations);
uint32_t profile_stacks(const struct profile *profile);

/*
 * Adds a cgroup, by its id and the string of its path, and returns the key for its samples. The key
 * is the id, unless the profile has the id with another path: two machines may give one id. Returns
 * 0, "not known", for such an id beyond the limit or without memory.
 */
uint64_t profile_cgroup_add(struct profile *profile, uint64_t id, uint32_t path);
/* Returns the cgroup of a key. A key that was not added is an id without a path. */
struct profile_cgroup profile_cgroup_get(const struct profile *profile, uint64_t key);

/*
 * Adds a process for samples, unless its generation is there, and returns its id. A known process
 * gets what it lacks. Returns 0, "not known", beyond the limit or without memory.
 */
uint32_t profile_process_add(struct profile *profile, const struct profile_process *process);
/* Returns zeros for an id that is not known. */
struct profile_process profile_process_get(const struct profile *profile, uint32_t id);

/*
 * Adds labels for samples, and returns their id. Returns 0 for none of them, where a string is
 * PROFILE_FAILED, beyond the limit, or without memory.
 */
uint32_t profile_labels_add(struct profile *profile, const struct profile_label *labels,
			    size_t count);
/* Returns how many labels there are; they are valid until labels are added. */
size_t profile_labels_get(const struct profile *profile, uint32_t id,
			  const struct profile_label **ret_labels);
/* Adds a link for samples, and returns its id. Returns 0 beyond the limit or without memory. */
uint32_t profile_link_add(struct profile *profile, const struct profile_link *link);
/* Returns zeros for an id that is not known. */
struct profile_link profile_link_get(const struct profile *profile, uint32_t id);

/* Adds sample->count (usually 1) and sample->base to an equal sample. Returns 0 or -ENOMEM. */
int profile_sample_add(struct profile *profile, const struct profile_sample *sample);
/* Adds a sample as profile_sample_add() does, and keeps its time or counts the time as dropped. */
int profile_sample_add_at(struct profile *profile, const struct profile_sample *sample,
			  uint64_t time);
/* Add a stack or a sample that is known to have no equal, as in a file of samples: only faster. */
uint32_t profile_stack_append(struct profile *profile, const uint32_t *locations, size_t count);
int profile_sample_append(struct profile *profile, const struct profile_sample *sample);
/* Multiplies the counts of all samples from this index on. The caller rules an overflow out. */
void profile_samples_scale(struct profile *profile, size_t from, uint64_t factor);
size_t profile_samples(const struct profile *profile); /* indexes are 0..n-1 */
struct profile_sample profile_sample_get(const struct profile *profile, size_t index);

/*
 * Lets the profile move samples, stacks and times to a file when these take PROFILE_MEMORY_MAX
 * bytes. The caller keeps the descriptor open, for reading and writing, while the profile lives. No
 * other process changes the file. A sample that equals a moved one gets an entry of its own. When
 * the file takes no more bytes, the rest stays in memory.
 */
void profile_spill_to(struct profile *profile, int fd);
/* Returns the bytes in the file, and 0 or why it takes no more: a negative errno. */
uint64_t profile_spilled(const struct profile *profile, int *ret_error);

/*
 * Removes stacks, samples, their times, cgroups, processes and links, and keeps all else. Returns
 * 0, or -ENOMEM without any change.
 */
int profile_forget_samples(struct profile *profile);

/*
 * Adds a note for people about the profile as a whole: raw text. At most PROFILE_NOTES_MAX notes
 * are kept. Returns 0 or -ENOMEM.
 */
#define PROFILE_NOTES_MAX 9u
int profile_note_add(struct profile *profile, const char *raw);
void profile_notes_clear(struct profile *profile);
/* Returns the ids of the notes' strings. */
const uint32_t *profile_notes(const struct profile *profile, size_t *ret_count);

void profile_keep_times(struct profile *profile); /* of samples that are added from now on */
bool profile_keeps_times(const struct profile *profile);
/*
 * Adds the time of a sample that profile_sample_append() has added. Returns 0, -E2BIG or -ENOMEM:
 * the time counts as dropped.
 */
int profile_moment_append(struct profile *profile, const struct profile_moment *moment);
size_t profile_moments(const struct profile *profile);
/*
 * Gets the next moment in the order of their addition, which is not quite that of time. Returns
 * false behind the last one.
 */
bool profile_moment_next(const struct profile *profile, struct profile_moment_walk *walk);
uint64_t profile_moments_dropped(const struct profile *profile);

#endif
