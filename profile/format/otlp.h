/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Within the formats "otlp" and "otlp-json": one walk over the profile (otlp.c), one dictionary
 * (otlp_tables.c) and two encodings of them (otlp_binary.c, otlp_json.c).
 */
#ifndef KEYHOLE_PROFILE_FORMAT_OTLP_H
#define KEYHOLE_PROFILE_FORMAT_OTLP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/otlp.pb-c.h"
#include "profile/format/json.h"
#include "profile/format/output.h"
#include "profile/format/threads.h"

struct intern;
struct profile;
struct profile_times;

/* The tables of the dictionary, each with a row in otlp_tables.c. */
enum otlp_table {
	OTLP_MAPPINGS,
	OTLP_LOCATIONS,
	OTLP_FUNCTIONS,
	OTLP_LINKS,
	OTLP_STRINGS,
	OTLP_ATTRIBUTES,
	OTLP_STACKS,
	OTLP_TABLES
};

struct otlp;

/* A field, by its number and by its name in JSON. */
struct otlp_field {
	unsigned int number;
	const char *name;
};

/*
 * How messages become bytes. begin(), end(), array() and close() may be NULL: the encoding writes
 * nothing there.
 */
struct otlp_encoding {
	bool measures; /* open() wants the length */
	/* The message around all others. */
	void (*begin)(struct otlp *otlp);
	void (*end)(struct otlp *otlp);
	/*
	 * Opens a message of `length` bytes, as a field of the open message; otlp_close() ends it.
	 * False means that neither the message's content nor otlp_close() has to follow.
	 */
	bool (*open)(struct otlp *otlp, struct otlp_field field, uint64_t length);
	/* Opens a repeated field, whose elements follow until otlp_close(). */
	void (*array)(struct otlp *otlp, struct otlp_field field);
	void (*close)(struct otlp *otlp); /* the message or array that is open */
	/* Writes the fields of a message without opening the message: into the open one. */
	void (*fields)(struct otlp *otlp, const ProtobufCMessage *message);
	/* Writes a field of the open message: a string. */
	void (*string)(struct otlp *otlp, struct otlp_field field, const char *string);
	/* Writes a field: a whole message. */
	void (*message)(struct otlp *otlp, struct otlp_field field,
			const ProtobufCMessage *message);
	/* Writes a field: a whole message that otlp_pack() has serialized. */
	void (*packed)(struct otlp *otlp, struct otlp_field field,
		       const ProtobufCMessageDescriptor *descriptor, const void *bytes,
		       size_t size);
};

/* Call array() and close() of the encoding, where they are not NULL. */
void otlp_array(struct otlp *otlp, struct otlp_field field);
void otlp_close(struct otlp *otlp);

struct otlp {
	const struct profile *profile;
	const struct profile_times *times;
	const struct otlp_encoding *encoding;
	struct output output;
	struct json json; /* of the encoding "otlp-json" alone */
	struct format_threads threads;
	bool measuring;	   /* the encoding "otlp" counts bytes, and writes none */
	uint64_t measured; /* bytes */
	/* Elements are serialized messages, equal ones are one; element 0 is empty, as it must. */
	struct intern *tables[OTLP_TABLES];
	int32_t *stacks; /* by id of the profile: the index of the stack */
	uint8_t *packed;
	size_t capacity;
};

int otlp_render(const struct profile *profile, const struct profile_times *times,
		const struct otlp_encoding *encoding, int fd);

/* Returns 0 or -ENOMEM. */
int otlp_tables_init(struct otlp *otlp);
void otlp_tables_release(struct otlp *otlp); /* also after a failure, and of zeros */
void otlp_tables_put(struct otlp *otlp);     /* the fields of the dictionary */

/*
 * Return an index of a table, or 0 without memory, and the output fails then. Strings become clean
 * names.
 */
int32_t otlp_string(struct otlp *otlp, const char *string);
int32_t otlp_attribute_string(struct otlp *otlp, const char *key, const char *string);
int32_t otlp_attribute_number(struct otlp *otlp, const char *key, uint64_t number);

/*
 * Serializes a message into otlp->packed, where the bytes are valid until the next call. Returns
 * NULL without memory, and the output fails.
 */
const uint8_t *otlp_pack(struct otlp *otlp, const ProtobufCMessage *message, size_t *ret_size);

#endif
