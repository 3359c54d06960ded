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

#include "check/check.h"
#include "ipc/guard.h"
#include "policy/policy_impl.h"

#define PATH_BYTES 64

enum kind {
	KIND_PROGRAM, /* a role's own */
	KIND_SPAWNER, /* of that role */
	KIND_USER,    /* keyhole-output: the invoking user's */
	KIND_HELPER,  /* has the loader's later ids, and nothing else of it */
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

/* The text behind a field's name, up to the end of its line. */
static void field(const struct process *process, const char *name, char *ret_value, size_t size)
{
	char line[32];
	const char *at;

	snprintf(line, sizeof(line), "\n%s:\t", name);
	at = strstr(process->status, line);
	at = at ? at + strlen(line) : "";
	snprintf(ret_value, size, "%.*s", (int)strcspn(at, "\n"), at);
}

static unsigned long long number(const struct process *process, const char *name, int base)
{
	char value[256];

	field(process, name, value, sizeof(value));
	return strtoull(value, NULL, base);
}

static bool all_are(const struct process *process, const char *name, unsigned int id)
{
	char value[256], wanted[64];

	field(process, name, value, sizeof(value));
	snprintf(wanted, sizeof(wanted), "%u\t%u\t%u\t%u", id, id, id, id);
	return strcmp(value, wanted) == 0;
}

/* ---- layers, as they show from outside ----------------------------------------------------- */

static bool holds_ids(struct process *process, const struct role *role)
{
	char groups[256];

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
	char numbers[256];

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
	{RLIMIT_CORE, "Max core file size "}, {RLIMIT_NPROC, "Max processes "},
	{RLIMIT_NOFILE, "Max open files "},   {RLIMIT_FSIZE, "Max file size "},
	{RLIMIT_DATA, "Max data size "},
};

static bool limit_holds(const char *limits, const struct limit *limit)
{
	char soft[32], hard[32];

	for (size_t i = 0; i < sizeof(limit_names) / sizeof(*limit_names); i++) {
		const char *at = strstr(limits, limit_names[i].name);

		if (limit_names[i].resource != limit->resource)
			continue;
		return at &&
		       sscanf(at + strlen(limit_names[i].name), "%31s %31s", soft, hard) == 2 &&
		       strcmp(hard, "unlimited") != 0 && strtoull(hard, NULL, 10) <= limit->value;
	}
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
	for (int role = 0; role < ROLE_COUNT; role++)
		if (policy_role((enum policy_role)role)->id == id)
			return role;
	return -1;
}

/* The party whose executable it runs; -1: none of this build, -2: cannot be seen. */
static int party_of_program(const struct process *process, const struct executable *executables)
{
	char path[PATH_BYTES];
	struct stat status;

	path_of(process, "exe", path);
	if (stat(path, &status))
		return errno == ENOENT ? -1 : -2;
	for (int party = 0; party < EXECUTABLES; party++)
		if (executables[party].there && executables[party].device == status.st_dev &&
		    executables[party].inode == status.st_ino)
			return party;
	return -1;
}

/* False: none of ours. */
static bool classify(struct process *process, const struct executable *executables)
{
	int by_id = role_of_id((unsigned int)number(process, "Uid", 10));
	int by_program = party_of_program(process, executables);

	if (by_id < 0 && by_program < 0)
		return false;
	process->kind = KIND_PROGRAM;
	process->role = (enum policy_role)(by_program >= 0 ? by_program : by_id);
	if (by_program < 0) {
		process->kind = KIND_OTHER;
		report_add(process->report, by_program == -1 ? FINDING_DEVIATION : FINDING_UNKNOWN,
			   process->label,
			   by_program == -1 ? "has the uid of %s, but runs another executable"
					    : "has the uid of %s; its executable cannot be seen; "
					      "run as root",
			   policy_role(process->role)->program);
	} else if (by_program == ROLE_LOADER && !strcmp(process->name, "keyhole-spawner")) {
		process->kind = KIND_SPAWNER;
		process->role = (enum policy_role)(by_id > 0 ? by_id : ROLE_LOADER);
	} else if (by_program >= ROLE_COUNT) {
		process->kind = by_program == PARTY_COMMITTER ? KIND_USER : KIND_HELPER;
		process->role = ROLE_LOADER;
	} else if (by_program == ROLE_LOADER &&
		   (by_id != ROLE_LOADER || strcmp(process->name, "keyhole"))) {
		process->kind = KIND_START;
		report_add(process->report, FINDING_UNKNOWN, process->label,
			   "has not given its rights up yet");
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
	char value[256];

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
	char path[PATH_BYTES], file[PATH_BYTES + 32], tag[32];
	struct dirent *entry;
	DIR *folder;

	path_of(process, "fdinfo", path);
	folder = opendir(path);
	report_open(process->report, "programs", '[');
	while (folder && (entry = readdir(folder))) {
		guard_free char *text = NULL;
		const char *at;
		size_t size;

		snprintf(file, sizeof(file), "%s/%.16s", path, entry->d_name);
		text = check_read(file, &size);
		at = text ? strstr(text, "prog_tag:\t") : NULL;
		/* a link names the tag of its program too */
		if (at && !strstr(text, "link_type:") && sscanf(at, "prog_tag:\t%31s", tag) == 1)
			report_text(process->report, NULL, tag);
	}
	report_close(process->report);
	if (folder)
		closedir(folder);
}

static void report_process(struct process *process, uint32_t lacking)
{
	struct report *report = process->report;

	if (process->kind == KIND_PROGRAM || process->kind == KIND_SPAWNER)
		test_layers(process, lacking);
	report_open(report, NULL, '{');
	report_number(report, "pid", (uint64_t)process->pid);
	report_text(report, "kind", kinds[process->kind]);
	report_text(report, "role", policy_role(process->role)->program);
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
	return true;
}

/* Every recording has one of each. */
static void compare_counts(struct report *report, const unsigned int counts[][ROLE_COUNT])
{
	const unsigned int loaders = counts[KIND_PROGRAM][ROLE_LOADER];

	for (int role = ROLE_WORKER; role < ROLE_COUNT; role++)
		for (int kind = KIND_PROGRAM; kind <= KIND_SPAWNER; kind++)
			if (counts[kind][role] != loaders && counts[KIND_START][ROLE_LOADER] == 0)
				report_add(report, FINDING_DEVIATION,
					   policy_role((enum policy_role)role)->program,
					   "%u of kind %s, but %u of keyhole", counts[kind][role],
					   kinds[kind], loaders);
}

void check_processes(struct report *report, const struct executable executables[EXECUTABLES],
		     uint32_t lacking)
{
	unsigned int counts[KIND_COUNT][ROLE_COUNT] = {0};
	DIR *folder = opendir("/proc");
	struct dirent *entry;

	report_open(report, "processes", '[');
	while (folder && (entry = readdir(folder))) {
		struct process process = {.report = report,
					  .pid = (pid_t)strtol(entry->d_name, NULL, 10)};

		if (process.pid > 0 && look_at(&process) && classify(&process, executables)) {
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
	compare_counts(report, (const unsigned int(*)[ROLE_COUNT])counts);
}
