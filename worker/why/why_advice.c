/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "worker/why/why_rows.h"
#include "profile/profile.h"
#include "worker/why/causes.h"

#define REASONS_EXPLAINED 3
#define ADVICE_BYTES	  480
#define LIST_BYTES	  120 /* of names in one */

typedef bool row_test(const struct why *why, const struct row *row);

/* ---- lists of rows ---- */

/* Where it slept, all that it has mapped matters. */
static bool matters(const struct why *why, const struct row *row)
{
	return row->source && !row->source->anonymous && !row->source->kernels &&
	       (row->samples > 0 || why->samples == 0);
}

/* "a, b and 3 more"; how many there are. */
static size_t list(const struct why *why, row_test *applies, char ret_text[LIST_BYTES])
{
	char name[ROW_NAME];
	size_t count = 0, left_out = 0, used = 0;

	ret_text[0] = '\0';
	for (size_t i = 0; i < why->count; i++) {
		if (!applies(why, &why->rows[i]))
			continue;
		count++;
		why_name(why->profile, why->rows[i].object, name, sizeof(name));
		if (used + strlen(name) + 24 < LIST_BYTES)
			used += (size_t)snprintf(ret_text + used, LIST_BYTES - used, "%s%s",
						 used > 0 ? ", " : "", name);
		else
			left_out++;
	}
	if (left_out > 0)
		snprintf(ret_text + used, LIST_BYTES - used, " and %zu more", left_out);
	return count;
}

/* ---- what may apply ---- */

static bool is_refused(const struct why *why, const struct row *row)
{
	return matters(why, row) && row->source->error == -EACCES;
}

static bool is_unreadable(const struct why *why, const struct row *row)
{
	return matters(why, row) && row->source->error < 0 && row->source->error != -EACCES;
}

static bool is_pending(const struct why *why, const struct row *row)
{
	return matters(why, row) && row->source->rules == RULES_PENDING;
}

static bool has_no_room(const struct why *why, const struct row *row)
{
	return matters(why, row) && row->source->rules == RULES_NO_ROOM;
}

static bool is_anonymous(const struct why *why, const struct row *row)
{
	(void)why;
	return row->source && row->source->anonymous && row->samples > 0;
}

static uint64_t without_rule(const struct row *row)
{
	uint64_t count = 0;

	for (uint32_t i = 0; i < SUMMARY_REASONS && profile_reason(i); i++)
		if (strcmp(profile_reason(i)->name, "cut_no_rule") == 0)
			count += row->reason[i];
	return count;
}

static bool is_go(const struct row *row)
{
	return row->source && row->source->names == NAMES_GO;
}

static bool lacks_rules(const struct why *why, const struct row *row)
{
	return matters(why, row) && row->cut > 0 && !is_go(row) &&
	       (row->source->rules == RULES_NONE || row->source->rules == RULES_DAMAGED);
}

/* Such as what a compiler adds to every program: its start. */
static bool lacks_some_rules(const struct why *why, const struct row *row)
{
	return matters(why, row) && without_rule(row) > 0 && !is_go(row) &&
	       row->source->rules == RULES_EH_FRAME;
}

static bool changes_stacks(const struct why *why, const struct row *row)
{
	return matters(why, row) && without_rule(row) > 0 && row->source->rules == RULES_GO;
}

static bool is_other_go(const struct why *why, const struct row *row)
{
	return matters(why, row) && without_rule(row) > 0 && is_go(row) &&
	       row->source->rules != RULES_GO;
}

static bool lacks_any_names(const struct why *why, const struct row *row)
{
	const struct source *source = row->source;

	return matters(why, row) && source->error == 0 && (row->unnamed > 0 || !why->samples) &&
	       source->names <= NAMES_DEBUGDATA;
}

static bool lacks_names(const struct why *why, const struct row *row)
{
	return lacks_any_names(why, row) && !row->source->no_build_id;
}

static bool lacks_names_and_id(const struct why *why, const struct row *row)
{
	return lacks_any_names(why, row) && row->source->no_build_id;
}

static bool lacks_any_lines(const struct why *why, const struct row *row)
{
	return matters(why, row) && row->source->lines == LINES_NONE;
}

/* What it takes to have names has lines, too. */
static bool lacks_lines_too(const struct why *why, const struct row *row)
{
	return lacks_any_lines(why, row) && lacks_any_names(why, row);
}

static bool lacks_lines(const struct why *why, const struct row *row)
{
	return lacks_any_lines(why, row) && !lacks_any_names(why, row) && !row->source->no_build_id;
}

static bool lacks_lines_and_id(const struct why *why, const struct row *row)
{
	return lacks_any_lines(why, row) && !lacks_any_names(why, row) && row->source->no_build_id;
}

static bool lacks_inlined(const struct why *why, const struct row *row)
{
	return matters(why, row) && row->source->lines == LINES_DWARF && row->source->split;
}

static bool has_private_lines(const struct why *why, const struct row *row)
{
	return matters(why, row) && row->source->lines == LINES_DWARF && row->source->is_private;
}

static const struct {
	row_test *applies;
	const char *before, *behind; /* the list of objects */
} advice[] = {
	{is_unreadable, "",
	 ": could not be read: not there any more, damaged, or no ELF file for "
	 "x86-64; keyhole record -v says why"},
	{is_pending, "", ": not read yet: give it more time: -d 30"},
	{has_no_room, "", ": no memory for unwind tables is left: record fewer processes at once"},
	{is_anonymous, "",
	 ": code made at run time (a JIT compiler's): not supported yet; only "
	 "frame pointers are followed, and it has no names"},
	{lacks_rules, "",
	 ": no unwind rules, frame pointers are followed: build with "
	 "-fasynchronous-unwind-tables, or with -fno-omit-frame-pointer"},
	{lacks_some_rules, "",
	 ": some of its code has no unwind rules, frame pointers are followed there: build all of "
	 "it with -fasynchronous-unwind-tables, or with -fno-omit-frame-pointer"},
	{changes_stacks, "",
	 ": Go's table does not say what called where its runtime changes stacks "
	 "(runtime.systemstack, time.now, calls of C): nothing is to be done"},
	{is_other_go, "",
	 ": Go's frame pointers are followed, which do not say where a goroutine begins; its own "
	 "table does, of Go 1.18 and newer and Go's own linker: CGO_ENABLED=0, or "
	 "-ldflags=-linkmode=internal"},
	{lacks_names, "names of ",
	 ": install debug symbols (Debian: libc6-dbg, PACKAGE-dbgsym), or "
	 "--debug-dir DIR with .build-id/xx/rest.debug; debuginfod-find "
	 "debuginfo BUILD-ID fetches one"},
	{lacks_names_and_id, "names of ",
	 ": no build id to find debug symbols by: do not strip it, or link it with -Wl,--build-id; "
	 "or objcopy --add-gnu-debuglink, and --debug-dir"},
	{lacks_lines_too, "lines of ", ": in the same debug symbols; of what you build: -g"},
	{lacks_lines, "lines of ",
	 ": install debug symbols (Debian: libc6-dbg, PACKAGE-dbgsym), or --debug-dir DIR; of what "
	 "you build: -g"},
	{lacks_lines_and_id, "lines of ", ": no build id to find debug symbols by: build with -g"},
	{lacks_inlined, "inlined functions of ",
	 ": in .dwo files, which are not read: build without -gsplit-dwarf"},
	{has_private_lines, "lines of ",
	 ": not everybody may read the file, so record adds none: chmod o+r, or keyhole symbolize "
	 "FILE as who may"},
};

/* ---- all ---- */

/* The list of mappings has the number by which a process's list of mounts names a file system. */
static void advise_refused(struct why *why, void (*add)(struct why *why, const char *text))
{
	char text[ADVICE_BYTES], names[LIST_BYTES];
	uint64_t device = 0;

	if (list(why, is_refused, names) == 0)
		return;
	for (size_t i = 0; i < why->count && device == 0; i++)
		if (is_refused(why, &why->rows[i]))
			device = why->rows[i].source->device;
	snprintf(text, sizeof(text),
		 "%s: refused: no regular file, open for writing, or on a file system that may not "
		 "answer (%u:%u in /proc/%" PRIu32 "/mountinfo; fuse, nfs, 9p ...): copy it to a "
		 "local disk",
		 names, major(device), minor(device), why->sources->pid);
	add(why, text);
}

static void explain_reasons(struct why *why, void (*add)(struct why *why, const char *text))
{
	bool done[SUMMARY_REASONS] = {false};
	char text[ADVICE_BYTES];

	for (size_t i = 0; i < SUMMARY_REASONS && profile_reason((uint32_t)i); i++)
		done[i] = profile_reason((uint32_t)i)->class != CLASS_CUT;
	for (int i = 0; i < REASONS_EXPLAINED; i++) {
		size_t reason = why_most(why->reason, done);

		if (reason == SUMMARY_REASONS)
			return;
		done[reason] = true;
		snprintf(text, sizeof(text), "%s: %s", profile_reason((uint32_t)reason)->name,
			 profile_reason((uint32_t)reason)->help);
		add(why, text);
	}
}

void why_advise(struct why *why, void (*add)(struct why *why, const char *text))
{
	char text[ADVICE_BYTES], names[LIST_BYTES];

	explain_reasons(why, add);
	advise_refused(why, add);
	for (size_t i = 0; i < sizeof(advice) / sizeof(advice[0]); i++) {
		if (list(why, advice[i].applies, names) == 0)
			continue;
		snprintf(text, sizeof(text), "%s%s%s", advice[i].before, names, advice[i].behind);
		add(why, text);
	}
}
