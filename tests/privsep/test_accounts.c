/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The accounts as the worker gets them. Nobody but BPF can write to the arrays. A worker that is to
 * make a table does not start without both.
 */
#include "tests/privsep/privsep.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bpf/abi.h"
#include "ipc/messages.h"
#include "worker/regions.h"

#define PAGE 4096u

/* Makes an array as the loader does, with a word in the first entry. */
static int make_array(const char *name, uint32_t bytes, uint32_t entries)
{
	LIBBPF_OPTS(bpf_map_create_opts, options, .map_flags = BPF_F_MMAPABLE);
	const uint32_t zero = 0;
	uint64_t *value = calloc(1, bytes);
	int fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, name, sizeof(zero), bytes, entries, &options);

	assert_true(fd >= 0);
	assert_non_null(value);
	value[0] = 4711;
	assert_int_equal(bpf_map_update_elem(fd, &zero, value, BPF_ANY), 0);
	assert_int_equal(bpf_map_freeze(fd), 0);
	free(value);
	return fd;
}

static void configure(struct regions *regions, uint32_t flags)
{
	const struct message_config config = {.cpus = 1,
					      .ring_bytes = RING_BYTES_MIN,
					      .sideband_bytes = PAGE,
					      .segments = 1,
					      .flags = flags};

	regions_init(regions, PAGE);
	assert_int_equal(regions_configure(regions, &config), 0);
}

static int add(struct regions *regions, enum descriptor_kind kind, int fd)
{
	const struct message_descriptor descriptor = {.kind = kind};

	return regions_add(regions, &descriptor, fd);
}

static void test_accounts__worker_maps_what_it_can_only_read(void **state)
{
	const int places = make_array("accounts", sizeof(struct account), ACCOUNTS);
	const int cpus = make_array("account_cpus", sizeof(struct account_cpu), 1);
	const struct account account = {.number = 1};
	const uint32_t zero = 0;
	struct regions regions;

	(void)state;
	configure(&regions, OPTIONS_STAT);
	/* regions_add() closes what it gets: nothing but the mapping is left */
	assert_int_equal(add(&regions, DESCRIPTOR_ACCOUNTS, dup(places)), 0);
	assert_int_equal(add(&regions, DESCRIPTOR_ACCOUNT_CPUS, dup(cpus)), 0);
	assert_int_equal(((const struct account *)regions.accounts)->number, 4711);
	assert_int_equal(mprotect(regions.accounts, PAGE, PROT_READ | PROT_WRITE), -1);
	assert_int_equal(errno, EACCES);
	assert_int_equal(mprotect(regions.account_cpus, PAGE, PROT_READ | PROT_WRITE), -1);
	assert_ptr_equal(mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, places, 0),
			 MAP_FAILED);
	assert_int_equal(bpf_map_update_elem(places, &zero, &account, BPF_ANY), -EPERM);
	/* each kind comes once */
	assert_int_equal(add(&regions, DESCRIPTOR_ACCOUNTS, dup(places)), -EEXIST);
	close(places);
	close(cpus);
}

static void test_accounts__arrays_that_are_too_small_are_refused(void **state)
{
	struct regions regions;

	(void)state;
	configure(&regions, OPTIONS_STAT);
	assert_true(add(&regions, DESCRIPTOR_ACCOUNTS,
			make_array("accounts", sizeof(struct account), 1)) < 0);
	assert_null(regions.accounts);
}

static void test_accounts__no_start_without_them(void **state)
{
	struct regions with, without;

	(void)state;
	configure(&with, OPTIONS_STAT);
	configure(&without, 0);
	for (int i = 0; i < 2; i++) {
		struct regions *regions = i ? &with : &without;

		/* as if all that a recording needs had come */
		regions->rings = regions->tails = regions->processes = regions;
		regions->event_fd = regions->broker_fd = regions->exporter_fd = 0;
		regions->segment_count = 1;
		assert_int_equal(regions_complete(regions), i ? -ENODATA : 0);
	}
	with.accounts = &with;
	assert_int_equal(regions_complete(&with), -ENODATA);
	with.account_cpus = &with;
	assert_int_equal(regions_complete(&with), 0);
}

int main(void)
{
	privsep_need_root();
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_accounts__worker_maps_what_it_can_only_read),
		cmocka_unit_test(test_accounts__arrays_that_are_too_small_are_refused),
		cmocka_unit_test(test_accounts__no_start_without_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
