/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process belongs to keyhole when it runs one of its executables, or has the uid of one of its
 * roles, which only root can give. Landlock cannot be seen from outside; the process proved it
 * itself before it was given anything.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "view/check/check.h"
#include "view/check/text.h"
#include "ipc/guard.h"
#include "policy/policy_impl.h"

#define PATH_BYTES    64
#define AUDITOR	      message_party_name(PARTY_AUDITOR)
#define HELPER_LAYERS (LAYER_BIT(ids) | LAYER_BIT(capabilities) | LAYER_BIT(no_new_privs))

enum kind {
	KIND_PROGRAM, /* a role's own */
	KIND_SPAWNER, /* of that role */
	KIND_USER,    /* keyhole-output: the invoking user's */
	KIND_HELPER,  /* has the loader's later ids and no rights */
	KIND_START,   /* the loader and its helpers before it has given its rights up */
	KIND_OTHER,   /* has a role's uid and is none of ours */
	KIND_COUNT
};

static const char *const kinds[KIND_COUNT] = {
	"program", "spawner", "committer", "helper", "starting", "foreign",
};

struct process {
	struct report *report;
	pid_t pid;
	char *status; /* owned: /proc/<pid>/status */
	char name[32];
	const char *program; /* or NULL: none of ours */
	enum kind kind;
	enum policy_role role;
	char label[64]; /* in findings */
	uint32_t missing, unseen;
};

/* ---- /proc --------------------------------------------------------------------------------- */

static void path_of(const struct process *process, const char *file, char ret_path[PATH_BYTES])
{
	snprintf(ret_path, PATH_BYTES, "/proc/%d/%s", (int)process->pid, file);
}

static void field(const struct process *process, const char *name, char *ret_value, size_t size)
{
	text_field(process->status, name, ret_value, size);
}

static unsigned long long number(const struct process *process, const char *name, int base)
{
	char value[TEXT_FIELD_BYTES];

	field(process, name, value, sizeof(value));
	return strtoull(value, NULL, base);
}

static bool all_are(const struct process *process, const char *name, unsigned int id)
{
	char value[TEXT_FIELD_BYTES], wanted[64];

	field(process, name, value, sizeof(value));
	snprintf(wanted, sizeof(wanted), "%u\t%u\t%u\t%u", id, id, id, id);
	return strcmp(value, wanted) == 0;
}

/* ---- layers, as they show from outside ----------------------------------------------------- */

static bool holds_ids(struct process *process, const struct role *role)
{
	char groups[TEXT_FIELD_BYTES];

	field(process, "Groups", groups, sizeof(groups));
	return all_are(process, "Uid", role->id) && all_are(process, "Gid", role->id) &&
	       strspn(groups, " ") == strlen(groups);
}

static bool holds_capabilities(struct process *process, const struct role *role)
{
	static const char *const sets[] = {"CapInh", "CapPrm", "CapEff", "CapAmb"};
	bool all = number(process, "CapBnd", 16) == 0;

	for (size_t i = 0; i < sizeof(sets) / sizeof(*sets); i++)
		all &= number(process, sets[i], 16) == role->capabilities;
	return all;
}

static bool holds_no_new_privs(struct process *process, const struct role *role)
{
	(void)role;
	return number(process, "NoNewPrivs", 10) == 1;
}

/* Whoever started keyhole may have filters too. */
static bool holds_seccomp(struct process *process, const struct role *role)
{
	bool child = process->kind == KIND_PROGRAM && process->role != ROLE_LOADER;

	(void)role;
	return number(process, "Seccomp", 10) == 2 &&
	       number(process, "Seccomp_filters", 10) >= 1u + child;
}

static bool holds_pid(struct process *process, const struct role *role)
{
	char numbers[TEXT_FIELD_BYTES];

	(void)role;
	field(process, "NSpid", numbers, sizeof(numbers));
	return strchr(numbers, '\t') != NULL;
}

static bool differs(struct process *process, const char *space, enum policy_layer layer)
{
	char path[PATH_BYTES], first[PATH_BYTES], ours[PATH_BYTES];
	struct stat own, host;

	snprintf(first, sizeof(first), "/proc/1/ns/%s", space);
	snprintf(ours, sizeof(ours), "/proc/self/ns/%s", space);
	snprintf(path, sizeof(path), "/proc/%d/ns/%s", (int)process->pid, space);
	/* a security module may keep process 1 to itself */
	if (stat(path, &own) || (stat(first, &host) && stat(ours, &host))) {
		process->unseen |= 1u << layer;
		return true;
	}
	return own.st_ino != host.st_ino;
}

static bool holds_namespaces(struct process *process, const struct role *role)
{
	static const char *const spaces[] = {"mnt", "net", "ipc", "uts", "cgroup"};
	bool all = true;

	(void)role;
	for (size_t i = 0; i < sizeof(spaces) / sizeof(*spaces); i++)
		all &= differs(process, spaces[i], LAYER_namespaces);
	return all;
}

static bool holds_root(struct process *process, const struct role *role)
{
	char path[PATH_BYTES];
	struct dirent *entry;
	bool self = false, good = true;
	DIR *folder;

	path_of(process, "root/", path);
	folder = opendir(path);
	if (!folder) {
		process->unseen |= LAYER_BIT(root);
		return true;
	}
	while ((entry = readdir(folder))) {
		self |= !strcmp(entry->d_name, "self");
		good &= role->root == ROOT_PROC ? strcmp(entry->d_name, "etc") != 0
						: entry->d_name[0] == '.';
	}
	closedir(folder);
	return good && self == (role->root == ROOT_PROC);
}

static const struct {
	unsigned int resource;
	const char *name;
} limit_names[] = {
	{RLIMIT_CORE, "Max core file size"}, {RLIMIT_NPROC, "Max processes"},
	{RLIMIT_NOFILE, "Max open files"},   {RLIMIT_FSIZE, "Max file size"},
	{RLIMIT_DATA, "Max data size"},
};

static bool limit_holds(const char *limits, const struct limit *limit)
{
	unsigned long long hard;

	for (size_t i = 0; i < sizeof(limit_names) / sizeof(*limit_names); i++)
		if (limit_names[i].resource == limit->resource)
			return text_limit(limits, limit_names[i].name, &hard) &&
			       hard <= limit->value;
	return false;
}

/* A spawner has one of them; it needs its own processes. */
static bool holds_limits(struct process *process, const struct role *role)
{
	char path[PATH_BYTES];
	guard_free char *limits = NULL;
	bool all = true;
	size_t size;

	path_of(process, "limits", path);
	limits = check_read(path, &size);
	if (!limits) {
		process->unseen |= LAYER_BIT(limits);
		return true;
	}
	for (const struct limit *limit = role->limits; limit->resource; limit++)
		all &= limit_holds(limits, limit);
	return all;
}

/* What is not dumpable has files in /proc that are root's. */
static bool holds_dumpable(struct process *process, const struct role *role)
{
	char path[PATH_BYTES];
	struct stat status;

	(void)role;
	path_of(process, "environ", path);
	if (stat(path, &status)) {
		process->unseen |= LAYER_BIT(dumpable);
		return true;
	}
	return status.st_uid == 0;
}

static bool (*const tests[LAYER_COUNT])(struct process *, const struct role *) = {
	[LAYER_namespaces] = holds_namespaces,
	[LAYER_pid] = holds_pid,
	[LAYER_root] = holds_root,
	[LAYER_ids] = holds_ids,
	[LAYER_capabilities] = holds_capabilities,
	[LAYER_no_new_privs] = holds_no_new_privs,
	[LAYER_limits] = holds_limits,
	[LAYER_dumpable] = holds_dumpable,
	[LAYER_seccomp] = holds_seccomp,
};

static void test_layers(struct process *process, uint32_t lacking)
{
	const struct role *role = policy_role(process->role);
	uint32_t layers = policy_layers_of(process->role);

	/* the limits are put on after exec */
	if (process->kind == KIND_SPAWNER)
		layers &= ~LAYER_BIT(limits);
	if (process->kind == KIND_HELPER)
		layers &= HELPER_LAYERS;
	/* the others put theirs on and end before the loader gives its rights up */
	if (process->kind == KIND_HELPER && !strcmp(process->program, AUDITOR))
		layers |= LAYER_BIT(seccomp);
	for (unsigned int layer = 0; layer < LAYER_COUNT; layer++) {
		if (!(layers >> layer & 1) || !tests[layer])
			continue;
		if (!tests[layer](process, role))
			process->missing |= 1u << layer;
		if (process->missing >> layer & 1 && !(lacking >> layer & 1))
			report_add(process->report, FINDING_DEVIATION, process->label,
				   "not confined: %s", policy_layer_name(layer));
		if (process->unseen >> layer & 1)
			report_add(process->report, FINDING_UNKNOWN, process->label,
				   "cannot be seen: %s; run as root", policy_layer_name(layer));
	}
}

/* ---- one process --------------------------------------------------------------------------- */

static int role_of_id(unsigned int id)
{
	for (int role = 0; role < ROLE_SUPERVISED; role++)
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

/* What the loader starts talks to it; the others are verbs of their own, such as this one. */
static bool is_started_by_loader(const char *name)
{
	for (int party = 0; party < PARTY_CHILD; party++)
		if (!strcmp(message_party_name((enum message_party)party), name))
			return true;
	return false;
}

/* The one of ours that it runs, or NULL. *ret_seen: it could be told. */
static const struct program *program_of(const struct process *process,
					const struct programs *programs, bool *ret_seen)
{
	char path[PATH_BYTES];
	struct stat status;
	int r;

	path_of(process, "exe", path);
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
	process->kind = KIND_PROGRAM;
	process->role = ROLE_LOADER;
	if (!strcmp(process->name, "keyhole-spawner")) {
		process->kind = KIND_SPAWNER;
		process->role = (enum policy_role)(by_id > 0 ? by_id : ROLE_LOADER);
	} else if (by_id != ROLE_LOADER || strcmp(process->name, "keyhole")) {
		process->kind = KIND_START;
		report_add(process->report, FINDING_UNKNOWN, process->label,
			   "has not given its rights up yet");
	}
}

static void classify_foreign(struct process *process, enum policy_role role, bool seen)
{
	process->kind = KIND_OTHER;
	process->role = role;
	report_add(process->report, seen ? FINDING_DEVIATION : FINDING_UNKNOWN, process->label,
		   seen ? "has the uid of %s, but runs another executable"
			: "has the uid of %s; its executable cannot be seen; run as root",
		   policy_role(role)->program);
}

/* False: none of ours. */
static bool classify(struct process *process, const struct programs *programs)
{
	bool seen;
	const struct program *program = program_of(process, programs, &seen);
	int by_id = role_of_id((unsigned int)number(process, "Uid", 10));
	int by_program = program ? role_of_program(program->name) : -1;

	if (program ? !is_started_by_loader(program->name) : by_id < 0)
		return false;
	process->program = program ? program->name : NULL;
	if (!program) {
		classify_foreign(process, (enum policy_role)by_id, seen);
	} else if (by_program == ROLE_LOADER) {
		classify_loader(process, by_id);
	} else if (by_program > ROLE_LOADER) {
		process->kind = KIND_PROGRAM;
		process->role = (enum policy_role)by_program;
	} else {
		process->kind = !strcmp(program->name, message_party_name(PARTY_COMMITTER))
					? KIND_USER
					: KIND_HELPER;
		process->role = ROLE_LOADER;
	}
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
		field(process, shown[i].field, value, sizeof(value));
		for (char *tab = value; (tab = strchr(tab, '\t'));)
			*tab = ' ';
		report_text(process->report, shown[i].key, value);
	}
}

/* Tags of the BPF programs it holds. */
static void report_programs(struct process *process)
{
	char path[PATH_BYTES], file[PATH_BYTES + 32], tag[TEXT_TAG_BYTES];
	struct dirent *entry;
	DIR *folder;

	path_of(process, "fdinfo", path);
	folder = opendir(path);
	report_open(process->report, "programs", '[');
	while (folder && (entry = readdir(folder))) {
		guard_free char *text = NULL;
		size_t size;

		snprintf(file, sizeof(file), "%s/%.16s", path, entry->d_name);
		text = check_read(file, &size);
		if (text && text_program_tag(text, tag))
			report_text(process->report, NULL, tag);
	}
	report_close(process->report);
	if (folder)
		closedir(folder);
}

static void report_process(struct process *process, uint32_t lacking)
{
	struct report *report = process->report;

	if (process->kind <= KIND_HELPER && process->kind != KIND_USER)
		test_layers(process, lacking);
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
	if (process->kind == KIND_PROGRAM && process->role == ROLE_LOADER)
		report_programs(process);
	report_close(report);
}

/* Nobody waited for it yet. One whose first thread alone has ended goes on. */
static bool has_ended(struct process *process)
{
	return strstr(process->status, "\nState:\tZ") && number(process, "Threads", 10) <= 1;
}

static bool look_at(struct process *process)
{
	char path[PATH_BYTES];
	size_t size;

	path_of(process, "status", path);
	process->status = check_read(path, &size);
	if (!process->status || sscanf(process->status, "Name:\t%31[^\n]", process->name) != 1)
		return false;
	snprintf(process->label, sizeof(process->label), "%s (%d)", process->name,
		 (int)process->pid);
	return !has_ended(process);
}

/* Every recording has one of each. */
static void compare_counts(struct report *report, const unsigned int counts[][ROLE_SUPERVISED])
{
	const unsigned int loaders = counts[KIND_PROGRAM][ROLE_LOADER];

	for (int role = ROLE_WORKER; role < ROLE_SUPERVISED; role++)
		for (int kind = KIND_PROGRAM; kind <= KIND_SPAWNER; kind++)
			if (counts[kind][role] != loaders && counts[KIND_START][ROLE_LOADER] == 0)
				report_add(report, FINDING_DEVIATION,
					   policy_role((enum policy_role)role)->program,
					   "%u of kind %s, but %u of keyhole", counts[kind][role],
					   kinds[kind], loaders);
}

void check_processes(struct report *report, const struct programs *programs, uint32_t lacking)
{
	unsigned int counts[KIND_COUNT][ROLE_SUPERVISED] = {0};
	DIR *folder = opendir("/proc");
	struct dirent *entry;

	report_open(report, "processes", '[');
	while (folder && (entry = readdir(folder))) {
		struct process process = {.report = report,
					  .pid = (pid_t)strtol(entry->d_name, NULL, 10)};

		if (process.pid > 0 && look_at(&process) && classify(&process, programs)) {
			counts[process.kind][process.role]++;
			report_process(&process, lacking);
		}
		free(process.status);
	}
	report_close(report);
	if (folder)
		closedir(folder);
	if (!folder || access("/proc/1/status", R_OK))
		report_add(report, FINDING_UNKNOWN, "/proc", "hides processes; run as root");
	compare_counts(report, (const unsigned int(*)[ROLE_SUPERVISED])counts);
}
