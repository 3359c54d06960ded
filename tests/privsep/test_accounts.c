/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The accounts as the worker gets them. Nobody but BPF can write to the arrays. A worker that is to
 * make a table does not start without both.
 */
#include "tests/privsep/privsep.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
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

static int add_at(struct regions *regions, uint32_t index, int fd)
{
	const struct message_descriptor descriptor = {.kind = DESCRIPTOR_ZONE, .index = index};

	return regions_add(regions, &descriptor, fd);
}

static int make_file(const char *text)
{
	int fd = memfd_create("zone", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	return fd;
}

static unsigned int count_open(void)
{
	return privsep_count_fds(getpid());
}

/* One descriptor of an energy zone stays, and none of a zone that makes no sense. */
static void test_accounts__zones(void **state)
{
	const char *const texts[][ZONE_FILES] = {{"package-0\n", "1000\n", "5\n"},
						 {"\x1b]0;core\n", "1000\n", "5\n"}};
	const unsigned int before = count_open();
	struct regions regions;

	(void)state;
	configure(&regions, OPTIONS_STAT);
	for (uint32_t zone = 0; zone < 2; zone++)
		for (uint32_t file = 0; file < ZONE_FILES; file++)
			assert_int_equal(add_at(&regions, ZONE_INDEX(zone, file),
						make_file(texts[zone][file])),
					 0);
	assert_int_equal(count_open(), before + 1);
	energy_release(&regions.energy);
	assert_int_equal(count_open(), before);
}

/* Each is refused, and closed: out of order, twice, a part of a zone, or a number that is none. */
static void test_accounts__zones_out_of_order_are_refused(void **state)
{
	static const uint32_t wrong[] = {
		ZONE_INDEX(1, ZONE_FILE_ENERGY), ZONE_INDEX(0, ZONE_FILE_NAME),
		ZONE_INDEX(2, ZONE_FILE_NAME), ZONE_INDEX_MAX + 1, UINT32_MAX};
	struct regions regions;
	unsigned int before;

	(void)state;
	configure(&regions, OPTIONS_STAT);
	for (uint32_t file = 0; file < ZONE_FILES; file++)
		assert_int_equal(add_at(&regions, ZONE_INDEX(0, file), make_file("5\n")), 0);
	assert_int_equal(add_at(&regions, ZONE_INDEX(1, ZONE_FILE_NAME), make_file("core\n")), 0);
	before = count_open();
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_int_equal(add_at(&regions, wrong[i], make_file("5\n")), -EINVAL);
	assert_int_equal(count_open(), before);
}

/* CONFIG says why no zone comes, by an errno. */
static void test_accounts__reason_is_an_errno(void **state)
{
	static const int32_t wrong[] = {1, -MESSAGE_ERRNO_MAX - 1, INT32_MIN};

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		const struct message_config config = {.cpus = 1,
						      .ring_bytes = RING_BYTES_MIN,
						      .sideband_bytes = PAGE,
						      .segments = 1,
						      .no_energy = wrong[i]};
		struct regions regions;

		regions_init(&regions, PAGE);
		assert_int_equal(regions_configure(&regions, &config), -EINVAL);
	}
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
		cmocka_unit_test(test_accounts__zones),
		cmocka_unit_test(test_accounts__zones_out_of_order_are_refused),
		cmocka_unit_test(test_accounts__reason_is_an_errno),
		cmocka_unit_test(test_accounts__no_start_without_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
