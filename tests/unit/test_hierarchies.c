/* SPDX-License-Identifier: Apache-2.0 */
/* Containers and pods in control groups of version 1. */
#include <errno.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "worker/context/attributes.h"
#include "worker/context/hierarchies.h"

#define ID  "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define POD "0f3c9f0e-1111-2222-3333-444455556666"

static struct attributes attributes;

static int read_text(const char *text, size_t size)
{
	char *copy = malloc(size + 1);
	int r;

	assert_non_null(copy);
	memcpy(copy, text, size);
	attributes = (struct attributes){.used = 0};
	r = hierarchies_read(copy, size, &attributes);
	free(copy);
	return r;
}

static void check(const char *text, int r, const char *expected)
{
	assert_int_equal(read_text(text, strlen(text)), r);
	assert_string_equal(attributes.text, expected);
}

static void test_hierarchies__engines(void **state)
{
	(void)state;
	check("12:pids:/docker/" ID "\n0::/\n", 0, "container.id=" ID "\n");
	check("11:memory:/kubepods/burstable/pod" POD "/" ID "\n", 0,
	      "container.id=" ID "\nk8s.pod.uid=" POD "\n");
	check("1:name=systemd:/system.slice/docker-" ID ".scope\n", 0, "container.id=" ID "\n");
	/* seen from another namespace of control groups */
	check("3:cpu,cpuacct:/../../docker/" ID "\n", 0, "container.id=" ID "\n");
}

static void test_hierarchies__version_2_alone(void **state)
{
	(void)state;
	check("0::/docker/" ID "\n", -ENOENT, "");
	check("0::/\n", -ENOENT, "");
	check("", -ENOENT, "");
}

static void test_hierarchies__no_container(void **state)
{
	(void)state;
	check("4:memory:/user.slice\n0::/\n", 0, "");
}

/* A process may choose the name of its group: no byte but a line feed ends a line. */
static void test_hierarchies__odd_lines(void **state)
{
	char text[PATH_MAX + 64];

	(void)state;
	check("::\n:::\n\n4\n4:\n4:a\n", 0, "");
	check("4:memory:/a:b:/docker/" ID "\n", 0, "container.id=" ID "\n");
	memset(text, 'x', sizeof(text));
	memcpy(text, "4:pids:/", 8);
	assert_int_equal(read_text(text, sizeof(text)), -ENOENT);
	assert_string_equal(attributes.text, "");
	for (size_t size = 0; size < 24; size++)
		read_text("4:pids:/docker/" ID "\n", size);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hierarchies__engines),
		cmocka_unit_test(test_hierarchies__version_2_alone),
		cmocka_unit_test(test_hierarchies__no_container),
		cmocka_unit_test(test_hierarchies__odd_lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
