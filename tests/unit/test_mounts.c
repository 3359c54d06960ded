/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "loader/broker/mounts.h"

#define LIST                                                                                       \
	"21 1 254:1 / / rw,relatime shared:1 - ext4 /dev/vda1 rw\n"                                \
	"22 21 0:20 / /proc rw,nosuid shared:2 - proc proc rw\n"                                   \
	"30 21 0:40 / /fuse rw - fuse.sshfs host: rw,user_id=0\n"                                  \
	"31 21 0:41 / /srv/nfs rw - nfs4 host:/ rw\n"                                              \
	"32 21 8:17 / /srv rw - xfs /dev/sdb1 rw\n"                                                \
	"33 21 0:50 / /merged rw shared:9 master:3 - overlay overlay rw,lowerdir=/a,upperdir=/b\n" \
	"34 21 0:51 / /run/merged rw - overlay  rw,lowerdir=/lower\n"

static int judge(const char *device, const char *options)
{
	char *list = strdup(LIST);
	int r = mounts_overlay(device, options, list);

	free(list);
	return r;
}

static void test_mounts__layers_on_allowed_file_systems(void **state)
{
	static const char *const good[] = {
		"rw,lowerdir=/lower",
		"rw,relatime,lowerdir=/var/l/A:/var/l/B,upperdir=/srv/diff,workdir=/srv/work",
		"rw,lowerdir+=/var/a,lowerdir+=/var/b,datadir+=/var/c",
		"rw,lowerdir=/a::/data,metacopy=on",
		"ro,context=\"system_u:object_r:container_file_t:s0:c1,c2\",lowerdir=/a",
		/* names that only begin, end or go on like those of mounts */
		"rw,lowerdir=/fuses:/a/fuse:/srv/nfs4",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++)
		assert_int_equal(judge("0:51", good[i]), 0);
}

static void test_mounts__layers_that_may_wait(void **state)
{
	static const char *const bad[] = {
		"rw,lowerdir=/fuse",
		"rw,lowerdir=/fuse,upperdir=/b",
		"rw,lowerdir=/a:/fuse/deep/down",
		"rw,lowerdir=/a::/fuse",
		"rw,lowerdir+=/a,lowerdir+=/srv/nfs/x",
		"rw,lowerdir=/a,upperdir=/fuse/u",
		"rw,lowerdir=/a,datadir+=/fuse",
		"rw,lowerdir=/fuses:/fuse",
		/* on another overlay; names that are not what they look like */
		"rw,lowerdir=/merged/a",
		"rw,lowerdir=a:b",
		"rw,lowerdir=/a:b",
		"rw,lowerdir=/a,upperdir=b",
		"rw,lowerdir+=/a,lowerdir+=b",
		"rw,lowerdir+=/a,datadir+=b",
		"rw,lowerdir=/a\\054b",
		"rw",
		"",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_int_equal(judge("0:51", bad[i]), -EACCES);
}

static void test_mounts__who_mounted_it(void **state)
{
	char root[] = "21 1 0:50 / / rw - overlay overlay rw,lowerdir=/not/to/be/seen\n";
	char nothing[] = "", damaged[] = "21 1 0:50 / /\n- \n - \n\n";
	char between[] =
		"34 21 0:51 / /m rw - overlay o rw\n\n1 1 0:9 /\n2 1 0:9 /  rw - fuse s rw\n"
		"30 21 0:40 / /fuse rw - fuse.sshfs host: rw\n";

	(void)state;
	/* in a namespace of its own */
	assert_int_equal(judge("0:99", "rw,lowerdir=/lower"), -EACCES);
	assert_int_equal(judge("0:5", "rw,lowerdir=/lower"), -EACCES);
	/* what all runs on; an overlay on it */
	assert_int_equal(mounts_overlay("0:50", "rw,lowerdir=l", root), 0);
	assert_int_equal(mounts_overlay("0:50", "rw,lowerdir=/a", nothing), -EACCES);
	assert_int_equal(mounts_overlay("0:50", "rw,lowerdir=/a", damaged), -EACCES);
	/* what is no mount hides none */
	assert_int_equal(mounts_overlay("0:51", "rw,lowerdir=/fuse/a", between), -EACCES);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_mounts__layers_on_allowed_file_systems),
		cmocka_unit_test(test_mounts__layers_that_may_wait),
		cmocka_unit_test(test_mounts__who_mounted_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
