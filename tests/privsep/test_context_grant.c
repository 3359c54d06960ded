/* SPDX-License-Identifier: Apache-2.0 */
/* A process that publishes its context has a grant of its threads' contexts, and no other one. */
#include <errno.h>
#include <linux/bpf.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bpf/abi.h"
#include "ipc/guard.h"
#include "ipc/messages.h"
#include "loader/broker/entries.h"
#include "tests/privsep/broker.h"
#include "tests/privsep/privsep.h"

#define FAMILY 77u
#define PAGE   4096u

static int segments = -1;

/* The header of OTEP 4719, version 2, and the payload. */
struct page {
	char signature[8];
	uint32_t version, size;
	uint64_t published, payload;
	char bytes[16];
};

/* BPF "follows" the test itself. */
static void follow_self(void)
{
	const struct generation generation = {.number = 1, .family = FAMILY, .mm = PAGE};

	follow_as(getpid(), &generation);
}

static struct page *publish(const char *name)
{
	guard_fd int fd = memfd_create(name, MFD_CLOEXEC);
	struct page *page;

	assert_true(fd >= 0 && ftruncate(fd, PAGE) == 0);
	page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	assert_true(page != MAP_FAILED);
	*page = (struct page){"OTEL_CTX", 2, 7, 1, (uint64_t)(uintptr_t)page->bytes, "payload"};
	return page;
}

static int ask_between(struct child *child, uint64_t start, uint64_t end)
{
	const struct message_context request = {1, start, end, (uint32_t)getpid(),
						(uint32_t)getpid()};
	struct message message;
	int r;

	assert_int_equal(
		channel_send(&child->worker, MESSAGE_CONTEXT, &request, sizeof(request), -1), 0);
	assert_int_equal(channel_wait(&child->worker, CHILD_WAIT_MS, &message), 1);
	assert_int_equal(message.head.type, MESSAGE_CONTEXT_REPLY);
	r = message.CONTEXT_REPLY.error;
	message_release(&message);
	return r;
}

static int ask(struct child *child, const struct page *page)
{
	return ask_between(child, (uint64_t)(uintptr_t)page, (uint64_t)(uintptr_t)page + PAGE);
}

static bool is_granted(uint64_t key)
{
	struct grant grant;

	return entry_read(grant_map(), &key, &grant) == 0;
}

static void forget_grants(void)
{
	uint64_t key;

	while (entry_next(grant_map(), NULL, &key) == 0)
		entry_remove(grant_map(), &key);
}

static void test_context_grant__comes_with_the_context(void **state)
{
	const uint64_t key = FAMILY | GRANT_OF_CONTEXT;
	struct page *page = publish("OTEL_CTX");
	struct grant grant;
	struct child child;

	(void)state;
	forget_grants();
	start_broker(&child, segments);
	follow_self();
	assert_int_equal(ask(&child, page), 0);
	assert_true(is_granted(key));
	assert_false(is_granted(FAMILY)); /* of the memory of a runtime */
	/* nobody gets more by asking again */
	assert_int_equal(entry_read(grant_map(), &key, &grant), 0);
	grant.told = 5;
	assert_int_equal(entry_write(grant_map(), &key, &grant, BPF_ANY), 0);
	assert_int_equal(ask(&child, page), 0);
	assert_int_equal(entry_read(grant_map(), &key, &grant), 0);
	assert_int_equal(grant.told, 5);
	child_stop(&child);
	munmap(page, PAGE);
}

static void test_context_grant__none_without_a_context(void **state)
{
	const struct message_grant_rule variable = {.key = {GRANT_RULE_VARIABLE}, .name = "HOME"};
	struct page *page = publish("OTEL_CTX"), *other = publish("OTHER_CTX");
	struct child child;

	(void)state;
	forget_grants();
	start_ruled_broker(&child, segments, 0, &variable);
	follow_self();
	assert_true(ask(&child, other) < 0);
	page->published = 0;
	assert_true(ask(&child, page) < 0);
	page->published = 1;
	page->size = 0;
	assert_true(ask(&child, page) < 0);
	page->size = 7;
	page->version = 3;
	assert_true(ask(&child, page) < 0);
	ask_between(&child, 0, 0); /* the environment */
	assert_false(is_granted(FAMILY | GRANT_OF_CONTEXT));
	assert_false(is_granted(FAMILY));
	/* and after a grant was refused, the next answer grants nothing of the last one */
	page->version = 2;
	assert_int_equal(ask(&child, page), 0);
	forget_grants();
	ask_between(&child, 0, 0);
	assert_false(is_granted(FAMILY | GRANT_OF_CONTEXT));
	child_stop(&child);
	munmap(page, PAGE);
	munmap(other, PAGE);
}

static void test_context_grant__rules_of_the_policy(void **state)
{
	struct message_grant_rule rules[] = {{.key = {GRANT_RULE_NO_CONTEXTS}},
					     {.key = {DENY_UID, 0}}};
	struct page *page = publish("OTEL_CTX");

	(void)state;
	forget_grants();
	rules[1].key[1] = getuid();
	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
		struct child child;

		start_ruled_broker(&child, segments, 0, &rules[i]);
		follow_self();
		assert_int_equal(ask(&child, page), -EPERM);
		assert_false(is_granted(FAMILY | GRANT_OF_CONTEXT));
		child_stop(&child);
	}
	munmap(page, PAGE);
}

/* Without room for a grant the process still says what it is. Dead families make room. */
static void test_context_grant__room(void **state)
{
	struct page *page = publish("OTEL_CTX");
	const struct generation other = {.number = 2, .family = FAMILY + 1, .mm = PAGE};
	struct grant grant = {.uid = getuid()};
	struct child child;
	uint64_t key;

	(void)state;
	forget_grants();
	for (uint64_t i = 0; i < GRANTS_USER; i++) {
		key = (FAMILY + 1 + i) | GRANT_OF_CONTEXT;
		assert_int_equal(entry_write(grant_map(), &key, &grant, BPF_ANY), 0);
	}
	follow_as(1, &other); /* the first one of these lives */
	start_broker(&child, segments);
	follow_self();
	assert_int_equal(ask(&child, page), 0);
	assert_true(is_granted(FAMILY | GRANT_OF_CONTEXT));
	assert_true(is_granted((FAMILY + 1) | GRANT_OF_CONTEXT));
	assert_false(is_granted((FAMILY + 2) | GRANT_OF_CONTEXT));
	/* within a second nobody sweeps again */
	forget_grants();
	for (uint64_t i = 0; i < GRANTS_USER; i++) {
		key = FAMILY + 1 + i;
		assert_int_equal(entry_write(grant_map(), &key, &grant, BPF_ANY), 0);
	}
	assert_int_equal(ask(&child, page), 0);
	child_stop(&child);
	forget_grants();
	munmap(page, PAGE);
}

static int set_up(void **state)
{
	segments = segment_map();
	return privsep_link_programs(state);
}

static int tear_down(void **state)
{
	(void)state;
	return close(segments);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_context_grant__comes_with_the_context),
		cmocka_unit_test(test_context_grant__none_without_a_context),
		cmocka_unit_test(test_context_grant__rules_of_the_policy),
		cmocka_unit_test(test_context_grant__room),
	};

	privsep_need_root();
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
