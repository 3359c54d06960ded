/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Objects of V8, as a config of RUNTIME_FRAMES describes them: types, and the characters of texts.
 * Pure C. The includer supplies the environment that bpf/walk/hotspot.bpf.h names.
 */
#ifndef KEYHOLE_BPF_WALK_V8_OBJECT_BPF_H
#define KEYHOLE_BPF_WALK_V8_OBJECT_BPF_H

#include "bpf/walk/list.bpf.h"
#include "bpf/walk/v8_frame.bpf.h"
#include "bpf/walk/walk.bpf.h"

#define V8_NO_TYPE 0xffffffffu

/* Returns the word at an offset in an object, or 0. */
INLINE u64 v8_word(struct walk *walk, u64 object, u32 at)
{
	if (!(object & V8_TAG) || runtime_read_word(object - V8_TAG + at))
		return 0;
	return walk->list.word;
}

INLINE u32 v8_u32(struct walk *walk, u64 object, u32 at)
{
	return v8_word(walk, object, at & ~7u) >> (at & 4) * 8;
}

/* Returns the type that a map says, or V8_NO_TYPE. */
INLINE u32 v8_type_of_map(struct walk *walk, u64 map)
{
	if (!(map & V8_TAG))
		return V8_NO_TYPE;
	u32 at = walk->list.config.v8.map_type;

	if (runtime_read_word(map - V8_TAG + (at & ~7u)))
		return V8_NO_TYPE;
	return walk->list.word >> (at & 6) * 8 & 0xffff;
}

INLINE u32 v8_type(struct walk *walk, u64 object)
{
	return v8_type_of_map(walk, v8_word(walk, object, 0));
}

/* Returns whether an object has the type of a kind. */
GLOBAL int v8_is(u64 object, u32 kind)
{
	struct walk *walk = walk_state();

	if (!walk)
		return 0;
	const struct runtime_v8 *config = &walk->list.config.v8;
	u64 map = v8_word(walk, object, 0), *known = walk->v8.map;
	u32 type = config->type_shared;

	if (kind == V8_KIND_SCRIPT)
		type = config->type_script;
	if (kind == V8_KIND_BYTECODE)
		type = config->type_bytecode;
	if (kind >= V8_KINDS || !map)
		return 0;
	if (known[kind] == map)
		return 1;
	if (v8_type_of_map(walk, map) != type)
		return 0;
	known[kind] = map;
	return 1;
}

/* Types of texts: objects/instance-type.h */
#define V8_TEXT_FORM	 7u
#define V8_TEXT_ONE_BYTE 8u
#define V8_TEXT_UNCACHED 16u
enum v8_form {
	V8_TEXT_PLAIN = 0,
	V8_TEXT_JOINED = 1, /* of two; where the second is empty, the first is the text */
	V8_TEXT_OUTSIDE = 2,
	V8_TEXT_SLICE = 3,
	V8_TEXT_THIN = 5
};

/* Follows a text to that which has its characters: v8->text. Returns the next text, or 0. */
INLINE u64 v8_follow(struct walk *walk, u64 text)
{
	const struct runtime_v8 *config = &walk->list.config.v8;
	struct v8_text *found = &walk->v8.text;
	u32 type = v8_type(walk, text), form = type & V8_TEXT_FORM;

	if (type >= config->type_text_end)
		return 0;
	found->is_wide = !(type & V8_TEXT_ONE_BYTE);
	if (form == V8_TEXT_PLAIN) {
		found->data += text - V8_TAG + config->text_data;
		return 0;
	}
	if (form == V8_TEXT_OUTSIDE) {
		u64 data = 0;

		if (!(type & V8_TEXT_UNCACHED))
			data = v8_word(walk, text, config->text_resource);
		found->data = data ? found->data + data : 0;
		return 0;
	}
	if (form == V8_TEXT_SLICE)
		found->data += v8_word(walk, text, config->text_offset) >> 32;
	if (form == V8_TEXT_JOINED) {
		u64 second = v8_word(walk, text, config->text_first + 8);

		if (v8_u32(walk, second, config->text_length))
			return 0;
	} else if (form != V8_TEXT_SLICE && form != V8_TEXT_THIN) {
		return 0;
	}
	return v8_word(walk, text, config->text_first);
}

/* Finds the characters of a text: v8->text. Returns their number, or 0 where they are not found. */
GLOBAL u32 v8_find_text(u64 text)
{
	struct walk *walk = walk_state();

	if (!walk)
		return 0;
	const struct runtime_v8 *config = &walk->list.config.v8;
	struct v8_text *found = &walk->v8.text;
	u32 type = v8_type(walk, text);

	found->length = 0;
	if (type >= config->type_text_end)
		return 0;
	u32 length = v8_u32(walk, text, config->text_length), there = 0;
	u64 skipped = 0;

	NOT_UNROLLED
	for (u32 i = 0; i < V8_LINKS && text; i++) {
		found->data = 0;
		there = v8_u32(walk, text, config->text_length);
		text = v8_follow(walk, text);
		/* slices lead to their parent */
		if (text)
			skipped += found->data;
	}
	/* a part that cannot be read has no length, and must not lengthen the part before */
	if (text || found->data < 4096 || skipped + length > there)
		return 0;
	found->data += found->is_wide ? skipped * 2 : skipped;
	found->length = length;
	return length;
}

#endif
