/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The answer of a server, over HTTP/1.1 and HTTP/2 alike. The bytes are hostile: each part has a
 * bound.
 */
#ifndef KEYHOLE_EXPORTER_HTTP_ANSWER_H
#define KEYHOLE_EXPORTER_HTTP_ANSWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "exporter/http/codec.h"
#include "exporter/http/receiver.h"
#include "exporter/otlp/replies.h"
#include "exporter/otlp/buffer.h"

#define ANSWER_BYTES_MAX   (4u << 20) /* of a body, packed and unpacked */
#define ANSWER_DETAILS_MAX 4096u
#define ANSWER_DATE_BYTES  40u

struct answer {
	int error;	/* 0, or a negative errno: the answer is not whole */
	int status;	/* of HTTP; 0: none came */
	bool was_reset; /* HTTP/2 ended the stream, with reset_code */
	uint32_t reset_code;
	int grpc_status; /* -1: none came */
	char grpc_message[REPLY_TEXT_BYTES];
	uint8_t details[ANSWER_DETAILS_MAX]; /* grpc-status-details-bin, decoded */
	size_t details_size;
	char retry_after[ANSWER_DATE_BYTES], date[ANSWER_DATE_BYTES]; /* "": none came */
	bool is_protobuf, is_page; /* content-type; a page is HTML */
	enum codec codec;	   /* of the body, or of gRPC's message */
	struct buffer body;
};

/* Prepares for an answer. The body's memory stays for the next one. */
void answer_begin(struct answer *answer);
void answer_release(struct answer *answer);
/* Takes a header or a trailer, its name in any case. Unknown ones are left out. */
void answer_header(struct answer *answer, const char *name, size_t name_size, const char *value,
		   size_t value_size);
/* Takes bytes of the body. Returns 0, -EFBIG beyond ANSWER_BYTES_MAX, or -ENOMEM. */
int answer_body(struct answer *answer, const void *bytes, size_t size);

/*
 * Unpacks the message in the body, at most ANSWER_BYTES_MAX of it, into the buffer. An empty body
 * is an empty message. Returns 0, or -EBADMSG, -EFBIG, -ENOTSUP (an unknown codec) or -ENOMEM.
 */
int answer_unpack(const struct answer *answer, enum endpoint_protocol protocol,
		  struct buffer *buffer);

#endif
