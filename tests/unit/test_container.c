/* SPDX-License-Identifier: Apache-2.0 */
/* Which container the path of a control group names. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <string.h>
#include <cmocka.h>

#include "profile/container.h"

#define A    "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define B    "fedcba9876543210fedcba9876543210fedcba9876543210fedcba9876543210"
#define HALF "0123456789abcdef0123456789abcdef"
#define POD  "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod1.slice"

static const struct {
	const char *path, *id;
} rows[] = {
	{"/docker/" A, A},
	{"/system.slice/docker-" A ".scope", A},
	{"/../../system.slice/docker-" A ".scope", A},
	{"/docker/" A "/init.scope", A},
	{"/docker/" A "/docker/" B, B},
	{"/kubepods/burstable/pod0f1e/" A, A},
	{POD "/cri-containerd-" A ".scope", A},
	{POD "/crio-" A ".scope/container", A},
	{POD ":cri-containerd:" A, A},
	{"/machine.slice/libpod-" A ".scope/container", A},
	{"/ecs/" HALF "/" HALF "-3447813175", HALF "-3447813175"},
	{"/ecs/" HALF "/" A, A},
	/* the beginning is lost */
	{"slice/docker-" A ".scope", A},
	{A, A},
	/* no containers */
	{"", ""},
	{"/", ""},
	{"//", ""},
	{"/user.slice/user-1000.slice/session-2.scope", ""},
	{"/ecs/" HALF, ""},
	{"/ecs/" HALF "-", ""},
	{"/ecs/" HALF "-12x", ""},
	{"/ecs/" HALF "-123456789012345678901", ""},
	{"/ecs/" HALF "-" HALF, ""},
	{"/docker-" A, ""},
	{"/docker-.scope", ""},
	{"/docker-" A "0.scope", ""},
	{"/docker/" A "0", ""},
	{"/docker/0123456789ABCDEF" HALF "0123456789abcdef", ""},
	{"/crio-conmon-" A ".scope", ""},
	{"/libpod-conmon-" A ".scope", ""},
	{"/docker-" HALF "\n" HALF ".scope", ""},
	{"/a:", ""},
};

static void test_container_id(void **state)
{
	char id[CONTAINER_ID_BYTES];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_int_equal(container_id(rows[i].path, id), rows[i].id[0] != '\0');
		assert_string_equal(id, rows[i].id);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_container_id),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
