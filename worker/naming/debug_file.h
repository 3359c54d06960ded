/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the file with an object's symbols: by build id (.build-id/xx/rest.debug), or by the name
 * and sum of .gnu_debuglink in the object's folder there. "Separate Debug Files" in gdb's manual
 * describes both.
 */
#ifndef KEYHOLE_WORKER_NAMING_DEBUG_FILE_H
#define KEYHOLE_WORKER_NAMING_DEBUG_FILE_H

struct debug_peer;
struct image;

struct debug_file {
	struct image *image;
	int fd;
};

/* Bytes of a file by link, all of which must be read for the sum. */
#ifndef DEBUG_LINK_BYTES_MAX
#define DEBUG_LINK_BYTES_MAX (128ll << 20)
#endif

/*
 * One whose build id, or whose sum, is what the object says. 0; -ENOENT and others: there is none;
 * -ESTALE: it is another object's. path: the object's.
 */
int debug_file_open(struct debug_peer *files, struct image *object, const char *path,
		    struct debug_file *ret_file);
void debug_file_close(struct debug_file *file);

#endif
