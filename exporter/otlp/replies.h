/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages that a server sends: ExportProfilesServiceResponse, google.rpc.Status and
 * google.rpc.RetryInfo, by their published field numbers. The bytes are hostile.
 */
#ifndef KEYHOLE_EXPORTER_OTLP_REPLIES_H
#define KEYHOLE_EXPORTER_OTLP_REPLIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define REPLY_TEXT_BYTES 160u /* of a server's text that is kept, with the NUL */

/* Keeps the begin of a server's text in printable ASCII. Any other byte becomes '?'. */
void reply_text(char ret_text[REPLY_TEXT_BYTES], const void *text, size_t size);

struct reply_partial {
	bool present;	   /* the server said that it took a part, or warns */
	uint64_t rejected; /* profiles */
	char text[REPLY_TEXT_BYTES];
};

/* Reads an ExportProfilesServiceResponse. Returns 0 or -EBADMSG. */
int reply_read_response(const void *bytes, size_t size, struct reply_partial *ret_partial);

struct reply_status {
	uint32_t code;
	char text[REPLY_TEXT_BYTES];
	bool has_retry;
	uint64_t retry_ns; /* UINT64_MAX at most */
};

/* Reads a Status, and the first RetryInfo in it. Returns 0 or -EBADMSG. */
int reply_read_status(const void *bytes, size_t size, struct reply_status *ret_status);

/*
 * Decodes base64 as headers have it: with or without padding (gRPC over HTTP/2, "-bin"). Returns
 * how many bytes were written, or -EBADMSG, or -EFBIG for more than `room`.
 */
int64_t reply_decode_base64(const char *text, size_t size, uint8_t *bytes, size_t room);

#endif
