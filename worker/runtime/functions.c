/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/runtime/functions.h"

#include <stdlib.h>
#include <string.h>

#include "base/chain.h"
#include "base/hash.h"
#include "base/map.h"
#include "worker/runtime/runtime.h"
#include "worker/runtime/told.h"

struct family {
	uint64_t number;
	size_t count, bytes;
	uint64_t unverified; /* frames, as in struct functions_counts */
};

/* One piece of memory: name, file and line table behind the head. */
struct text {
	size_t bytes; /* with the head */
	struct function function;
	const struct runtime_handler *handler;
	bool has_callers_name;
	bool is_start;
	struct told_lines lines;
	char data[];
};

struct entry {
	struct chain chain; /* of those with the same hash of the key */
	struct function_key key;
	struct family *family;
	uint64_t number;
	uint64_t used;	    /* time */
	struct text *text;  /* NULL: no event has told of it */
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
	if (functions->keys && functions->numbers && functions->families &&
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

static void remove_entry(struct functions *functions, struct entry *entry)
{
	struct family *family = entry->family;

	retire(functions, entry);
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

/* ---- what events tell ---- */

static struct text *make_text(const struct told *told)
{
	const size_t name = strlen(told->code.name) + 1, file = strlen(told->code.file) + 1;
	const size_t bytes = sizeof(struct text) + name + file + told->lines.size;
	struct text *text = malloc(bytes);

	if (!text)
		return NULL;
	*text = (struct text){
		.bytes = bytes,
		.function = {text->data, text->data + name, told->code.first_line},
		.handler = told->handler,
		.has_callers_name = told->has_callers_name,
		.is_start = told->is_start,
		.lines = told->lines,
	};
	text->lines.table = (unsigned char *)text->data + name + file;
	memcpy(text->data, told->code.name, name);
	memcpy(text->data + name, told->code.file, file);
	memcpy(text->data + name + file, told->table, told->lines.size);
	return text;
}

static bool is_same(const struct text *text, const struct told *told)
{
	return text->function.first_line == told->code.first_line &&
	       text->lines.size == told->lines.size &&
	       (told->handler->has_callers_names ||
		strcmp(text->function.name, told->code.name) == 0) &&
	       strcmp(text->function.file, told->code.file) == 0 &&
	       memcmp(text->lines.table, told->table, told->lines.size) == 0;
}

static void fill(struct functions *functions, struct entry *entry, const struct told *told)
{
	struct text *text = make_text(told);

	if (!text || !has_bytes(functions, entry->family, text->bytes)) {
		functions->counts.refused++;
		free(text);
		return;
	}
	entry->text = text;
	entry->family->bytes += text->bytes;
	functions->bytes += text->bytes;
	functions->counts.told++;
}

/* A caller has a name for the function that had none: it gets this name, if there is room. */
static void take_callers_name(struct functions *functions, struct entry *entry,
			      const struct told *told)
{
	struct text *old = entry->text, *text;

	functions->counts.again++;
	if (old->has_callers_name || !told->has_callers_name)
		return;
	text = make_text(told);
	if (!text || !has_bytes(functions, entry->family, text->bytes)) {
		functions->counts.refused++;
		free(text);
		return;
	}
	entry->text = text;
	entry->family->bytes += text->bytes - old->bytes;
	functions->bytes += text->bytes - old->bytes;
	free(old);
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

	if (entry && entry->text && !is_same(entry->text, told)) {
		retire(functions, entry);
		entry = NULL;
	}
	if (!entry)
		entry = add(functions, key);
	if (!entry)
		return;
	entry->used = time;
	if (entry->text)
		take_callers_name(functions, entry, told);
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

static uint32_t line_of(const struct entry *entry, uint32_t instruction)
{
	uint32_t line;

	if (!entry->text)
		return FUNCTION_LINE_UNTOLD;
	line = entry->text->handler->find_line(&entry->text->lines, instruction);
	if (line >= FUNCTION_LINE_UNTOLD)
		return 0;
	return line;
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
		return FUNCTION_PLACE(0, FUNCTION_LINE_UNTOLD);
	if (entry->used < time)
		entry->used = time;
	entry->frames++;
	if (entry->is_unverified)
		count_unverified(functions, entry, 1);
	return FUNCTION_PLACE(entry->number, line_of(entry, instruction));
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

bool functions_get(const struct functions *functions, uint64_t number,
		   struct function *ret_function)
{
	const struct entry *entry = map_get(functions->numbers, number);

	if (!entry || !entry->text)
		return false;
	*ret_function = entry->text->function;
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
