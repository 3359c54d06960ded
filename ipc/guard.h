/* SPDX-License-Identifier: Apache-2.0 */
/* Scope guards: what a function owns goes when it returns; take_*() moves ownership out, last. */
#ifndef KEYHOLE_IPC_GUARD_H
#define KEYHOLE_IPC_GUARD_H

#include <stdlib.h>
#include <unistd.h>

static inline void guard_free_(void *pointer)
{
	free(*(void **)pointer);
}
#define guard_free __attribute__((cleanup(guard_free_)))

static inline void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}
#define guard_fd __attribute__((cleanup(close_fd)))

static inline int take_fd(int *fd)
{
	int taken = *fd;

	*fd = -1;
	return taken;
}

#define take_pointer(pointer)                           \
	({                                              \
		__typeof__(pointer) taken_ = (pointer); \
		(pointer) = NULL;                       \
		taken_;                                 \
	})

#endif
