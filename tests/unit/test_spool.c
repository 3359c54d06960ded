/* SPDX-License-Identifier: Apache-2.0 */
/* The spool's folder as keyhole-output has it, and its files as the exporter reads them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "exporter/spool_file.h"
#include "helper/output/spool.h"
#include "helper/output/window_file.h"
#include "ipc/guard.h"
#include "ipc/spool.h"

#define BLOCK 4096u /* that a file takes at least */
#define MOST  (10 * BLOCK)
#define BYTES 1000u /* of a window */

static char folder[] = "/tmp/keyhole-spool-XXXXXX", before[4096];

static int setup(void **state)
{
	(void)state;
	memcpy(folder + strlen(folder) - 6, "XXXXXX", 6);
	if (!getcwd(before, sizeof(before)) || !mkdtemp(folder) || chdir(folder))
		return -1;
	return 0;
}

static int teardown(void **state)
{
	DIR *dir = opendir(".");

	(void)state;
	for (struct dirent *entry; (entry = readdir(dir));)
		unlink(entry->d_name);
	closedir(dir);
	if (chdir(before))
		return -1;
	return rmdir(folder);
}

static unsigned int count_files(void)
{
	DIR *dir = opendir(".");
	unsigned int count = 0;

	for (struct dirent *entry; (entry = readdir(dir));)
		count += entry->d_name[0] != '.' || strlen(entry->d_name) > 2;
	closedir(dir);
	return count;
}

/* Bytes that tell windows apart. */
static void fill(unsigned char bytes[BYTES], uint64_t id)
{
	for (size_t i = 0; i < BYTES; i++)
		bytes[i] = (unsigned char)(i * 7 + id);
}

static int write_sealed(struct spool *spool, uint64_t id, int seals)
{
	guard_fd int fd = memfd_create("window", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	struct message_spool window = {.id = id, .bytes = BYTES, .events = 10 + id};
	unsigned char bytes[BYTES];

	fill(bytes, id);
	window.checksum = spool_file_checksum(bytes, BYTES);
	assert_int_equal(pwrite(fd, bytes, BYTES, 0), BYTES);
	assert_int_equal(fcntl(fd, F_ADD_SEALS, seals), 0);
	return spool_write(spool, fd, &window, time(NULL));
}

static int keep(struct spool *spool, uint64_t id)
{
	return write_sealed(spool, id, F_SEAL_SHRINK | F_SEAL_GROW);
}

/* Reads the oldest window, and checks that it is this one. */
static void assert_oldest(struct spool *spool, uint64_t id)
{
	unsigned char bytes[BYTES];
	uint64_t found, size;
	uint8_t *read;
	guard_fd int fd = spool_open_oldest(spool, time(NULL), &found);

	assert_true(fd >= 0);
	assert_int_equal(found, id);
	assert_int_equal(fcntl(fd, F_GETFL) & O_ACCMODE, O_RDONLY);
	assert_int_equal(spool_file_read(fd, BYTES, &read, &size), 0);
	assert_int_equal(size, BYTES);
	fill(bytes, id);
	assert_memory_equal(read, bytes, BYTES);
	free(read);
}

static void assert_pushed(struct spool *spool, uint32_t windows, uint64_t events)
{
	struct message_spooled answer = {0};

	spool_take_pushed(spool, &answer);
	assert_int_equal(answer.pushed, windows);
	assert_int_equal(answer.events, events);
}

static void test_spool__gives_the_oldest_until_it_is_removed(void **state)
{
	struct spool spool = {.most = MOST};
	struct stat status;
	uint64_t id;

	(void)state;
	assert_int_equal(spool_open_oldest(&spool, time(NULL), &id), -ENOENT);
	assert_int_equal(keep(&spool, 0x20), 0);
	assert_int_equal(keep(&spool, 0x3), 0);
	assert_int_equal(keep(&spool, UINT64_MAX), 0);
	assert_int_equal(stat("keyhole-spool-0000000000000020", &status), 0);
	assert_int_equal(status.st_mode & 0777, 0600);
	assert_oldest(&spool, 0x3);
	assert_oldest(&spool, 0x3);
	spool_remove(0x3);
	spool_remove(0x3);
	assert_oldest(&spool, 0x20);
	spool_remove(0x20);
	assert_oldest(&spool, UINT64_MAX);
	spool_remove(UINT64_MAX);
	assert_int_equal(spool_open_oldest(&spool, time(NULL), &id), -ENOENT);
	assert_pushed(&spool, 0, 0);
	assert_int_equal(count_files(), 0);
}

static void test_spool__the_oldest_make_room(void **state)
{
	struct spool spool = {.most = 4 * BLOCK - 1};

	(void)state;
	for (uint64_t id = 1; id <= 3; id++)
		assert_int_equal(keep(&spool, id), 0);
	assert_pushed(&spool, 0, 0);
	assert_int_equal(keep(&spool, 4), 0);
	assert_int_equal(keep(&spool, 5), 0);
	assert_pushed(&spool, 2, 11 + 12);
	assert_pushed(&spool, 0, 0);
	assert_oldest(&spool, 3);
	assert_int_equal(count_files(), 3);
}

static void test_spool__the_old_go(void **state)
{
	const time_t now = time(NULL);
	struct spool spool = {.most = MOST};
	uint64_t id;
	int fd;

	(void)state;
	assert_int_equal(keep(&spool, 7), 0);
	fd = spool_open_oldest(&spool, now + SPOOL_SECONDS - 60, &id);
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(spool_open_oldest(&spool, now + SPOOL_SECONDS + 60, &id), -ENOENT);
	assert_pushed(&spool, 1, 17);
}

static void test_spool__what_is_no_window(void **state)
{
	struct spool spool = {.most = BLOCK - 1};

	(void)state;
	assert_int_equal(keep(&spool, 1), -EFBIG);
	spool.most = MOST;
	assert_int_equal(write_sealed(&spool, 1, F_SEAL_GROW), -EPERM);
	assert_int_equal(spool_write(&spool, STDIN_FILENO, &(struct message_spool){.bytes = 1}, 0),
			 -EPERM);
	assert_int_equal(count_files(), 0);
}

/* A user's own files, and a link where an agent was killed: somebody else owns the folder. */
static void test_spool__leaves_other_files_alone(void **state)
{
	static const char *const others[] = {"keyhole-spool-", "keyhole-spool-00000000000000010",
					     "keyhole-spool-000000000000000X",
					     "keyhole-20260101T000000Z.pb.gz"};
	struct spool spool = {.most = BLOCK};
	uint64_t id;

	(void)state;
	for (size_t i = 0; i < 4; i++)
		close(open(others[i], O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
	assert_int_equal(spool_open_oldest(&spool, time(NULL), &id), -ENOENT);
	assert_int_equal(symlink("/etc/passwd", ".keyhole-spool-window.tmp"), 0);
	assert_int_equal(keep(&spool, 1), 0);
	assert_int_equal(count_files(), 5);
	spool_remove(1);
	assert_int_equal(symlink("/etc/passwd", "keyhole-spool-0000000000000001"), 0);
	assert_int_equal(spool_open_oldest(&spool, time(NULL), &id), -ELOOP);
	assert_int_equal(id, 1);
	spool_remove(1);
	assert_int_equal(access("/etc/passwd", F_OK), 0);
	assert_int_equal(count_files(), 4);
}

/* ---- what the exporter reads ---- */

static int read_changed(const struct spool_head *head, size_t size)
{
	guard_fd int fd = memfd_create("file", MFD_CLOEXEC);
	unsigned char bytes[BYTES];
	uint8_t *read = NULL;
	uint64_t got;
	int r;

	fill(bytes, 1);
	assert_int_equal(pwrite(fd, bytes, BYTES, sizeof(*head)), BYTES);
	assert_int_equal(pwrite(fd, head, sizeof(*head), 0), sizeof(*head));
	assert_int_equal(ftruncate(fd, (off_t)size), 0);
	r = spool_file_read(fd, BYTES, &read, &got);
	if (r == 0)
		free(read);
	return r;
}

static void test_spool__believes_no_file(void **state)
{
	const size_t whole = sizeof(struct spool_head) + BYTES;
	struct spool_head good = {SPOOL_MAGIC, SPOOL_VERSION, BYTES, 1, 0}, head;
	unsigned char bytes[BYTES];

	(void)state;
	fill(bytes, 1);
	good.checksum = spool_file_checksum(bytes, BYTES);
	assert_int_equal(read_changed(&good, whole), 0);
	for (size_t size = 0; size < whole; size += 13)
		assert_int_equal(read_changed(&good, size), -EBADMSG);
	assert_int_equal(read_changed(&good, whole + 1), -EBADMSG);
	head = good;
	head.magic++;
	assert_int_equal(read_changed(&head, whole), -EBADMSG);
	head = good;
	head.version++;
	assert_int_equal(read_changed(&head, whole), -EBADMSG);
	head = good;
	head.checksum++;
	assert_int_equal(read_changed(&head, whole), -EBADMSG);
	head = good;
	head.bytes = UINT64_MAX;
	assert_int_equal(read_changed(&head, whole), -EBADMSG);
	head.bytes = 0;
	assert_int_equal(read_changed(&head, sizeof(head)), -EBADMSG);
	head.bytes = BYTES + 1;
	assert_int_equal(read_changed(&head, whole + 1), -EFBIG);
}

/* The test values of its authors. */
static void test_spool__checksum(void **state)
{
	(void)state;
	assert_true(spool_file_checksum("", 0) == 0xcbf29ce484222325ull);
	assert_true(spool_file_checksum("foobar", 6) == 0x85944171f73967e8ull);
}

#define TEST(name) cmocka_unit_test_setup_teardown(test_spool__##name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(gives_the_oldest_until_it_is_removed),
		TEST(the_oldest_make_room),
		TEST(the_old_go),
		TEST(what_is_no_window),
		TEST(leaves_other_files_alone),
		TEST(believes_no_file),
		TEST(checksum),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
