/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/why/advice.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "base/languages.h"
#include "base/runtimes.h"
#include "profile/profile.h"
#include "worker/why/findings.h"
#include "worker/why/sources.h"

#define REASONS_EXPLAINED 3
#define ADVICE_BYTES	  480
#define PART_BYTES	  64  /* "where it runs Lua, " */
#define LIST_BYTES	  120 /* of names in one */
#define NAME_BYTES	  21  /* of a name in a list */
#define MORE_BYTES	  24  /* kept for ", " or " and N more" */

/* ---- facts ---- */

/* Facts about an object that advice is given for. */
enum fact {
	REFUSED = 1u << 0,
	UNREADABLE = 1u << 1, /* for another reason */
	PENDING = 1u << 2,
	NO_ROOM = 1u << 3,
	ANONYMOUS = 1u << 4, /* and sampled */
	CUT = 1u << 5,	     /* walks were cut in the object */
	CUT_NO_RULE = 1u << 6,
	GO = 1u << 7,
	NO_RULES = 1u << 8,   /* none, or damaged ones */
	SOME_RULES = 1u << 9, /* .eh_frame or .debug_frame */
	GO_RULES = 1u << 10,
	UNNAMED = 1u << 11,
	NO_BUILD_ID = 1u << 12,
	NO_LINES = 1u << 13,
	SPLIT_LINES = 1u << 14,
	PRIVATE_LINES = 1u << 15,
	OVERDRAWN = 1u << 16, /* the CPU time for parsing is used up */
	GIVEN_UP = 1u << 17,
};

/* Facts about the rules that an unwind table comes from. */
static const unsigned int rules_facts[] = {
	[RULES_NONE] = NO_RULES,
	[RULES_EH_FRAME] = SOME_RULES,
	[RULES_GO] = GO_RULES,
	[RULES_DEBUG_FRAME] = SOME_RULES,
	[RULES_EH_FRAME_GO] = SOME_RULES | GO_RULES,
	[RULES_EH_FRAME_DEBUG] = SOME_RULES,
	[RULES_GO_DEBUG] = SOME_RULES | GO_RULES,
	[RULES_ALL] = SOME_RULES | GO_RULES,
	[RULES_DAMAGED] = NO_RULES,
	[RULES_NO_ROOM] = NO_ROOM,
	[RULES_OVERDRAWN] = OVERDRAWN,
	[RULES_GIVEN_UP] = GIVEN_UP,
	[RULES_PENDING] = PENDING,
	[RULES_NOT_READ] = 0,
};

/* Counts the walks that ended for lack of a rule. */
static uint64_t cut_no_rule(const struct finding *finding)
{
	uint64_t count = 0;

	for (uint32_t i = 0; i < SUMMARY_REASONS && profile_reason(i); i++)
		if (strcmp(profile_reason(i)->name, "cut_no_rule") == 0)
			count += finding->reason[i];
	return count;
}

static unsigned int error_fact(int error)
{
	if (error == 0)
		return 0;
	if (error == -EACCES)
		return REFUSED;
	if (error == -EDQUOT)
		return OVERDRAWN;
	return UNREADABLE;
}

static unsigned int walk_facts(const struct finding *finding)
{
	unsigned int facts = 0;

	if (finding->cut > 0)
		facts |= CUT;
	if (cut_no_rule(finding) > 0)
		facts |= CUT_NO_RULE;
	return facts;
}

static unsigned int name_facts(const struct source *source, bool unnamed)
{
	unsigned int facts = 0;

	if (unnamed && source->error == 0 && source->names <= NAMES_DEBUGDATA)
		facts |= UNNAMED;
	if (source->names == NAMES_GO)
		facts |= GO;
	if (source->no_build_id)
		facts |= NO_BUILD_ID;
	return facts;
}

static unsigned int line_facts(const struct source *source)
{
	unsigned int facts = 0;

	if (source->lines == LINES_NONE)
		facts |= NO_LINES;
	if (source->lines == LINES_DWARF && source->split)
		facts |= SPLIT_LINES;
	if (source->lines == LINES_DWARF && source->is_private)
		facts |= PRIVATE_LINES;
	return facts;
}

static unsigned int facts_of(const struct findings *findings, const struct finding *finding)
{
	const struct source *source = finding->source;
	bool asleep = findings->samples == 0, sampled = finding->samples > 0;

	if (!source || source->kernels)
		return 0;
	/* All mappings of a process that slept matter. */
	if (!sampled && (source->anonymous || !asleep))
		return 0;
	if (source->anonymous)
		return ANONYMOUS;
	return error_fact(source->error) | rules_facts[source->rules] | walk_facts(finding) |
	       name_facts(source, finding->unnamed > 0 || asleep) | line_facts(source);
}

/* ---- advice ---- */

static const struct {
	unsigned int has, lacks;     /* facts: all of the first, none of the second */
	const char *before, *behind; /* the list of objects */
} advice[] = {
	{UNREADABLE, 0, "",
	 ": could not be read: not there any more, damaged, or no ELF file for "
	 "x86-64; keyhole record -v says why"},
	{PENDING, 0, "", ": not read yet: give it more time: -d 30"},
	{OVERDRAWN, 0, "",
	 ": not parsed yet: its cgroup, or its owner, has used up the CPU time for parsing (3 s at "
	 "once, then 10 % of a CPU): give it more time: -d 60"},
	{GIVEN_UP, 0, "", ": given up: parsing it takes more than 6 s of CPU time"},
	{NO_ROOM, 0, "", ": no memory for unwind tables is left: record fewer processes at once"},
	{CUT | NO_RULES, GO, "",
	 ": no unwind rules, frame pointers are followed: build with "
	 "-fasynchronous-unwind-tables, or with -fno-omit-frame-pointer"},
	{CUT_NO_RULE | SOME_RULES, GO, "",
	 ": some of its code has no unwind rules, frame pointers are followed there: build all of "
	 "it with -fasynchronous-unwind-tables, or with -fno-omit-frame-pointer"},
	{CUT_NO_RULE | GO_RULES, 0, "",
	 ": Go's table does not say what called where its runtime changes stacks "
	 "(runtime.systemstack, time.now, calls of C): nothing is to be done"},
	{CUT_NO_RULE | GO, GO_RULES, "",
	 ": Go's frame pointers are followed, which do not say where a goroutine begins; its own "
	 "table does, of Go 1.18 and newer: build it with such a Go"},
	{UNNAMED, NO_BUILD_ID, "names of ",
	 ": install debug symbols (Debian: libc6-dbg, PACKAGE-dbgsym), or "
	 "--debug-dir DIR with .build-id/xx/rest.debug; debuginfod-find "
	 "debuginfo BUILD-ID fetches one"},
	{UNNAMED | NO_BUILD_ID, 0, "names of ",
	 ": no build id to find debug symbols by: do not strip it, or link it with -Wl,--build-id; "
	 "or objcopy --add-gnu-debuglink, and --debug-dir"},
	{NO_LINES | UNNAMED, 0, "lines of ", ": in the same debug symbols; of what you build: -g"},
	{NO_LINES, UNNAMED | NO_BUILD_ID, "lines of ",
	 ": install debug symbols (Debian: libc6-dbg, PACKAGE-dbgsym), or --debug-dir DIR; of what "
	 "you build: -g"},
	{NO_LINES | NO_BUILD_ID, UNNAMED, "lines of ",
	 ": no build id to find debug symbols by: build with -g"},
	{SPLIT_LINES, 0, "inlined functions of ",
	 ": in .dwo files, which are not read: build without -gsplit-dwarf"},
	{PRIVATE_LINES, 0, "lines of ",
	 ": not everybody may read the file, so record adds none: chmod o+r, or keyhole symbolize "
	 "FILE as who may"},
};

/* Lists the objects with some facts as "a, b and 3 more". Returns how many there are. */
static size_t list(const struct findings *findings, unsigned int has, unsigned int lacks,
		   char ret_text[LIST_BYTES])
{
	char name[NAME_BYTES];
	size_t count = 0, left_out = 0, used = 0;

	ret_text[0] = '\0';
	for (size_t i = 0; i < findings->count; i++) {
		unsigned int facts = facts_of(findings, &findings->items[i]);

		if ((facts & has) != has || (facts & lacks) != 0)
			continue;
		count++;
		findings_name(findings, findings->items[i].object, name, sizeof(name));
		if (used + strlen(name) + MORE_BYTES < LIST_BYTES)
			used += (size_t)snprintf(ret_text + used, LIST_BYTES - used, "%s%s",
						 used > 0 ? ", " : "", name);
		else
			left_out++;
	}
	if (left_out > 0)
		snprintf(ret_text + used, LIST_BYTES - used, " and %zu more", left_out);
	return count;
}

/* Returns the file system of the first object that was refused. */
static uint64_t refused_device(const struct findings *findings)
{
	for (size_t i = 0; i < findings->count; i++) {
		const struct finding *finding = &findings->items[i];

		if (facts_of(findings, finding) & REFUSED && finding->source->device != 0)
			return finding->source->device;
	}
	return 0;
}

/* A process's list of mounts names a file system by the number that the mappings have. */
static void advise_refused(const struct findings *findings,
			   void (*add)(void *context, const char *text), void *context)
{
	char text[ADVICE_BYTES], names[LIST_BYTES];
	uint64_t device = refused_device(findings);

	if (list(findings, REFUSED, 0, names) == 0)
		return;
	snprintf(text, sizeof(text),
		 "%s: refused: no regular file, open for writing, or on a file system that may not "
		 "answer (%u:%u in /proc/%" PRIu32 "/mountinfo; fuse, nfs, 9p ...): copy it to a "
		 "local disk",
		 names, major(device), minor(device), findings->sources->pid);
	add(context, text);
}

/* Returns why code made at run time has no names. */
static const char *explain_map(const struct sources *sources)
{
	if (sources->has_map)
		return "has no name for this code";
	if (sources->map_error == -ENOENT)
		return "the process has not written";
	if (sources->map_error == -EPERM)
		return "the policy (perf-maps no) keeps closed";
	if (sources->map_error == -EACCES)
		return "was refused: a link, another user's, or on a file system that may not "
		       "answer";
	return "was not read";
}

/* Returns whether the functions of code made at run time are shown without a map. */
static bool is_made_shown(const struct findings *findings)
{
	for (size_t i = 0; i < findings->count; i++) {
		const struct source *source = findings->items[i].source;

		if (!source || !source->version)
			continue;
		if (source->runtime == RUNTIME_LUAJIT || source->runtime == RUNTIME_HOTSPOT ||
		    source->runtime == RUNTIME_NODE)
			return findings->sources->grant == GRANT_GIVEN;
	}
	return false;
}

static void advise_made(const struct findings *findings,
			void (*add)(void *context, const char *text), void *context)
{
	char text[ADVICE_BYTES], names[LIST_BYTES];

	if (list(findings, ANONYMOUS, 0, names) == 0 || is_made_shown(findings))
		return;
	snprintf(text, sizeof(text),
		 "%s: code made at run time (a JIT compiler's, as PCRE's): frame pointers are "
		 "followed, or else a word of the frame, by a guess; names come from "
		 "/tmp/perf-PID.map, which %s",
		 names, explain_map(findings->sources));
	add(context, text);
}

static void explain_reasons(const struct findings *findings,
			    void (*add)(void *context, const char *text), void *context)
{
	bool done[SUMMARY_REASONS] = {false};
	char text[ADVICE_BYTES];

	for (size_t i = 0; i < SUMMARY_REASONS && profile_reason((uint32_t)i); i++)
		done[i] = !profile_reason_is_told((uint32_t)i);
	for (int i = 0; i < REASONS_EXPLAINED; i++) {
		size_t next = findings_next_reason(findings->reason, done);
		const struct profile_reason *reason;

		if (next == SUMMARY_REASONS)
			return;
		done[next] = true;
		reason = profile_reason((uint32_t)next);
		snprintf(text, sizeof(text), "%s: %s", reason->name, reason->help);
		add(context, text);
	}
}

/* ---- runtimes ---- */

/* Writes why the functions of a program are not shown, whose runtime's frames BPF could walk. */
static void explain_grant(const struct sources *sources, const char *name, char *ret_text,
			  size_t size)
{
	if (sources->grant != GRANT_REFUSED)
		snprintf(ret_text, size, "its memory was not asked for in time");
	else if (sources->grant_error == -EPERM)
		snprintf(ret_text, size, "a line `deny memory` of the policy forbids it");
	else if (sources->grant_error == -EOPNOTSUPP)
		snprintf(ret_text, size, "a line `runtime %.*s` in the policy file grants it",
			 (int)strcspn(name, "0123456789.-"), name);
	else
		snprintf(ret_text, size, "its memory was refused: %s",
			 strerror(-sources->grant_error));
}

/*
 * Writes how many frames have no name, as their code is not what the layout says, or else how many
 * samples lack functions; or nothing.
 */
static void explain_missing(const struct findings *findings, char *ret_text, size_t size)
{
	ret_text[0] = '\0';
	if (findings->sources->unverified > 0)
		snprintf(ret_text, size,
			 ", but %" PRIu64 " frames are unverified: no objects of its types",
			 findings->sources->unverified);
	else if (findings->listless > 0)
		snprintf(ret_text, size,
			 ", but %" PRIu64
			 " samples lack some ([cut: functions]): a walk has little "
			 "time",
			 findings->listless);
}

/* Returns what is not known of code that a compiler has made of several functions, or nothing. */
static const char *explain_traces(const struct source *source)
{
	if (!source->lacks_traces)
		return "";
	return ", but where a trace runs, only that in which the trace began, and no line: this "
	       "build does not say where its snapshots begin";
}

/* Returns the name of what has the version. */
static const char *versioned_name(const struct source *source)
{
	if (source->runtime == RUNTIME_NODE)
		return "Node.js, whose V8 is";
	return runtime_row(source->runtime)->name;
}

/* Says whether the program's functions are shown, and if not, why. */
static void explain_script(const struct findings *findings, const struct finding *finding,
			   const char *name, char *ret_text)
{
	const struct source *source = finding->source;
	const char *layout = "known here";
	char version[LIST_BYTES], why[LIST_BYTES];

	if (source->is_described)
		layout = "its own";
	snprintf(version, sizeof(version), "%s %u.%u.%u, layout %s", versioned_name(source),
		 source->version >> 24, source->version >> 16 & 0xff, source->version >> 8 & 0xff,
		 layout);
	if (findings->sources->grant == GRANT_GIVEN) {
		explain_missing(findings, why, sizeof(why));
		snprintf(ret_text, ADVICE_BYTES, "%s: %s: the program's functions are shown%s%s",
			 name, version, explain_traces(source), why);
		return;
	}
	explain_grant(findings->sources, name, why, sizeof(why));
	snprintf(ret_text, ADVICE_BYTES, "%s: %s: the program's functions are not shown: %s", name,
		 version, why);
}

/* Says whose functions are shown: the script's where its perf map has names, or the runtime's. */
static void explain_shown(const struct sources *sources, const struct finding *finding,
			  const char *name, char *ret_text)
{
	const struct runtime_row *row = runtime_row(finding->source->runtime);
	char part[LIST_BYTES] = "";

	if (sources->has_map && language_of_made(finding->source->runtime)->runtime) {
		snprintf(ret_text, ADVICE_BYTES,
			 "%s: the program's functions have the names of its /tmp/perf-PID.map",
			 name);
		return;
	}
	if (!runtime_is_own_file(finding->source->runtime, name))
		snprintf(part, sizeof(part), "where it runs %s, ", row->name);
	if (finding->source->runtime_error == -EOVERFLOW)
		snprintf(part, sizeof(part), "%s with compressed pointers, which are not read, ",
			 row->name);
	else if (finding->source->runtime_error != 0 && finding->source->runtime_error != -ENOENT)
		snprintf(part, sizeof(part), "%s of an unknown version or build, ", row->name);
	snprintf(ret_text, ADVICE_BYTES, "%s: %sshown are %s (%s: %s)", name, part, row->shown,
		 row->name, row->help);
}

static void advise_runtimes(const struct findings *findings,
			    void (*add)(void *context, const char *text), void *context)
{
	char text[ADVICE_BYTES], name[NAME_BYTES];

	for (size_t i = 0; i < findings->count; i++) {
		const struct finding *finding = &findings->items[i];

		if (!finding->source || !runtime_row(finding->source->runtime))
			continue;
		findings_name(findings, finding->object, name, sizeof(name));
		if (finding->source->version) {
			explain_script(findings, finding, name, text);
		} else {
			if (finding->samples == 0 && findings->samples > 0)
				continue;
			explain_shown(findings->sources, finding, name, text);
		}
		add(context, text);
	}
}

void advice_give(const struct findings *findings, void (*add)(void *context, const char *text),
		 void *context)
{
	char text[ADVICE_BYTES], names[LIST_BYTES];

	explain_reasons(findings, add, context);
	advise_runtimes(findings, add, context);
	advise_refused(findings, add, context);
	advise_made(findings, add, context);
	for (size_t i = 0; i < sizeof(advice) / sizeof(advice[0]); i++) {
		if (list(findings, advice[i].has, advice[i].lacks, names) == 0)
			continue;
		snprintf(text, sizeof(text), "%s%s%s", advice[i].before, names, advice[i].behind);
		add(context, text);
	}
}
