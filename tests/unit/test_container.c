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
	/* the driver cgroupfs */
	{"/libpod_parent/libpod-" A, A},
	{"/libpod_parent/libpod-" A "/container", A},
	{"/kubepods/besteffort/pod0f1e/crio-" A, A},
	{"/kubepods/besteffort/pod0f1e/crio-conmon-" A, ""},
	/* nerdctl and containerd's ctr */
	{"/system.slice/nerdctl-" A ".scope", A},
	{"/default/" A, A},
	/* version 1: below the controller's mount, or of a nested Docker */
	{"/system.slice/docker.service/docker/" A "/kubepods/burstable/pod0f1e/" B, B},
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
	{"/libpod-conmon-" A, ""},
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

#define POD_UID	   "0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0"
#define POD_UNDER  "0f1e2d3c_4b5a_6978_8796_a5b4c3d2e1f0"
#define OTHER_UID  "ffffffff-4b5a-6978-8796-a5b4c3d2e1f0"
#define STATIC_UID "0123456789abcdef0123456789abcdef"
#define PODS	   "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod"

static const struct {
	const char *path, *uid;
} pods[] = {
	/* systemd's driver: burstable, guaranteed, of a static pod, of kind */
	{PODS POD_UNDER ".slice/cri-containerd-" A ".scope", POD_UID},
	{"/kubepods.slice/kubepods-pod" POD_UNDER ".slice/crio-" A ".scope/container", POD_UID},
	{"/kubepods.slice/kubepods-pod" STATIC_UID ".slice", STATIC_UID},
	{"/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-besteffort.slice"
	 "/kubelet-kubepods-besteffort-pod" POD_UNDER ".slice",
	 POD_UID},
	{PODS POD_UNDER ".slice:cri-containerd:" A, POD_UID},
	/* cgroupfs */
	{"/kubepods/burstable/pod" POD_UID "/" A, POD_UID},
	{"/kubepods/pod" POD_UID "/" A, POD_UID},
	{"/kubepods/besteffort/pod" STATIC_UID "/crio-" A, STATIC_UID},
	{"/docker/" A "/kubepods/burstable/pod" POD_UID "/" B, POD_UID},
	/* one in another, and a path without its beginning */
	{"/kubepods/pod" OTHER_UID "/" A "/kubepods/pod" POD_UID "/" B, POD_UID},
	{"pod" POD_UID, POD_UID},
	/* no pods */
	{"", ""},
	{"/docker/" A, ""},
	{"/kubepods/burstable/podcast/" A, ""},
	{"/kubepods/pod" POD_UID "0", ""},
	{"/kubepods/podx" POD_UID, ""},
	{"/user.slice/tripod.slice", ""},
	{PODS "0f1e2d3c_4b5a_6978_8796_a5b4c3d2e1fg.slice", ""},
	{PODS POD_UNDER ".scope", ""},
	{"/machine.slice/libpod-" A ".scope", ""},
};

static void test_container_pod(void **state)
{
	char uid[CONTAINER_POD_BYTES];

	(void)state;
	for (size_t i = 0; i < sizeof(pods) / sizeof(pods[0]); i++) {
		assert_int_equal(container_pod(pods[i].path, uid), pods[i].uid[0] != '\0');
		assert_string_equal(uid, pods[i].uid);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_container_id),
		cmocka_unit_test(test_container_pod),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
