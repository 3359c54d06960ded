/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_held ROLE:LABEL:PID:FD...: takes descriptors out of the processes of a real recording, which
 * inventory.py starts. Each descriptor goes to a prisoner of the same role, which tries everything
 * of held.def on it. With all layers, exactly the attempts that the table allows may succeed. The
 * prisoner then tries with all layers but the filter, to show what the filter is for.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/escape/cell.h"

static const char *const names[] = {
#define H(name, help) #name,
#include "tests/escape/held.def"
#undef H
};
#define TRIES (sizeof(names) / sizeof(*names))

/* The attempts that may succeed with all layers, and the reasons. */
static const struct {
	const char *role, *label, *possible, *reason;
} golden[] = {
	{"keyhole-worker", "object", "read_bytes map_read map_private stat_it",
	 "it parses it; the broker opened it to read"},
	{"keyhole-worker", "ring", "map_read map_write stat_it",
	 "the first page says how far it has read; the rest maps read-only"},
	{"keyhole-worker", "sideband", "stat_it",
	 "it cannot sample, and its ring is mapped already, in the one size it can have"},
	{"keyhole-worker", "socket", "write_bytes stat_it", "messages"},
	{"keyhole-worker", "null", "read_bytes write_bytes stat_it", "it is nothing"},
	{"keyhole-worker", "spill", "read_bytes write_bytes map_read map_write map_private stat_it",
	 "it keeps samples there"},
	{"keyhole-worker", "memory",
	 "read_bytes write_bytes map_read map_write map_private stat_it",
	 "it writes profiles and questions there; it cannot make another such file"},
	{"keyhole-exporter", "output", "write_bytes stat_it sync_it", "it writes it"},
	{"keyhole-exporter", "socket", "write_bytes stat_it", "messages"},
	{"keyhole-broker", "segments", "map_lookup map_update", "it adds segments"},
	{"keyhole-broker", "processes", "map_lookup", "it asks who is denied"},
	{"keyhole-broker", "socket", "write_bytes", "messages"},
	{"keyhole", "sampling", "map_read map_write stat_it perf_enable",
	 "it turns sampling on and off"},
	{"keyhole", "output", "write_bytes stat_it", "it gave it to the exporter"},
	{"keyhole", "spill", "read_bytes write_bytes map_read map_write map_private stat_it",
	 "it gave it to the worker"},
	{"keyhole", "ring", "map_read map_write stat_it", "it gave it to the worker"},
	{"keyhole", "program", "stat_it", "it keeps it loaded"},
	{"keyhole", "array", "map_read map_write stat_it", "it gave it to the worker"},
	{"keyhole", "map", "stat_it", "it keeps it loaded"},
	{"keyhole", "link", "stat_it", "it keeps it attached"},
	{"keyhole", "iterator", "stat_it", "it gave it to keyhole-output"},
	{"keyhole", "symbols", "read_bytes map_read map_private stat_it reopen_read",
	 "sealed; it gave it to the worker"},
	{"keyhole", "signals", "stat_it", "the signals that would end keyhole"},
	{"keyhole", "folder", "stat_it reopen_read", "/proc, which it may read anyway"},
	{"keyhole", "socket", "write_bytes stat_it", "messages"},
};

/* The attempts that must fail even without the filter. */
static const struct {
	const char *role, *label, *name;
} never[] = {
	{"keyhole-worker", "sideband", "perf_period"}, /* it is of no event that samples */
	{"keyhole-worker", "object", "write_bytes"},   /* the broker opened it to read */
	{"keyhole-worker", "object", "reopen_write"},  /* nor is there a path to it */
	{"keyhole-worker", "object", "reopen_read"},
	{"keyhole-worker", "spill", "reopen_write"}, /* it has no name */
	{"keyhole-exporter", "output", "reopen_read"},
	{"keyhole-broker", "segments", "reopen_write"},
};

struct held {
	enum policy_role role;
	char role_name[32], label[32];
	int fd;
};

static struct held take(const char *argument)
{
	struct held held = {.role = ROLE_LOADER};
	int pid, number, pidfd;

	if (sscanf(argument, "%31[^:]:%31[^:]:%d:%d", held.role_name, held.label, &pid, &number) !=
	    4)
		give_up(argument);
	while (held.role < ROLE_SUPERVISED &&
	       strcmp(held.role_name, policy_role(held.role)->program))
		held.role++;
	pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	held.fd = (int)syscall(SYS_pidfd_getfd, pidfd, number, 0);
	if (held.fd < 0)
		give_up(argument);
	close(pidfd);
	return held;
}

static bool works(struct cell *cell, size_t i, int fd)
{
	struct order order = {.kind = ORDER_HELD, .number = (uint32_t)i};
	int64_t result = 0;
	enum outcome outcome = cell_do(cell, &order, fd, &result);

	if (outcome == OUTCOME_ENDED)
		return WIFEXITED(cell->status) && WEXITSTATUS(cell->status) == 0;
	return outcome == OUTCOME_RETURNED && result >= 0;
}

static void try_all(const struct held *held, uint32_t off, char *possible, size_t size)
{
	struct cell cell;
	FILE *list = fmemopen(possible, size, "w");

	cell_open(&cell, held->role, off);
	for (size_t i = 0; i < TRIES; i++)
		if (works(&cell, i, held->fd))
			fprintf(list, "%s%s", ftell(list) ? " " : "", names[i]);
	cell_close(&cell);
	fputc('\0', list);
	fclose(list);
}

static bool has_name(const char *list, const char *name)
{
	const size_t length = strlen(name);

	for (const char *at = list; (at = strstr(at, name)); at += length)
		if ((at == list || at[-1] == ' ') && (!at[length] || at[length] == ' '))
			return true;
	return false;
}

static void judge_never(const struct held *held, const char *without)
{
	for (size_t i = 0; i < sizeof(never) / sizeof(*never); i++)
		if (!strcmp(never[i].role, held->role_name) && !strcmp(never[i].label, held->label))
			tap(!has_name(without, never[i].name),
			    "held: %s: %s: no %s, without the filter either", held->role_name,
			    held->label, never[i].name);
}

static void judge(const struct held *held)
{
	char possible[2048], without[2048];
	size_t i = 0;

	try_all(held, 0, possible, sizeof(possible));
	try_all(held, LAYER_BIT(seccomp), without, sizeof(without));
	while (i < sizeof(golden) / sizeof(*golden) &&
	       (strcmp(golden[i].role, held->role_name) || strcmp(golden[i].label, held->label)))
		i++;
	if (i == sizeof(golden) / sizeof(*golden)) {
		tap(false, "held: %s: %s: not in the table: %s", held->role_name, held->label,
		    possible);
		return;
	}
	tap(!strcmp(possible, golden[i].possible), "held: %s: %s: possible: %s (%s)",
	    held->role_name, held->label, *possible ? possible : "nothing", golden[i].reason);
	printf("# without the filter: %s\n", without);
	judge_never(held, without);
}

/* All are taken first: the worker goes on, and closes its own. */
int main(int argc, char **argv)
{
	struct held *held = calloc((size_t)argc, sizeof(*held));

	if (!held)
		give_up("descriptors");
	cell_setup();
	for (int i = 1; i < argc; i++)
		held[i] = take(argv[i]);
	for (int i = 1; i < argc; i++) {
		judge(&held[i]);
		close(held[i].fd);
	}
	free(held);
	return tap_end();
}
