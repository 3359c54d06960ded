/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_stacks [-v] [-l LIMIT] [-m MINIMUM] [-r FOLDER] NAME PROGRAM ARGUMENTS...
 *
 * Runs `keyhole record` of a build that captures (capture.bpf.h). Holds the frames that BPF emitted
 * against libdw's frames for the same registers and stack, and against the host-compiled walker's.
 * Prints "side class count" lines for stacks.sh. -v shows the differences. -r keeps some stacks of
 * each kind as regression data. Exit status 1: too few stacks, or too few that agree.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bpf/abi.h"
#include "tests/oracle/captured.h"
#include "tests/oracle/compare.h"
#include "tests/oracle/libdw_walk.h"
#include "tests/oracle/record.h"
#include "tests/oracle/rewalk.h"
#include "tests/oracle/snapshot.h"

#define SHOWN_MAX    200
#define AGREE_TENTHS 995 /* of a thousand */

static const char *const reasons[] = {
#define X(name, class, help) #name,
#include "bpf/counters.def"
#undef X
};

static const struct {
	enum side side;
	const char *name, *text, *test;
} classes[CLASS_COUNT] = {
#define X(name, side, text, test) {SIDE_##side, #name, text, test},
	CLASSES(X)
#undef X
};
static const char *const sides[] = {"agree", "out", "oracle", "ours"};

struct tally {
	u64 class[CLASS_COUNT];
};

static bool verbose;
static u64 shown;

/* ---- what differs ---- */

static void show_frame(const struct stack *stack, u32 index, u64 ours, u64 theirs)
{
	u64 frame = ours ? ours : theirs;
	const struct area *area = snapshot_find(stack->snapshot, FRAME_ADDRESS(frame));

	printf("#  %4u %16llx %16llx %s+%llx rule %016llx%s\n", index, ours, theirs,
	       area && area->object ? area->object->name : "?",
	       FRAME_ADDRESS(frame) - (area ? area->bias : 0), rewalk_rule(stack, frame),
	       libdw_has_row(stack, frame) ? "" : ", libdw has none");
}

static void show(const struct stack *stack, const char *what, u32 count, const u64 *theirs, u32 at)
{
	if (!verbose || shown++ >= SHOWN_MAX)
		return;
	printf("# %s: pid %u, %u frames (%s) and %u, sp %llx rbp %llx\n", what, stack->pid,
	       stack->frames, reasons[stack->reason], count, stack->reg[7], stack->reg[6]);
	for (u32 i = at > 3 ? at - 3 : 0; i < at + 3; i++)
		if (i < stack->frames || i < count)
			show_frame(stack, i, i < stack->frames ? stack->frame[i] : 0,
				   i < count ? theirs[i] : 0);
}

/* ---- one stack ---- */

static void check_stack(const struct stack *stack, struct tally *libdw, struct tally *replay,
			struct record_folder *folder)
{
	static struct libdw_frames theirs;
	struct rewalk_frames again = rewalk(stack);
	u32 at;
	enum verdict class = compare_replay(stack, &again, &at);
	bool replays = class == CLASS_SAME;

	replay->class[class]++;
	if (classes[class].side >= SIDE_ORACLE)
		show(stack, "replay", again.count, again.frame, at);
	if (libdw_walk(stack, &theirs) < 0)
		theirs.count = 0;
	class = compare(stack, &theirs, &again, &at);
	libdw->class[class]++;
	if (classes[class].side >= SIDE_ORACLE)
		show(stack, classes[class].text, theirs.count, theirs.frame, at);
	if (folder && replays && (class == CLASS_SAME || classes[class].side == SIDE_ORACLE))
		record_stack(folder, stack, class == CLASS_SAME ? "" : classes[class].name);
}

/* ---- all ---- */

static u64 count_side(const struct tally *tally, enum side side)
{
	u64 count = 0;

	for (u32 i = 0; i < CLASS_COUNT; i++)
		if (classes[i].side == side)
			count += tally->class[i];
	return count;
}

static void print_tally(const char *what, const char *name, const struct tally *tally)
{
	for (u32 i = 0; i < CLASS_COUNT; i++)
		if (tally->class[i])
			printf("%s\t%s\t%s\t%s\t%llu\t%s\n", what, name, sides[classes[i].side],
			       classes[i].text, tally->class[i], classes[i].test);
}

/* Returns whether enough compared stacks are identical, or differ by the oracle's fault. */
static bool is_good(const struct tally *libdw, const struct tally *replay, u64 minimum)
{
	u64 agree = count_side(libdw, SIDE_AGREE), oracle = count_side(libdw, SIDE_ORACLE);
	u64 ours = count_side(libdw, SIDE_OURS);

	if (agree + oracle + ours < minimum || !agree) {
		fprintf(stderr, "%llu stacks, not %llu\n", agree + oracle + ours, minimum);
		return false;
	}
	return agree * 1000 >= (agree + ours) * AGREE_TENTHS && !libdw->class[CLASS_UNEXPLAINED] &&
	       !replay->class[CLASS_UNEXPLAINED];
}

static int usage(void)
{
	fprintf(stderr, "usage: test_stacks [-v] [-l LIMIT] [-m MINIMUM] [-r FOLDER] NAME PROGRAM "
			"ARGUMENTS...\n");
	return 2;
}

int main(int argc, char **argv)
{
	struct captured captured = {0};
	struct tally libdw = {0}, replay = {0};
	struct record_folder folder = {0};
	u64 minimum = 1;
	size_t limit = 6000;
	bool good;
	int option, r;

	while ((option = getopt(argc, argv, "+vl:m:r:")) != -1) {
		if (option == 'v')
			verbose = true;
		else if (option == 'l')
			limit = strtoul(optarg, NULL, 10);
		else if (option == 'm')
			minimum = strtoul(optarg, NULL, 10);
		else if (option == 'r')
			folder.path = optarg;
		else
			return usage();
	}
	if (argc - optind < 2)
		return usage();
	folder.name = argv[optind];
	r = captured_run(&captured, argv + optind + 1, limit);
	if (r < 0 || captured.status)
		fprintf(stderr, "%s: %s, status %#x\n", folder.name, strerror(-r), captured.status);
	for (size_t i = 0; i < captured.count; i++)
		check_stack(&captured.stack[i], &libdw, &replay, folder.path ? &folder : NULL);
	print_tally("libdw", folder.name, &libdw);
	print_tally("replay", folder.name, &replay);
	printf("lost\t%s\tout\ttorn, or of a process that was gone\t%llu\n", folder.name,
	       captured.torn + captured.homeless);
	good = r == 0 && captured.status == 0 && is_good(&libdw, &replay, minimum);
	captured_release(&captured);
	return good ? 0 : 1;
}
