/* SPDX-License-Identifier: Apache-2.0 */
/* From an object to its debug file: the worker's requests and keyhole-output's answers. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "helper/output/debug.h"
#include "ipc/channel.h"
#include "tests/unit/build_elf.h"
#include "worker/naming/debug_file.h"
#include "object/elf/image.h"
#include "worker/naming/debug_peer.h"

#define ID	 "\x01\x23\x45\x67\x89\xab\xcd\xef\x01\x23\x45\x67\x89\xab\xcd\xef\x01\x23\x45\x67"
#define ID_BYTES 20
#define ID_PATH	 ".build-id/01/23456789abcdef0123456789abcdef01234567.debug"

static const struct debug_peer_files no_files = {-1, -1}; /* for questions, which nobody asks */

struct folder {
	char path[32];
	struct debug opened;
	struct debug_peer *files; /* sends requests to the process that answers */
};

/* Makes an object with a build id, a link, or neither. */
static unsigned char *object(const char *id, const char *link, uint32_t sum, size_t *ret_size)
{
	unsigned char note[12 + 4 + ID_BYTES] = {4, 0, 0, 0, ID_BYTES, 0,   0,	0,
						 3, 0, 0, 0, 'G',      'N', 'U'};
	unsigned char bytes[64] = {0};
	struct build_elf elf;
	size_t length;

	build_elf_init(&elf);
	if (id) {
		memcpy(note + 16, id, ID_BYTES);
		build_elf_segment(&elf, PT_NOTE, PF_R, 0, note, sizeof(note))->p_align = 4;
	}
	if (link) {
		length = strlen(link) + 1;
		memcpy(bytes, link, length);
		length = (length + 3) & ~(size_t)3;
		memcpy(bytes + length, &sum, sizeof(sum));
		build_elf_section(&elf, ".gnu_debuglink", SHT_PROGBITS, 0, bytes, length + 4);
	}
	return build_elf_finish(&elf, ret_size);
}

static void make_parents(int folder, const char *path)
{
	char part[128];

	for (const char *at = path; (at = strchr(at, '/')); at++) {
		snprintf(part, sizeof(part), "%.*s", (int)(at - path), path);
		mkdirat(folder, part, 0755);
	}
}

/* Writes an object with that build id to a file, and returns its sum. */
static uint32_t put(const struct folder *folder, const char *path, const char *id)
{
	int at = open(folder->path, O_PATH | O_DIRECTORY | O_CLOEXEC), fd;
	unsigned char *bytes;
	uint32_t sum;
	size_t size;

	make_parents(at, path);
	bytes = object(id, NULL, 0, &size);
	sum = (uint32_t)crc32(0, bytes, (uInt)size);
	fd = openat(at, path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0644);
	assert_int_equal(write(fd, bytes, size), size);
	free(bytes);
	close(fd);
	close(at);
	return sum;
}

static int set_up(void **state)
{
	struct folder *folder = calloc(1, sizeof(*folder));
	char list[128];
	int fds[2];

	snprintf(folder->path, sizeof(folder->path), "/tmp/keyhole-debug-XXXXXX");
	if (!mkdtemp(folder->path) || channel_pair(fds))
		return -1;
	snprintf(list, sizeof(list), ":/no/such/folder:%s", folder->path);
	debug_open(&folder->opened, list);
	debug_start(&folder->opened, fds[1]);
	folder->files = debug_peer_new(fds[0], &no_files);
	*state = folder;
	return folder->opened.folders.count == 1 ? 0 : -1;
}

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *where)
{
	(void)status;
	(void)kind;
	(void)where;
	return remove(path);
}

static int tear_down(void **state)
{
	struct folder *folder = *state;

	nftw(folder->path, remove_one, 8, FTW_DEPTH | FTW_PHYS);
	debug_peer_free(folder->files);
	close(folder->opened.folders.fd[0]);
	free(folder);
	return 0;
}

static int look_up(const struct folder *folder, const char *id, const char *link, uint32_t sum,
		   const char *path)
{
	struct debug_file file;
	struct image *image;
	unsigned char *bytes;
	size_t size;
	int r;

	bytes = object(id, link, sum, &size);
	assert_int_equal(image_adopt(bytes, size, &image), 0);
	r = debug_file_open(folder->files, image, path, &file);
	if (r == 0)
		debug_file_close(&file);
	image_close(image);
	return r;
}

static void test_debug_file__by_build_id(void **state)
{
	const struct folder *folder = *state;

	assert_int_equal(look_up(folder, ID, NULL, 0, "/usr/bin/a"), -ENOENT);
	put(folder, ID_PATH, ID);
	assert_int_equal(look_up(folder, ID, NULL, 0, "/usr/bin/a"), 0);
	assert_int_equal(look_up(folder, NULL, NULL, 0, "/usr/bin/a"), -ENOENT);
}

static void test_debug_file__of_another_build_is_refused(void **state)
{
	const struct folder *folder = *state;
	char other[ID_BYTES + 1] = ID;

	other[19] ^= 1;
	put(folder, ID_PATH, other);
	assert_int_equal(look_up(folder, ID, NULL, 0, "/usr/bin/a"), -ESTALE);
}

static void test_debug_file__by_link_and_sum(void **state)
{
	const struct folder *folder = *state;
	uint32_t sum = put(folder, "usr/bin/a.debug", NULL);

	assert_int_equal(look_up(folder, NULL, "a.debug", sum, "/usr/bin/a"), 0);
	assert_int_equal(look_up(folder, ID, "a.debug", sum, "/usr/bin/a"), 0);
	assert_int_equal(look_up(folder, NULL, "a.debug", sum + 1, "/usr/bin/a"), -ESTALE);
	assert_int_equal(look_up(folder, NULL, "a.debug", sum, "/usr/lib/a"), -ENOENT);
	assert_int_equal(look_up(folder, NULL, "a.debug", sum, "[vdso]"), -ENOENT);
	assert_int_equal(look_up(folder, NULL, "", sum, "/usr/bin/a"), -EBADMSG);
	assert_int_equal(look_up(folder, NULL, "../bin/a.debug", sum, "/usr/bin/a"), -EBADMSG);
}

static int find(const struct folder *folder, const char *path)
{
	int fd = debug_folders_find(&folder->opened.folders, path);

	if (fd >= 0)
		close(fd);
	return fd < 0 ? fd : 0;
}

/* A request as a hostile worker may send it. */
static int ask_for(const struct folder *folder, const struct message_debug_file *request)
{
	struct message message;
	struct channel channel;
	int fds[2];

	assert_int_equal(channel_pair(fds), 0);
	debug_start(&folder->opened, fds[1]);
	channel_init(&channel, fds[0], PARTY_WORKER, PARTY_DEBUG);
	channel.phase = PHASE_RUN;
	assert_int_equal(channel_send(&channel, MESSAGE_DEBUG_FILE, request, sizeof(*request), -1),
			 0);
	assert_int_equal(channel_expect(&channel, MESSAGE_DEBUG_FILE_REPLY, 5000, &message), 0);
	message_release(&message);
	channel_release(&channel);
	return message.DEBUG_FILE_REPLY.error;
}

static void test_debug_file__nothing_else_is_opened(void **state)
{
	const struct folder *folder = *state;
	struct message_debug_file endless;
	int at = open(folder->path, O_PATH | O_DIRECTORY | O_CLOEXEC);

	put(folder, "in/a.debug", NULL);
	assert_int_equal(find(folder, "in/a.debug"), 0);
	assert_int_equal(find(folder, "in/../in/a.debug"), 0);
	assert_int_equal(find(folder, "in/a"), -EINVAL);
	assert_int_equal(find(folder, ".debug"), -EINVAL);
	assert_int_equal(find(folder, ""), -EINVAL);
	assert_int_equal(find(folder, "../../tmp/a.debug"), -EXDEV);
	assert_int_equal(find(folder, "/etc/a.debug"), -EXDEV);
	memset(&endless, 'a', sizeof(endless));
	assert_int_equal(ask_for(folder, &endless), -EINVAL);
	/* links to the inside are followed, links to the outside are not */
	assert_int_equal(symlinkat("a.debug", at, "in/b.debug"), 0);
	assert_int_equal(find(folder, "in/b.debug"), 0);
	assert_int_equal(symlinkat("/etc/passwd", at, "in/out.debug"), 0);
	assert_int_equal(find(folder, "in/out.debug"), -EXDEV);
	assert_int_equal(mkfifoat(at, "fifo.debug", 0644), 0);
	assert_int_equal(find(folder, "fifo.debug"), -EACCES);
	assert_int_equal(mkdirat(at, "folder.debug", 0755), 0);
	assert_int_equal(find(folder, "folder.debug"), -EACCES);
	close(at);
}

static int close_found(int fd)
{
	if (fd >= 0)
		close(fd);
	return fd < 0 ? fd : 0;
}

/* The name of the file comes from an object, as does the name of dwz's file. */
static void test_debug_file__by_a_path_or_an_id_of_any_length(void **state)
{
	const struct folder *folder = *state;
	const struct debug_folders *folders = &folder->opened.folders;
	const unsigned char *id = (const unsigned char *)ID;
	static unsigned char longest[256];
	char endless[600];

	put(folder, ID_PATH, ID);
	put(folder, ".dwz/a.debug", NULL);
	assert_int_equal(close_found(debug_folders_find_id(folders, id, ID_BYTES)), 0);
	assert_int_equal(debug_folders_find_id(folders, id, ID_BYTES - 1), -ENOENT);
	assert_int_equal(debug_folders_find_id(folders, id, 1), -EINVAL);
	assert_int_equal(debug_folders_find_id(folders, longest, sizeof(longest)), -EINVAL);
	assert_int_equal(debug_folders_find_id(folders, longest, SIZE_MAX / 2), -EINVAL);
	assert_int_equal(close_found(debug_folders_find(folders, ".dwz/a.debug")), 0);
	assert_int_equal(debug_folders_find(folders, ".dwz/../../b.debug"), -EXDEV);
	assert_int_equal(debug_folders_find(folders, ".dwz/a"), -EINVAL);
	memset(endless, 'a', sizeof(endless));
	memcpy(endless + sizeof(endless) - sizeof(DEBUG_SUFFIX), DEBUG_SUFFIX,
	       sizeof(DEBUG_SUFFIX));
	assert_int_equal(debug_folders_find(folders, endless), -ENAMETOOLONG);
}

static void test_debug_file__nobody_answers(void **state)
{
	struct debug_peer *files;
	int fds[2];

	(void)state;
	assert_int_equal(channel_pair(fds), 0);
	files = debug_peer_new(fds[0], &no_files);
	/* nobody reads: one request is sent, and no second one */
	assert_int_equal(debug_peer_open(files, "a.debug"), -EPIPE);
	close(fds[1]);
	assert_int_equal(debug_peer_open(files, "a.debug"), -EPIPE);
	debug_peer_free(files);
}

static void say(struct channel *peer, const struct message *request, int32_t error)
{
	const struct message_reply reply = {error};

	assert_int_equal(channel_reply(peer, request, &reply, sizeof(reply), -1), 0);
}

/* A folder is slow once, during a stream. */
static void test_debug_file__late_answers_are_skipped(void **state)
{
	struct debug_peer *files;
	struct channel peer;
	struct message request;
	int fds[2];

	(void)state;
	assert_int_equal(channel_pair(fds), 0);
	files = debug_peer_new(fds[0], &no_files);
	channel_init(&peer, fds[1], PARTY_DEBUG, PARTY_WORKER);
	peer.phase = PHASE_RUN;
	debug_peer_allow(files, 10);
	assert_int_equal(debug_peer_open(files, "a.debug"), -EPIPE);
	assert_int_equal(debug_peer_open(files, "b.debug"), -EPIPE);
	assert_int_equal(debug_peer_unasked(files), 1);
	/* the next window: the answer is still missing, and no request follows */
	debug_peer_allow(files, 10);
	assert_int_equal(debug_peer_open(files, "c.debug"), -EPIPE);
	assert_int_equal(channel_receive(&peer, &request), 1);
	assert_string_equal(request.DEBUG_FILE.path, "a.debug");
	assert_int_equal(channel_receive(&peer, &request), 0);
	/* the late answer comes, then the answer to the next request */
	debug_peer_allow(files, 1000);
	say(&peer, &request, -ENOENT);
	request.head.sequence++;
	say(&peer, &request, -EACCES);
	assert_int_equal(debug_peer_open(files, "d.debug"), -EACCES);
	assert_int_equal(debug_peer_unasked(files), 1);
	channel_release(&peer);
	assert_int_equal(debug_peer_open(files, "e.debug"), -EPIPE);
	debug_peer_free(files);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_debug_file__by_build_id, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_debug_file__of_another_build_is_refused,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_debug_file__by_link_and_sum, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_debug_file__nothing_else_is_opened, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_debug_file__by_a_path_or_an_id_of_any_length,
						set_up, tear_down),
		cmocka_unit_test(test_debug_file__nobody_answers),
		cmocka_unit_test(test_debug_file__late_answers_are_skipped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
