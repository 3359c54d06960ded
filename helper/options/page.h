/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the address at which an agent shows numbers of itself. */
#ifndef KEYHOLE_HELPER_OPTIONS_PAGE_H
#define KEYHOLE_HELPER_OPTIONS_PAGE_H

#include "ipc/destination.h"

/*
 * Reads HOST:PORT, whose host is a loopback address or localhost, or unix:/path. Returns NULL, or
 * why the text is refused.
 */
const char *page_read_address(const char *text, struct listener *ret_listener);

#endif
