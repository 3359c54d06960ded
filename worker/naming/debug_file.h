/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the file with an object's symbols below the folders of debug files. The path is made of the
 * build id (.build-id/xx/rest.debug). Otherwise the path has the object's folder and the name from
 * .gnu_debuglink, which also has a sum ("Separate Debug Files" in gdb's manual).
 */
#ifndef KEYHOLE_WORKER_NAMING_DEBUG_FILE_H
#define KEYHOLE_WORKER_NAMING_DEBUG_FILE_H

struct debug_peer;
struct image;

struct debug_file {
	struct image *image;
	int fd;
};

/* Size limit of a file that is found by its link: the sum is over the whole file. */
#ifndef DEBUG_LINK_BYTES_MAX
#define DEBUG_LINK_BYTES_MAX (128ll << 20)
#endif

/*
 * Opens the file whose build id, or whose sum, is the one that the object has. `path` is the path
 * of the object. Returns 0 or a negative errno. -ENOENT and others: there is no file. -ESTALE: the
 * file belongs to another object.
 */
int debug_file_open(struct debug_peer *files, struct image *object, const char *path,
		    struct debug_file *ret_file);
void debug_file_close(struct debug_file *file);

#endif
