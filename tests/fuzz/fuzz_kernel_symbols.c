/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/ksyms_file.h"
#include "worker/kernel/kernel_symbols.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	struct kernel_symbols *symbols;
	uint32_t start;

	if (fd < 0)
		return 0;
	if (write(fd, data, size) == (ssize_t)size && kernel_symbols_new(fd, &symbols) == 0) {
		for (uint32_t range = 0; range <= KSYMS_RANGES_MAX; range++) {
			const char *name = kernel_symbols_range(symbols, range);
			const char *found = kernel_symbols_find(symbols, range, ~0u, &start);

			if ((name && strlen(name) < 2) || (found && strlen(found) > size))
				__builtin_trap();
		}
		kernel_symbols_free(symbols);
	}
	close(fd);
	return 0;
}
