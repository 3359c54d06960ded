/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/runtime/functions.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/chain.h"
#include "base/hash.h"
#include "base/map.h"
#include "base/reader.h"
#include "worker/runtime/function_text.h"
#include "worker/runtime/runtime.h"
#include "worker/runtime/told.h"

struct family {
	uint64_t number;
	size_t count, bytes;
	uint64_t unverified; /* frames, as in struct functions_counts */
};

/* Packed names of an entry's code: TOLD_PACKED_KINDS of them in each entry. */
struct packed {
	struct chain chain;  /* of those with the same hash */
	struct entry *entry; /* NULL: it is in no chain */
};

struct entry {
	struct chain chain; /* of those with the same hash of the key */
	struct function_key key;
	struct family *family;
	uint64_t number;
	uint64_t used;		    /* time */
	struct function_text *text; /* NULL: no event has told of it */
	struct packed packed[TOLD_PACKED_KINDS];
	bool is_old;	    /* another function has the key now */
	bool is_untold;	    /* a sample was first, and no event has come since */
	bool is_unverified; /* what an event told is no code of the interpreter */
	uint64_t frames;    /* that functions_place() has met */
};

struct functions {
	struct hash_key hash_key;
	struct map *keys;     /* by hash: chains of entries that are not old */
	struct map *numbers;  /* by number: entries */
	struct map *families; /* by number */
	struct map *packed;   /* by hash of family and address: chains of packed names */
	uint64_t last;	      /* number given */
	size_t bytes;
	struct functions_counts counts;
};

struct functions *functions_new(void)
{
	struct functions *functions = calloc(1, sizeof(*functions));

	if (!functions)
		return NULL;
	functions->keys = map_new();
	functions->numbers = map_new();
	functions->families = map_new();
	functions->packed = map_new();
	if (functions->keys && functions->numbers && functions->families && functions->packed &&
	    hash_key_random(&functions->hash_key) == 0)
		return functions;
	functions_free(functions);
	return NULL;
}

static void free_values(struct map *map)
{
	uint64_t key;
	void *value;
	size_t cursor = 0;

	while (map && map_next(map, &cursor, &key, &value))
		free(value);
	map_free(map);
}

void functions_free(struct functions *functions)
{
	uint64_t key;
	void *value;
	size_t cursor = 0;

	if (!functions)
		return;
	while (functions->numbers && map_next(functions->numbers, &cursor, &key, &value))
		free(((struct entry *)value)->text);
	free_values(functions->numbers);
	free_values(functions->families);
	map_free(functions->keys);
	map_free(functions->packed);
	free(functions);
}

/* ---- families ---- */

/* Returns the family, which is new if need be, or NULL without memory. */
static struct family *find_family(struct functions *functions, uint64_t number)
{
	struct family *family = map_get(functions->families, number);

	if (family)
		return family;
	family = calloc(1, sizeof(*family));
	if (!family)
		return NULL;
	family->number = number;
	if (map_put(functions->families, number, family) == 0)
		return family;
	free(family);
	return NULL;
}

static void drop_empty(struct functions *functions, struct family *family)
{
	if (family->count > 0)
		return;
	map_remove(functions->families, family->number);
	free(family);
}

static bool has_room(const struct functions *functions, const struct family *family)
{
	return family->count < FUNCTIONS_FAMILY_MAX &&
	       map_count(functions->numbers) < FUNCTIONS_MAX;
}

static bool has_bytes(const struct functions *functions, const struct family *family, size_t bytes)
{
	return family->bytes + bytes <= FUNCTIONS_FAMILY_BYTES &&
	       functions->bytes + bytes <= FUNCTIONS_BYTES;
}

/* ---- entries ---- */

static uint64_t hash_of(const struct functions *functions, const struct function_key *key)
{
	_Static_assert(sizeof(*key) == 24, "a key has no padding");
	return hash_bytes(&functions->hash_key, key, sizeof(*key));
}

static struct entry *find(const struct functions *functions, const struct function_key *key)
{
	struct entry *entry = map_get(functions->keys, hash_of(functions, key));

	while (entry && memcmp(&entry->key, key, sizeof(*key)) != 0)
		entry = (struct entry *)entry->chain.next;
	return entry;
}

/* Enters an entry in both maps. Returns false without memory. */
static bool enter(struct functions *functions, struct entry *entry)
{
	const uint64_t hash = hash_of(functions, &entry->key);

	if (chain_add(functions->keys, hash, &entry->chain) < 0)
		return false;
	if (map_put(functions->numbers, entry->number, entry) == 0)
		return true;
	chain_remove(functions->keys, hash, &entry->chain);
	return false;
}

static struct entry *make(struct functions *functions, struct family *family,
			  const struct function_key *key)
{
	struct entry *entry;

	if (!has_room(functions, family))
		return NULL;
	entry = calloc(1, sizeof(*entry));
	if (!entry)
		return NULL;
	entry->key = *key;
	entry->family = family;
	entry->number = ++functions->last;
	if (enter(functions, entry)) {
		family->count++;
		return entry;
	}
	free(entry);
	return NULL;
}

/* Returns a new entry, or NULL: there is no room, or no memory. */
static struct entry *add(struct functions *functions, const struct function_key *key)
{
	struct family *family = find_family(functions, key->family);
	struct entry *entry = NULL;

	if (family)
		entry = make(functions, family, key);
	if (family && !entry)
		drop_empty(functions, family);
	if (!entry)
		functions->counts.refused++;
	return entry;
}

/* Leaves the key to another function. */
static void retire(struct functions *functions, struct entry *entry)
{
	if (entry->is_old)
		return;
	chain_remove(functions->keys, hash_of(functions, &entry->key), &entry->chain);
	entry->is_old = true;
}

/* ---- what events tell ---- */

/* The chain of packed names at an address of a family. */
static uint64_t hash_of_packed(const struct functions *functions, uint64_t family, uint64_t address)
{
	const uint64_t key[] = {family, address};

	return hash_bytes(&functions->hash_key, key, sizeof(key));
}

static void forget_packed(struct functions *functions, struct entry *entry)
{
	for (size_t i = 0; i < TOLD_PACKED_KINDS && entry->text; i++) {
		const uint64_t address = entry->text->packed.address[i];

		if (entry->packed[i].entry)
			chain_remove(functions->packed,
				     hash_of_packed(functions, entry->key.family, address),
				     &entry->packed[i].chain);
		entry->packed[i].entry = NULL;
	}
}

static void keep_packed(struct functions *functions, struct entry *entry)
{
	for (size_t i = 0; i < TOLD_PACKED_KINDS; i++) {
		const uint64_t address = entry->text->packed.address[i];

		if (address != 0 && chain_add(functions->packed,
					      hash_of_packed(functions, entry->key.family, address),
					      &entry->packed[i].chain) == 0)
			entry->packed[i].entry = entry;
	}
}

static void remove_entry(struct functions *functions, struct entry *entry)
{
	struct family *family = entry->family;

	retire(functions, entry);
	forget_packed(functions, entry);
	map_remove(functions->numbers, entry->number);
	if (entry->text) {
		family->bytes -= entry->text->bytes;
		functions->bytes -= entry->text->bytes;
	}
	family->count--;
	drop_empty(functions, family);
	free(entry->text);
	free(entry);
}

/* Sets or replaces the text, which is freed if there is no room. NULL: no memory. */
static void set_text(struct functions *functions, struct entry *entry, struct function_text *text)
{
	struct family *family = entry->family;
	size_t old = 0;

	if (entry->text)
		old = entry->text->bytes;
	if (!text || !has_bytes(functions, family, text->bytes)) {
		functions->counts.refused++;
		free(text);
		return;
	}
	forget_packed(functions, entry);
	free(entry->text);
	entry->text = text;
	family->bytes += text->bytes - old;
	functions->bytes += text->bytes - old;
	keep_packed(functions, entry);
}

static void fill(struct functions *functions, struct entry *entry, const struct told *told)
{
	set_text(functions, entry, function_text_new(told));
	functions->counts.told += entry->text != NULL;
}

/* The function gets a caller's name if it has none, and lines that it lacks, if there is room. */
static void take_more(struct functions *functions, struct entry *entry, const struct told *told)
{
	functions->counts.again++;
	if ((!entry->text->has_callers_name && told->has_callers_name) ||
	    function_text_lacks_lines(entry->text, told))
		set_text(functions, entry, function_text_new(told));
}

static void end_untold(struct functions *functions, struct entry *entry)
{
	functions->counts.untold -= entry->is_untold;
	entry->is_untold = false;
}

static void count_unverified(struct functions *functions, struct entry *entry, uint64_t frames)
{
	functions->counts.unverified += frames;
	entry->family->unverified += frames;
}

static void end_unverified(struct functions *functions, struct entry *entry)
{
	if (entry->is_unverified)
		count_unverified(functions, entry, -entry->frames);
	entry->is_unverified = false;
}

void functions_tell(struct functions *functions, const struct function_key *key,
		    const struct told *told, uint64_t time)
{
	struct entry *entry = find(functions, key);

	if (entry && entry->text && !function_text_is_same(entry->text, told)) {
		retire(functions, entry);
		entry = NULL;
	}
	if (!entry)
		entry = add(functions, key);
	if (!entry)
		return;
	entry->used = time;
	if (entry->text)
		take_more(functions, entry, told);
	else
		fill(functions, entry, told);
	if (entry->text) {
		end_untold(functions, entry);
		end_unverified(functions, entry);
	}
}

void functions_doubt(struct functions *functions, const struct function_key *key, uint64_t time)
{
	struct entry *entry = find(functions, key);

	if (entry && entry->text) {
		retire(functions, entry);
		entry = NULL;
	}
	if (!entry)
		entry = add(functions, key);
	if (!entry)
		return;
	entry->used = time;
	end_untold(functions, entry);
	if (entry->is_unverified)
		return;
	entry->is_unverified = true;
	count_unverified(functions, entry, entry->frames);
}

/* ---- what samples ask ---- */

static uint32_t find_line(const struct entry *entry, uint32_t instruction)
{
	const uint32_t line = entry->text->handler->find_line(&entry->text->lines, instruction);

	if (line >= FUNCTION_UNTOLD)
		return 0;
	return line;
}

/* The instruction of a frame that has not begun is one of the largest numbers. */
#define INSTRUCTION_MAX (FUNCTION_UNTOLD - 1)

/* Returns whether a text is about compiled code of a function. */
static bool is_of_function(const struct function_text *text)
{
	return text->lines.format == TOLD_LINES_COMPILED ||
	       text->lines.format == TOLD_LINES_OPTIMIZED;
}

/* Returns what a place has beside the number. */
static uint32_t line_or_instruction(const struct entry *entry, uint32_t instruction)
{
	if (entry->text && !is_of_function(entry->text))
		return find_line(entry, instruction);
	if (instruction > INSTRUCTION_MAX)
		instruction = INSTRUCTION_MAX;
	return FUNCTION_UNTOLD | instruction;
}

static struct entry *add_untold(struct functions *functions, const struct function_key *key)
{
	struct entry *entry = add(functions, key);

	if (!entry)
		return NULL;
	entry->is_untold = true;
	functions->counts.untold++;
	return entry;
}

uint64_t functions_place(struct functions *functions, const struct function_key *key,
			 uint32_t instruction, uint64_t time)
{
	struct entry *entry = find(functions, key);

	if (!entry)
		entry = add_untold(functions, key);
	if (!entry)
		return FUNCTION_PLACE(0, FUNCTION_UNTOLD);
	if (entry->used < time)
		entry->used = time;
	entry->frames++;
	if (entry->is_unverified)
		count_unverified(functions, entry, 1);
	return FUNCTION_PLACE(entry->number, line_or_instruction(entry, instruction));
}

bool functions_is_start(struct functions *functions, const struct function_key *key, uint64_t time)
{
	struct entry *entry = find(functions, key);

	if (!entry || !entry->text || !entry->text->is_start)
		return false;
	if (entry->used < time)
		entry->used = time;
	return true;
}

/* Returns the code that has the packed names which a text awaits, or NULL. */
static const struct function_text *find_packed(const struct functions *functions,
					       const struct entry *entry)
{
	const struct told_late *late = &entry->text->late;
	const struct packed *packed = map_get(
		functions->packed, hash_of_packed(functions, entry->key.family, late->address));

	for (; packed; packed = (const struct packed *)packed->chain.next) {
		const struct told_packed *of = &packed->entry->text->packed;

		if (packed->entry->key.family == entry->key.family &&
		    of->address[packed - packed->entry->packed] == late->address &&
		    told_mark(of->bytes + (late->address - of->first)) == late->mark)
			return packed->entry->text;
	}
	return NULL;
}

/* The event about the caller may have come behind that about the function. */
static void take_late_name(struct functions *functions, struct entry *entry)
{
	const struct told_late *late = &entry->text->late;
	const struct function_text *caller;
	char name[TOLD_NAME_BYTES];
	size_t at;

	if (late->address == 0)
		return;
	caller = find_packed(functions, entry);
	if (!caller)
		return;
	at = (size_t)(late->address - caller->packed.first);
	if (caller->handler->find_name(caller->packed.bytes + at, caller->packed.size - at,
				       late->named, name) == 0)
		set_text(functions, entry, function_text_rename(entry->text, name));
	else
		entry->text->late.address = 0;
}

/* ---- lines of scripts ---- */

/* Returns the newlines in a part of a script, or NULL: no event has told of them. */
static const unsigned char *find_newlines(const struct functions *functions, uint64_t family,
					  const struct told_script *script, uint32_t part)
{
	const struct function_key key = {family, script->address,
					 (uint32_t)(script->fingerprint + part)};
	const struct entry *entry = find(functions, &key);

	if (!entry || !entry->text || entry->text->lines.format != TOLD_LINES_NEWLINES ||
	    entry->text->lines.size != TOLD_SCRIPT_PART / CHAR_BIT)
		return NULL;
	return entry->text->lines.table;
}

/* Returns how many of the first characters of a part are newlines. */
static uint32_t count_newlines(const unsigned char *newlines, uint32_t characters)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < characters / CHAR_BIT; i++)
		count += (uint32_t)__builtin_popcount(newlines[i]);
	if (characters % CHAR_BIT)
		count += (uint32_t)__builtin_popcount(newlines[characters / CHAR_BIT] &
						      ((1u << characters % CHAR_BIT) - 1));
	return count;
}

/* Returns the line of what find_line() has found for a function of a script, or 0. */
static uint32_t line_in_script(const struct functions *functions, const struct entry *entry,
			       uint32_t place)
{
	uint32_t left = place - 1, newlines = 0, characters;

	if (place == 0)
		return 0;
	for (uint32_t part = 0; left > 0; part++, left -= characters) {
		const unsigned char *found =
			find_newlines(functions, entry->key.family, &entry->text->script, part);

		if (!found)
			return 0;
		characters = left;
		if (characters > TOLD_SCRIPT_PART)
			characters = TOLD_SCRIPT_PART;
		newlines += count_newlines(found, characters);
	}
	return newlines + 1 + entry->text->script.line;
}

uint32_t functions_line(const struct functions *functions, uint64_t place)
{
	const struct entry *entry = map_get(functions->numbers, FUNCTION_OF(place));
	uint32_t line = (uint32_t)place & (FUNCTION_UNTOLD | INSTRUCTION_MAX);
	uint32_t instruction = line & INSTRUCTION_MAX;

	if (!entry || !entry->text)
		return line & FUNCTION_UNTOLD ? 0 : line;
	if (instruction == INSTRUCTION_MAX)
		instruction = RUNTIME_OFFSET_NONE;
	if (line & FUNCTION_UNTOLD)
		line = find_line(entry, instruction);
	if (entry->text->script.address == 0)
		return line;
	return line_in_script(functions, entry, line);
}

bool functions_get(struct functions *functions, uint64_t number, struct function *ret_function)
{
	struct entry *entry = map_get(functions->numbers, number);

	if (!entry || !entry->text)
		return false;
	take_late_name(functions, entry);
	*ret_function = entry->text->function;
	if (entry->text->script.address)
		ret_function->first_line =
			line_in_script(functions, entry, entry->text->script.start);
	return true;
}

/* Gets what an event told of an inlined function. */
static bool read_inlined(const struct function_text *text, size_t index,
			 struct told_frame *ret_frame)
{
	struct reader reader;

	if (text->lines.format != TOLD_LINES_INLINED)
		return false;
	reader_init(&reader, text->lines.table, text->lines.size);
	reader_seek(&reader, index * sizeof(*ret_frame));
	ret_frame->code = reader_u64(&reader);
	ret_frame->fingerprint = reader_u32(&reader);
	ret_frame->instruction = reader_u32(&reader);
	return !reader_failed(&reader);
}

/* Gets the function of compiled code, and its instruction if an event has told of all of them. */
static struct told_frame find_compiled(const struct functions *functions, const struct entry *entry,
				       uint32_t place)
{
	const struct told_compiled *of = &entry->text->compiled;
	const struct function_key key = {entry->key.family, of->bytecode, of->fingerprint};
	const struct entry *bytecode = find(functions, &key);
	struct told_frame frame = {of->function, of->fingerprint, RUNTIME_OFFSET_NONE};

	if (bytecode && bytecode->text && bytecode->text->lines.format == TOLD_LINES_BYTECODE)
		frame.instruction = entry->text->handler->find_instruction(
			&entry->text->lines, &bytecode->text->lines, place);
	return frame;
}

/* Returns the functions that are put into optimized code, or NULL: no event has told of them. */
static const struct function_text *find_put_in(const struct functions *functions,
					       const struct entry *code)
{
	const struct function_key key = {code->key.family, code->key.code,
					 (uint32_t)(code->key.fingerprint + 1)};
	const struct entry *entry = find(functions, &key);

	if (!entry)
		return NULL;
	return entry->text;
}

/* Gets the function at a place in optimized code. Returns false: its name cannot be known. */
static bool read_put_in(const struct entry *code, const struct function_text *put_in,
			const struct told_put_in *at, struct told_frame *ret_frame)
{
	*ret_frame = (struct told_frame){code->text->compiled.function,
					 code->text->compiled.fingerprint, RUNTIME_OFFSET_NONE};
	if (at->function == TOLD_PUT_IN_NONE)
		return true;
	if (!put_in || !read_inlined(put_in, at->function, ret_frame) || ret_frame->code == 0)
		return false;
	ret_frame->instruction = RUNTIME_OFFSET_NONE;
	return true;
}

/*
 * Finds the functions at a place in optimized code. Where one of them is not known, they count as
 * the function around them. Returns their number.
 */
static size_t find_optimized(const struct functions *functions, const struct entry *code,
			     uint32_t place, struct told_put_in at[TOLD_PUT_IN_MAX])
{
	const struct function_text *put_in = find_put_in(functions, code);
	const size_t count = code->text->handler->find_put_in(&code->text->lines, place, at);
	struct told_frame frame;

	if (count == 0)
		at[0] = (struct told_put_in){TOLD_PUT_IN_NONE, 0};
	for (size_t i = 0; i < count; i++) {
		if (read_put_in(code, put_in, &at[i], &frame))
			continue;
		at[0] = at[count - 1];
		return 1;
	}
	if (count == 0)
		return 1;
	return count;
}

/* As functions_inlined(). The place is one in the text of the script, if the function is told. */
static bool find_in_optimized(struct functions *functions, const struct entry *code, uint32_t place,
			      size_t index, uint64_t *ret_place)
{
	struct told_put_in at[TOLD_PUT_IN_MAX];
	struct told_frame frame;
	struct function_key key;
	const struct entry *entry;

	if (index >= find_optimized(functions, code, place, at) ||
	    !read_put_in(code, find_put_in(functions, code), &at[index], &frame))
		return false;
	key = (struct function_key){code->key.family, frame.code, frame.fingerprint};
	*ret_place = functions_place(functions, &key, frame.instruction, code->used);
	entry = map_get(functions->numbers, FUNCTION_OF(*ret_place));
	if (entry && entry->text)
		*ret_place = FUNCTION_PLACE(FUNCTION_OF(*ret_place), at[index].place);
	return true;
}

bool functions_inlined(struct functions *functions, uint64_t place, size_t index,
		       uint64_t *ret_place)
{
	const struct entry *entry = map_get(functions->numbers, FUNCTION_OF(place));
	const uint32_t instruction = (uint32_t)place & INSTRUCTION_MAX;
	struct function_key key;
	struct told_frame frame;

	if (!entry || !entry->text)
		return false;
	if (entry->text->lines.format == TOLD_LINES_OPTIMIZED)
		return find_in_optimized(functions, entry, instruction, index, ret_place);
	if (is_of_function(entry->text) && index == 0)
		frame = find_compiled(functions, entry, instruction);
	else if (!read_inlined(entry->text, index, &frame))
		return false;
	key = (struct function_key){entry->key.family, frame.code, frame.fingerprint};
	*ret_place = functions_place(functions, &key, frame.instruction, entry->used);
	return true;
}

bool functions_unverified(const struct functions *functions, uint64_t number)
{
	const struct entry *entry = map_get(functions->numbers, number);

	return entry && entry->is_unverified;
}

uint64_t functions_unverified_frames(const struct functions *functions, uint64_t family_number)
{
	const struct family *family = map_get(functions->families, family_number);

	if (!family)
		return 0;
	return family->unverified;
}

/* ---- all ---- */

void functions_forget(struct functions *functions, uint64_t since)
{
	uint64_t number;
	void *value;
	size_t cursor = 0;

	while (map_next(functions->numbers, &cursor, &number, &value))
		if (((struct entry *)value)->used < since)
			remove_entry(functions, value);
}

size_t functions_count(const struct functions *functions)
{
	return map_count(functions->numbers);
}

void functions_counts(const struct functions *functions, struct functions_counts *ret_counts)
{
	*ret_counts = functions->counts;
}
