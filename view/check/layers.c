/* SPDX-License-Identifier: Apache-2.0 */
#include "view/check/layers.h"

#include <dirent.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "ipc/guard.h"
#include "policy/policy_impl.h"
#include "view/check/check.h"
#include "view/check/process.h"
#include "view/check/text.h"

#define HELPER_LAYERS (LAYER_BIT(ids) | LAYER_BIT(capabilities) | LAYER_BIT(no_new_privs))

/* Tests one layer. Returns true also where the layer cannot be seen, and sets it in unseen. */
typedef bool layer_test(struct process *process, const struct role *role);

static bool all_are(const struct process *process, const char *name, unsigned int id)
{
	char value[TEXT_FIELD_BYTES], wanted[64];

	process_field(process, name, value, sizeof(value));
	snprintf(wanted, sizeof(wanted), "%u\t%u\t%u\t%u", id, id, id, id);
	return strcmp(value, wanted) == 0;
}

static bool holds_ids(struct process *process, const struct role *role)
{
	char groups[TEXT_FIELD_BYTES];

	process_field(process, "Groups", groups, sizeof(groups));
	return all_are(process, "Uid", role->id) && all_are(process, "Gid", role->id) &&
	       strspn(groups, " ") == strlen(groups);
}

static bool holds_capabilities(struct process *process, const struct role *role)
{
	static const char *const sets[] = {"CapInh", "CapPrm", "CapEff", "CapAmb"};
	bool all = process_number(process, "CapBnd", 16) == 0;

	for (size_t i = 0; i < sizeof(sets) / sizeof(*sets); i++)
		all &= process_number(process, sets[i], 16) == role->capabilities;
	return all;
}

static bool holds_no_new_privs(struct process *process, const struct role *role)
{
	(void)role;
	return process_number(process, "NoNewPrivs", 10) == 1;
}

/*
 * A child of the loader has the loader's filter and its own; more may come from keyhole's parent.
 */
static bool holds_seccomp(struct process *process, const struct role *role)
{
	unsigned int filters = 1;

	(void)role;
	if (process->kind == PROCESS_PROGRAM && process->role != ROLE_LOADER)
		filters = 2;
	return process_number(process, "Seccomp", 10) == SECCOMP_MODE_FILTER &&
	       process_number(process, "Seccomp_filters", 10) >= filters;
}

static bool holds_pid(struct process *process, const struct role *role)
{
	char numbers[TEXT_FIELD_BYTES];

	(void)role;
	process_field(process, "NSpid", numbers, sizeof(numbers));
	return strchr(numbers, '\t') != NULL;
}

/* Gets the namespace of process 1. A security module may hide process 1; ours is the same then. */
static int stat_host(const char *space, struct stat *ret_host)
{
	char path[PROCESS_PATH_BYTES];

	snprintf(path, sizeof(path), "/proc/1/ns/%s", space);
	if (stat(path, ret_host) == 0)
		return 0;
	snprintf(path, sizeof(path), "/proc/self/ns/%s", space);
	return stat(path, ret_host);
}

static bool differs(struct process *process, const char *space, enum policy_layer layer)
{
	char path[PROCESS_PATH_BYTES];
	struct stat own, host;

	snprintf(path, sizeof(path), "/proc/%d/ns/%s", (int)process->pid, space);
	if (stat(path, &own) || stat_host(space, &host)) {
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

/* Reads the root: *ret_proc, whether it is /proc, and *ret_empty, whether it has no entry. */
static void read_root(DIR *folder, bool *ret_proc, bool *ret_host, bool *ret_empty)
{
	struct dirent *entry = readdir(folder);

	*ret_proc = *ret_host = false;
	*ret_empty = true;
	for (; entry; entry = readdir(folder)) {
		if (!strcmp(entry->d_name, "self"))
			*ret_proc = true;
		if (!strcmp(entry->d_name, "etc"))
			*ret_host = true;
		if (entry->d_name[0] != '.')
			*ret_empty = false;
	}
}

static bool holds_root(struct process *process, const struct role *role)
{
	char path[PROCESS_PATH_BYTES];
	bool is_proc, is_host, is_empty;
	DIR *folder;

	process_path(process, "root/", path);
	folder = opendir(path);
	if (!folder) {
		process->unseen |= LAYER_BIT(root);
		return true;
	}
	read_root(folder, &is_proc, &is_host, &is_empty);
	closedir(folder);
	if (role->root == ROOT_PROC)
		return is_proc && !is_host;
	return is_empty;
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

	for (size_t i = 0; i < sizeof(limit_names) / sizeof(*limit_names); i++) {
		if (limit_names[i].resource != limit->resource)
			continue;
		if (!text_limit(limits, limit_names[i].name, &hard))
			return false;
		return hard <= limit->value;
	}
	return false;
}

static bool holds_limits(struct process *process, const struct role *role)
{
	char path[PROCESS_PATH_BYTES];
	guard_free char *limits = NULL;
	bool all = true;
	size_t size;

	process_path(process, "limits", path);
	limits = check_read(path, &size);
	if (!limits) {
		process->unseen |= LAYER_BIT(limits);
		return true;
	}
	for (const struct limit *limit = role->limits; limit->resource; limit++)
		all &= limit_holds(limits, limit);
	return all;
}

/* The files in /proc of a process that is not dumpable are root's. */
static bool holds_dumpable(struct process *process, const struct role *role)
{
	char path[PROCESS_PATH_BYTES];
	struct stat status;

	(void)role;
	process_path(process, "environ", path);
	if (stat(path, &status)) {
		process->unseen |= LAYER_BIT(dumpable);
		return true;
	}
	return status.st_uid == 0;
}

static layer_test *const tests[LAYER_COUNT] = {
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

/* Other helpers have a filter, too, and end before the loader gives its rights up. */
static bool stays(const struct process *process)
{
	return !strcmp(process->program, message_party_name(PARTY_AUDITOR)) ||
	       !strcmp(process->program, message_party_name(PARTY_CONNECTOR));
}

/* Returns the layers that a process of this kind must have. */
static uint32_t layers_of(const struct process *process)
{
	uint32_t layers = policy_layers_of(process->role);

	/* a spawner needs its processes, so that limits come after exec */
	if (process->kind == PROCESS_SPAWNER)
		layers &= ~LAYER_BIT(limits);
	if (process->kind == PROCESS_HELPER)
		layers &= HELPER_LAYERS;
	if (process->kind == PROCESS_HELPER && stays(process))
		layers |= LAYER_BIT(seccomp);
	return layers;
}

static void report_layer(const struct process *process, unsigned int layer, bool can_be_had)
{
	const uint32_t bit = 1u << layer;

	if (process->missing & bit && can_be_had)
		report_add(process->report, FINDING_DEVIATION, process->label, "not confined: %s",
			   policy_layer_name(layer));
	if (process->unseen & bit)
		report_add(process->report, FINDING_UNKNOWN, process->label,
			   "cannot be seen: %s; run as root", policy_layer_name(layer));
}

void layers_test(struct process *process, uint32_t lacking)
{
	const struct role *role = policy_role(process->role);
	const uint32_t layers = layers_of(process);

	for (unsigned int layer = 0; layer < LAYER_COUNT; layer++) {
		const uint32_t bit = 1u << layer;

		if (!(layers & bit) || !tests[layer])
			continue;
		if (!tests[layer](process, role))
			process->missing |= bit;
		report_layer(process, layer, !(lacking & bit));
	}
}
