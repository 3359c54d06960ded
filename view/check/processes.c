/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the processes of keyhole. A process belongs to keyhole when it runs one of keyhole's
 * executables. A process with the uid of a role belongs to it, too, as only root gives such a uid.
 */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ipc/guard.h"
#include "policy/policy_impl.h"
#include "view/check/check.h"
#include "view/check/layers.h"
#include "view/check/process.h"
#include "view/check/text.h"

static const char *const kinds[PROCESS_KINDS] = {
	"program", "spawner", "committer", "helper", "starting", "foreign",
};

static int role_of_id(unsigned int id)
{
	for (int role = 0; role < ROLE_ALL; role++)
		if (policy_role((enum policy_role)role)->id == id)
			return role;
	return -1;
}

static int role_of_program(const char *name)
{
	for (int role = 0; role < ROLE_SUPERVISED; role++)
		if (!strcmp(policy_role((enum policy_role)role)->program, name))
			return role;
	return -1;
}

/* Returns whether the program is a party that talks to the loader; `keyhole check` is none. */
static bool is_started_by_loader(const char *name)
{
	for (int party = 0; party < PARTY_CHILD; party++)
		if (!strcmp(message_party_name((enum message_party)party), name))
			return true;
	return false;
}

/* Returns the program of ours that the process runs, or NULL. *ret_seen: the answer is certain. */
static const struct program *program_of(const struct process *process,
					const struct programs *programs, bool *ret_seen)
{
	char path[PROCESS_PATH_BYTES];
	struct stat status;
	int r;

	process_path(process, "exe", path);
	r = stat(path, &status);
	*ret_seen = r == 0 || errno == ENOENT;
	for (unsigned int i = 0; r == 0 && i < programs->count; i++) {
		const struct program *program = &programs->all[i];

		if (program->there && program->device == status.st_dev &&
		    program->inode == status.st_ino)
			return program;
	}
	return NULL;
}

static void classify_loader(struct process *process, int by_id)
{
	process->kind = PROCESS_PROGRAM;
	process->role = ROLE_LOADER;
	if (!strcmp(process->name, "keyhole-spawner")) {
		process->kind = PROCESS_SPAWNER;
		if (by_id > 0)
			process->role = (enum policy_role)by_id;
	} else if (by_id != ROLE_LOADER || strcmp(process->name, "keyhole") != 0) {
		process->kind = PROCESS_START;
		report_add(process->report, FINDING_UNKNOWN, process->label,
			   "has not given its rights up yet");
	}
}

static void classify_foreign(struct process *process, enum policy_role role, bool seen)
{
	const char *name = policy_role(role)->program;

	process->kind = PROCESS_FOREIGN;
	process->role = role;
	if (seen)
		report_add(process->report, FINDING_DEVIATION, process->label,
			   "has the uid of %s, but runs another executable", name);
	else
		report_add(process->report, FINDING_UNKNOWN, process->label,
			   "has the uid of %s; its executable cannot be seen; run as root", name);
}

static void classify_helper(struct process *process)
{
	process->role = ROLE_LOADER;
	process->kind = PROCESS_HELPER;
	if (!strcmp(process->program, message_party_name(PARTY_CONNECTOR)))
		process->role = ROLE_CONNECTOR;
	if (!strcmp(process->program, message_party_name(PARTY_COMMITTER)))
		process->kind = PROCESS_USER;
}

static void classify_ours(struct process *process, int by_id)
{
	int by_program = role_of_program(process->program);

	if (by_program == ROLE_LOADER) {
		classify_loader(process, by_id);
	} else if (by_program > ROLE_LOADER) {
		process->kind = PROCESS_PROGRAM;
		process->role = (enum policy_role)by_program;
	} else {
		classify_helper(process);
	}
}

/* Returns false for a process that does not belong to a running keyhole. */
static bool classify(struct process *process, const struct programs *programs)
{
	bool seen;
	const struct program *program = program_of(process, programs, &seen);
	int by_id = role_of_id((unsigned int)process_number(process, "Uid", 10));

	if (!program) {
		if (by_id < 0)
			return false;
		classify_foreign(process, (enum policy_role)by_id, seen);
		return true;
	}
	if (!is_started_by_loader(program->name))
		return false;
	process->program = program->name;
	classify_ours(process, by_id);
	return true;
}

static void report_status(struct process *process)
{
	static const struct {
		const char *field, *key;
	} shown[] = {
		{"Uid", "uid"},		 {"Gid", "gid"},
		{"CapPrm", "permitted"}, {"CapEff", "effective"},
		{"CapBnd", "bounding"},	 {"NoNewPrivs", "no_new_privs"},
		{"Seccomp", "seccomp"},	 {"Seccomp_filters", "filters"},
		{"NSpid", "pids"},
	};
	char value[TEXT_FIELD_BYTES];

	for (size_t i = 0; i < sizeof(shown) / sizeof(*shown); i++) {
		process_field(process, shown[i].field, value, sizeof(value));
		for (char *at = value; *at; at++)
			if (*at == '\t')
				*at = ' ';
		report_text(process->report, shown[i].key, value);
	}
}

static void report_descriptor(struct process *process, const char *folder, const char *name)
{
	char file[PROCESS_PATH_BYTES + 32], tag[TEXT_TAG_BYTES];
	guard_free char *text = NULL;
	size_t size;

	snprintf(file, sizeof(file), "%s/%.16s", folder, name);
	text = check_read(file, &size);
	if (text && text_program_tag(text, tag))
		report_text(process->report, NULL, tag);
}

/* Reports the tags of the BPF programs that the process holds. */
static void report_programs(struct process *process)
{
	char path[PROCESS_PATH_BYTES];
	struct dirent *entry;
	DIR *folder;

	process_path(process, "fdinfo", path);
	folder = opendir(path);
	report_open(process->report, "programs", '[');
	if (folder) {
		for (entry = readdir(folder); entry; entry = readdir(folder))
			report_descriptor(process, path, entry->d_name);
		closedir(folder);
	}
	report_close(process->report);
}

static void report_process(struct process *process, uint32_t lacking)
{
	struct report *report = process->report;

	if (process->kind <= PROCESS_HELPER && process->kind != PROCESS_USER)
		layers_test(process, lacking);
	report_open(report, NULL, '{');
	report_number(report, "pid", (uint64_t)process->pid);
	report_text(report, "kind", kinds[process->kind]);
	report_text(report, "role", policy_role(process->role)->program);
	report_text(report, "program", process->program);
	report_status(process);
	report_open(report, "missing_layers", '[');
	for (unsigned int layer = 0; layer < LAYER_COUNT; layer++)
		if (process->missing >> layer & 1)
			report_text(report, NULL, policy_layer_name(layer));
	report_close(report);
	if (process->kind == PROCESS_PROGRAM && process->role == ROLE_LOADER)
		report_programs(process);
	report_close(report);
}

/* Returns true for a zombie. A process whose first thread alone has ended is still running. */
static bool has_ended(struct process *process)
{
	return strstr(process->status, "\nState:\tZ") &&
	       process_number(process, "Threads", 10) <= 1;
}

static bool read_process(struct process *process)
{
	char path[PROCESS_PATH_BYTES];
	size_t size;

	process_path(process, "status", path);
	process->status = check_read(path, &size);
	if (!process->status || sscanf(process->status, "Name:\t%31[^\n]", process->name) != 1)
		return false;
	snprintf(process->label, sizeof(process->label), "%s (%d)", process->name,
		 (int)process->pid);
	return !has_ended(process);
}

struct counts {
	unsigned int of[PROCESS_KINDS][ROLE_ALL];
};

/* How many processes of a kind one recording has. */
struct range {
	unsigned int least, most;
};

static void compare_count(struct report *report, const struct counts *counts, int kind, int role,
			  struct range each)
{
	const unsigned int loaders = counts->of[PROCESS_PROGRAM][ROLE_LOADER];
	const unsigned int count = counts->of[kind][role];

	if (count < loaders * each.least || count > loaders * each.most)
		report_add(report, FINDING_DEVIATION, policy_role((enum policy_role)role)->program,
			   "%u of kind %s, but %u of keyhole", count, kinds[kind], loaders);
}

/* The second broker of a recording starts when the first one has hung. */
static void compare_counts(struct report *report, const struct counts *counts)
{
	static const struct {
		int role;
		struct range programs, spawners;
	} rows[] = {
		{ROLE_WORKER, {1, 1}, {1, 1}},
		{ROLE_EXPORTER, {1, 1}, {1, 1}},
		{ROLE_BROKER, {1, 2}, {2, 2}},
	};

	if (counts->of[PROCESS_START][ROLE_LOADER] > 0)
		return;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		compare_count(report, counts, PROCESS_PROGRAM, rows[i].role, rows[i].programs);
		compare_count(report, counts, PROCESS_SPAWNER, rows[i].role, rows[i].spawners);
	}
}

static void check_process(struct report *report, const struct programs *programs, pid_t pid,
			  uint32_t lacking, struct counts *counts)
{
	struct process process = {.report = report, .pid = pid};

	if (read_process(&process) && classify(&process, programs)) {
		counts->of[process.kind][process.role]++;
		report_process(&process, lacking);
	}
	free(process.status);
}

void check_processes(struct report *report, const struct programs *programs, uint32_t lacking)
{
	struct counts counts = {0};
	DIR *folder = opendir("/proc");
	struct dirent *entry;

	report_open(report, "processes", '[');
	if (folder) {
		for (entry = readdir(folder); entry; entry = readdir(folder)) {
			pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);

			if (pid > 0)
				check_process(report, programs, pid, lacking, &counts);
		}
		closedir(folder);
	}
	report_close(report);
	if (!folder || access("/proc/1/status", R_OK))
		report_add(report, FINDING_UNKNOWN, "/proc", "hides processes; run as root");
	compare_counts(report, &counts);
}
