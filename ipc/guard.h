/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scope guards: a variable with a guard is released when its function returns. take_*() moves the
 * ownership out of the variable, as the last step.
 */
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
