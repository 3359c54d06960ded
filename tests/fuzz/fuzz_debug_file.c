/* SPDX-License-Identifier: Apache-2.0 */
/* The input is the section that links to a debug file, and also a whole file. Nobody answers. */
#include <stdint.h>
#include <unistd.h>

#include "ipc/channel.h"
#include "tests/unit/build_elf.h"
#include "worker/naming/debug_file.h"
#include "object/elf/image.h"
#include "worker/naming/debug_peer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void look_up(struct debug_peer *files, struct image *image)
{
	struct debug_file file;

	if (debug_file_open(files, image, "/usr/bin/program", &file) == 0)
		debug_file_close(&file);
	image_close(image);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct debug_peer_files no_files = {-1, -1}; /* of lines: nobody asks */
	static struct debug_peer *files;
	struct build_elf elf;
	struct image *image;
	unsigned char *bytes;
	size_t built;
	int fds[2];

	if (!files && channel_pair(fds) == 0) {
		files = debug_peer_new(fds[0], &no_files);
		close(fds[1]);
	}
	build_elf_init(&elf);
	build_elf_section(&elf, ".gnu_debuglink", SHT_PROGBITS, 0, data, size);
	bytes = build_elf_finish(&elf, &built);
	if (image_adopt(bytes, built, &image) == 0)
		look_up(files, image);
	if (image_open_memory(data, size, &image) == 0)
		look_up(files, image);
	return 0;
}
