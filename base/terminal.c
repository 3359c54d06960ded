/* SPDX-License-Identifier: Apache-2.0 */
#include "base/terminal.h"

#include <stdlib.h>
#include <sys/ioctl.h>

#include "base/decimal.h"

unsigned int terminal_width(int fd, unsigned int least, unsigned int most)
{
	const char *said = getenv("COLUMNS");
	struct winsize size = {0};
	uint32_t width = TERMINAL_WIDTH;

	if (!said || !decimal_read32(said, 1, UINT32_MAX, &width))
		if (ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
			width = size.ws_col;
	if (width < least)
		return least;
	if (width > most)
		return most;
	return width;
}
