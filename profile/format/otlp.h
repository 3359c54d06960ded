/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Serves the formats "otlp" and "otlp-json" alone. otlp_samples.c makes samples of the profile's,
 * and otlp_tables.c the dictionary. otlp.c and otlp_resource.c write the messages around the
 * samples. otlp_binary.c and otlp_json.c are two encodings of all.
 *
 * Text is raw until a message or the dictionary gets the text, and clean from then on (names.h).
 * Errors go to otlp->output, which keeps the first error; the walk goes on and writes nothing.
 */
#ifndef KEYHOLE_PROFILE_FORMAT_OTLP_H
#define KEYHOLE_PROFILE_FORMAT_OTLP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/otlp.pb-c.h"
#include "profile/format/json.h"
#include "profile/format/otlp_samples.h"
#include "profile/format/output.h"

struct format_options;
struct intern;
struct profile;
struct profile_times;

/* The tables of the dictionary come in the order of the fields of ProfilesDictionary. */
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

/*
 * Turns messages into bytes. No function is NULL: a function does nothing where the encoding has
 * nothing to write. Strings and messages are borrowed for the call, and their text is clean.
 */
struct otlp_encoding {
	bool measures; /* open() wants the length; false: any number will do */
	/* Begin and end the message around all others. */
	void (*begin)(struct otlp *otlp);
	void (*end)(struct otlp *otlp);
	/*
	 * Opens a message of `length` bytes, as a field of the open message; close() ends it.
	 * False means that neither the message's content nor close() has to follow.
	 */
	bool (*open)(struct otlp *otlp, const ProtobufCFieldDescriptor *field, uint64_t length);
	/* Opens a repeated field, whose elements follow until close(). */
	void (*array)(struct otlp *otlp, const ProtobufCFieldDescriptor *field);
	/* Ends the message or array that was opened last. */
	void (*close)(struct otlp *otlp);
	/* Writes the fields of a message into the open message. */
	void (*fields)(struct otlp *otlp, const ProtobufCMessage *message);
	/*
	 * Writes an element of the open array: a message that otlp_pack() has serialized, or a
	 * clean string, by the field's type. `size` leaves out the string's NUL.
	 */
	void (*element)(struct otlp *otlp, const ProtobufCFieldDescriptor *field, const void *bytes,
			size_t size);
};

/* Writes a field of the open message: a whole message, by open(), fields() and close(). */
void otlp_message(struct otlp *otlp, const ProtobufCFieldDescriptor *field,
		  const ProtobufCMessage *message);

struct otlp {
	const struct profile *profile;	      /* borrowed */
	const struct profile_times *times;    /* borrowed */
	bool compat;			      /* format_options.otlp_compat */
	const struct otlp_encoding *encoding; /* borrowed */
	struct output output;
	struct json json; /* of the encoding "otlp-json" alone */
	struct otlp_samples samples;
	bool measuring;	   /* the encoding "otlp" counts bytes, and writes none */
	uint64_t measured; /* bytes */
	/*
	 * Elements of OTLP_STRINGS are clean strings, and those of other tables are serialized
	 * messages. Equal elements are one. Element 0 is empty, as the format demands.
	 */
	struct intern *tables[OTLP_TABLES];
	/* By id of the profile: the index in the table, 0 until something refers to the element. */
	int32_t *mappings, *locations, *stacks;
	uint8_t *packed; /* of otlp_pack() */
	size_t capacity; /* of packed, in bytes */
};

/*
 * Writes the profile to fd in an encoding. The encodings' files make format.render() of this call,
 * each with a static const struct otlp_encoding. All arguments are borrowed. Returns 0 or a
 * negative errno, as format.render() does.
 */
int otlp_render(const struct profile *profile, const struct profile_times *times,
		const struct format_options *options, const struct otlp_encoding *encoding, int fd);

/* Writes the resource of a process into the open message. */
#define OTLP_OWN_MAX   32u  /* attributes of struct profile_own that are taken */
#define OTLP_TOLD_MAX  64u  /* of what a process says of itself */
#define OTLP_OWN_BYTES 256u /* of a key or a value, with the NUL */
void otlp_resource_put(struct otlp *otlp, const struct otlp_process *process);

/* Makes empty tables. Returns 0 or -ENOMEM. The caller releases the tables either way. */
int otlp_tables_init(struct otlp *otlp);
void otlp_tables_release(struct otlp *otlp); /* also of zeros */
/* Writes the fields of the dictionary, into the open message. */
void otlp_tables_put(struct otlp *otlp);

/*
 * Add a string or an attribute, unless the table has an equal element. Return the element's index
 * in the table. Without memory, the functions return 0 and fail the output. Keys are constants of
 * ours.
 */
int32_t otlp_string(struct otlp *otlp, const char *raw);
int32_t otlp_attribute_string(struct otlp *otlp, const char *key, const char *raw);
int32_t otlp_attribute_number(struct otlp *otlp, const char *key, uint64_t number);

/* Adds a stack of the profile and all that it refers to. As above. */
int32_t otlp_stack(struct otlp *otlp, uint32_t id);
/* Adds a link of the profile. As above; 0 is no link. */
int32_t otlp_link(struct otlp *otlp, uint32_t id);

/*
 * Serializes a message into otlp->packed, where the bytes are valid until the next call. Without
 * memory, the function returns NULL and fails the output.
 */
const uint8_t *otlp_pack(struct otlp *otlp, const ProtobufCMessage *message, size_t *ret_size);

#endif
