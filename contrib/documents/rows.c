/* SPDX-License-Identifier: Apache-2.0 */
#include "contrib/documents/rows.h"

#include <string.h>

#include "helper/options/verbs.h"

enum { /* behind those of helper/options/verbs.h */
	REPORT = 128,
	SYMBOLIZE = 256,
	CHECK = 512
};

#define NOTHING	    COMPLETE_NOTHING, NULL
#define FILES	    COMPLETE_FILES, NULL
#define FOLDERS	    COMPLETE_FOLDERS, NULL
#define CGROUPS	    COMPLETE_CGROUPS, NULL
#define PROCESSES   COMPLETE_PROCESSES, NULL
#define USERS	    COMPLETE_USERS, NULL
#define FORMATS	    COMPLETE_WORDS, format_words
#define EVENTS	    COMPLETE_WORDS, event_words
#define BY_NAMES    COMPLETE_WORDS, by_words
#define WORDS(text) COMPLETE_WORDS, text
#define LIST(text)  COMPLETE_LIST, text

static const char format_words[] =
#define F(number, id, name, suffix, help) name " "
#include "ipc/formats.def"
#undef F
	;

static const char event_words[] =
#define E(name, kind, what, counted, period, least) name " "
#include "ipc/events.def"
#undef E
	;

static const char by_words[] =
#define B(id, name, ids) name " "
#include "view/by.def"
#undef B
	;

const struct row rows[] = {
#define OPTION(name, letter, argument, verbs, set, value, completion, help, manual) \
	{{name, letter, argument, verbs, help, NULL, 0}, completion, manual},
#define TEXT(verbs, help, manual) {{NULL, '\0', NULL, verbs, help, NULL, 0}, NOTHING, manual},
#include "helper/options/options.def"
#include "view/check/options.def"
#include "view/report/options.def"
#include "view/symbolize/options.def"
#include "view/top/options.def"
#undef OPTION
#undef TEXT
};
const size_t row_count = sizeof(rows) / sizeof(rows[0]);

const struct verb verbs[] = {
	{"record", "profile, and write the profile to a file",
	 "Record a profile, and write it to a file.", RECORD},
	{"agent", "profile around the clock, and send the profiles to a server",
	 "Profile around the clock, and send the profiles to a server of OpenTelemetry.", AGENT},
	{"top", "show live what uses the CPUs",
	 "Show live which functions and processes use the CPUs.", TOP},
	{"stat", "who used the CPUs, exactly",
	 "Account for the time of all CPUs, by process or cgroup, at each switch.", STAT},
	{"why", "where names and stacks of a process come from",
	 "Show where names, lines and stacks of a process come from, what they lack, and\n"
	 "what\n"
	 "to do about it.",
	 WHY},
	{"report", "show, compare and convert profiles",
	 "Show, compare or convert recorded profiles.", REPORT},
	{"symbolize", "add names, lines and inlined functions to a profile",
	 "Add names, source lines and inlined functions to a profile, on any machine.", SYMBOLIZE},
	{"check", "what runs, and how it is confined",
	 "Show what this machine offers, which files are installed, and whether every\n"
	 "process\n"
	 "of a running keyhole is confined.",
	 CHECK},
	{"check-config", "what the policy file says",
	 "Show what the policy file says, or what is wrong with it.", CHECK_CONFIG},
	{"help", "a summary",
	 "Print a summary of the commands and of the options of record, or of the command\n"
	 "that\n"
	 "is named.",
	 0},
};
const size_t verb_count = sizeof(verbs) / sizeof(verbs[0]);

_Static_assert(sizeof(verbs) / sizeof(verbs[0]) == 2
#define W(verb, help) +1
#include "helper/options/verbs.def"
#undef W
#define V(verb, program, help) +1
#include "ipc/verbs.def"
#undef V
	       ,
	       "record, help and each verb of the two files have a row");

const struct verb *verb_find(const char *name)
{
	for (size_t i = 0; i < verb_count; i++)
		if (!strcmp(verbs[i].name, name))
			return &verbs[i];
	return NULL;
}

bool row_is_handed_on(const struct row *row)
{
	return (row->option.verbs & TOP) && (row->option.verbs & RECORD);
}
