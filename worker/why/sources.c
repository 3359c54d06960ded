/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/why/sources.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/redact.h"
#include "bpf/abi.h"
#include "ipc/guard.h"
#include "object/elf/image.h"
#include "object/elf/split.h"
#include "object/symbol/cache.h"
#include "object/symbol/go_table.h"
#include "object/unwind/unwind_table.h"
#include "profile/profile.h"
#include "worker/made/names.h"
#include "worker/naming/debug_file.h"
#include "worker/naming/resources.h"
#include "worker/process/file.h"
#include "worker/process/mapping.h"
#include "worker/process/object.h"
#include "worker/process/process.h"
#include "worker/process/table.h"
#include "worker/runtime/functions.h"
#include "worker/runtime/runtime.h"

/* ---- one object ---- */

/* Nobody reads lines of a file that not everybody may read: worker/naming/source_lines.c. */
static bool is_private(const struct object *object)
{
	struct stat status;

	return object->fd >= 0 && !fstat(object->fd, &status) && !(status.st_mode & S_IROTH);
}

/* By UNWIND_*. */
static const enum source_rules table_rules[UNWIND_ALL + 1] = {
	[UNWIND_EH_FRAME] = RULES_EH_FRAME,
	[UNWIND_GO] = RULES_GO,
	[UNWIND_DEBUG_FRAME] = RULES_DEBUG_FRAME,
	[UNWIND_EH_FRAME | UNWIND_GO] = RULES_EH_FRAME_GO,
	[UNWIND_EH_FRAME | UNWIND_DEBUG_FRAME] = RULES_EH_FRAME_DEBUG,
	[UNWIND_GO | UNWIND_DEBUG_FRAME] = RULES_GO_DEBUG,
	[UNWIND_ALL] = RULES_ALL,
};

static enum source_rules rules_of(const struct object *object)
{
	if (object->state == OBJECT_FAILED)
		return RULES_NOT_READ;
	if (object->no_room)
		return RULES_NO_ROOM;
	if (object->state != OBJECT_READY)
		return RULES_PENDING;
	if (object->table)
		return table_rules[object->table->sources & UNWIND_ALL];
	if (object->rules_error == -EDQUOT)
		return RULES_OVERDRAWN;
	if (object->rules_error == -ETIME)
		return RULES_GIVEN_UP;
	if (object->rules_error < 0 && object->rules_error != -ENOENT)
		return RULES_DAMAGED;
	return RULES_NONE;
}

static bool has_symbols(struct image *image, const char *table)
{
	struct image_place place;

	/* The first symbol of a table stands for none. */
	return image_section_place(image, table, &place) == 0 && place.size > sizeof(Elf64_Sym);
}

static bool has_go_table(struct symbol_cache *cache, struct image *image)
{
	struct go_table *table;

	if (go_table_open(cache, image, &table) < 0)
		return false;
	go_table_close(table);
	return true;
}

/* Looks for names in the order in which worker/naming/naming.c asks for them. */
static void look_into(const struct resources *resources, struct image *image,
		      struct source *ret_source)
{
	unsigned char id[IMAGE_BUILD_ID_MAX];
	bool dwarf = image_has_section(image, ".debug_line");

	ret_source->no_build_id = image_build_id(image, id) == 0;
	ret_source->split = dwarf && split_is(image);
	ret_source->lines = dwarf ? LINES_DWARF : LINES_NONE;
	if (has_go_table(resources->cache, image)) {
		ret_source->names = NAMES_GO;
		ret_source->lines = LINES_GO;
	} else if (has_symbols(image, ".symtab")) {
		ret_source->names = NAMES_SYMTAB;
	} else if (image_has_section(image, ".gnu_debugdata")) {
		ret_source->names = NAMES_DEBUGDATA;
	} else if (has_symbols(image, ".dynsym")) {
		ret_source->names = NAMES_DYNSYM;
	} else {
		ret_source->names = NAMES_NONE;
	}
	symbol_cache_forget(resources->cache, image);
}

static void look_for_debug_file(const struct resources *resources, struct image *image,
				const char *path, struct source *source)
{
	struct debug_file file;

	if (!resources->debug_files || !redact_keeps(resources->redact, REDACT_PATH) ||
	    (source->names > NAMES_DEBUG_FILE && source->lines > LINES_DEBUG_FILE) ||
	    debug_file_open(resources->debug_files, image, path, &file) < 0)
		return;
	if (source->names < NAMES_DEBUGDATA && has_symbols(file.image, ".symtab"))
		source->names = NAMES_DEBUG_FILE;
	if (source->lines == LINES_NONE && image_has_section(file.image, ".debug_line"))
		source->lines = LINES_DEBUG_FILE;
	debug_file_close(&file);
}

static int open_image(const struct object *object, struct image **ret_image)
{
	if (object->state == OBJECT_FAILED)
		return object->reason;
	if (object->fd >= 0)
		return image_open(object->fd, ret_image);
	if (object->bytes)
		return image_open_memory(object->bytes, object->size, ret_image);
	return -EMFILE;
}

static void describe_runtime(const struct object *object, struct source *source)
{
	source->runtime = object->runtime;
	source->runtime_error = object->runtime_error;
	if (!object->setup)
		return;
	source->version = object->setup->version;
	source->is_described = object->setup->is_described;
	source->lacks_traces = object->setup->lacks_traces;
}

static struct source describe(const struct resources *resources, const struct object *object,
			      uint64_t deadline)
{
	struct source source = {
		.object = object->profile_id,
		.anonymous = object->anonymous,
		.kernels = object->bytes != NULL,
		.is_private = is_private(object),
		.rules = rules_of(object),
	};
	struct image *image;

	describe_runtime(object, &source);
	if (object->table)
		source.rows = object->table->rows;
	if (object->anonymous)
		return source;
	source.error = -ETIME;
	if (resources->clock() < deadline)
		source.error = open_image(object, &image);
	if (source.error < 0) {
		source.names = NAMES_NOT_READ;
		source.lines = LINES_NOT_READ;
		return source;
	}
	look_into(resources, image, &source);
	look_for_debug_file(resources, image, object->name, &source);
	image_close(image);
	return source;
}

/* ---- all of a process ---- */

/* Returns the process that lives, else the last one that had the pid. */
static const struct process *find(const struct processes *processes, uint32_t pid)
{
	const struct process *found = processes_live(processes, pid), *process;
	size_t cursor = 0;

	if (found)
		return found;
	while ((process = processes_next(processes, &cursor)) != NULL)
		if (process->pid == pid && (!found || process->started > found->started))
			found = process;
	return found;
}

static uint32_t add_string(const struct resources *resources, enum redact_kind kind,
			   const char *name)
{
	char text[REDACT_BYTES];
	uint32_t id = profile_string(resources->profile,
				     redact_name(resources->redact, kind, name, text));

	if (id == PROFILE_FAILED)
		return 0;
	return id;
}

/* Enters an object into the profile that no sample was in. */
static int enter(const struct resources *resources, struct object *object)
{
	struct profile_object entry = {.kind = KIND_NATIVE};
	uint32_t id;

	if (object->profile_id)
		return 0;
	if (object->anonymous)
		entry.kind = KIND_ANON;
	entry.name = add_string(resources, REDACT_PATH, object->name);
	if (object->build_id && redact_keeps(resources->redact, REDACT_PATH))
		entry.build_id = add_string(resources, REDACT_PATH, object->build_id);
	id = profile_object_add(resources->profile, &entry);
	if (id == PROFILE_FAILED)
		return -ENOMEM;
	object->profile_id = id;
	return 0;
}

static int enter_all(const struct resources *resources, const struct mappings *mappings)
{
	int r = 0;

	for (size_t i = 0; i < mappings->open_count && r == 0; i++)
		if (mappings->open[i].object)
			r = enter(resources, mappings->open[i].object);
	return r;
}

static int describe_all(const struct resources *resources, struct sources *sources)
{
	uint64_t deadline = resources->clock() + SOURCES_BUDGET;
	const struct object *object;
	size_t cursor = 0;

	sources->items =
		calloc((size_t)profile_objects(resources->profile) + 1, sizeof(struct source));
	if (!sources->items)
		return -ENOMEM;
	while ((object = objects_next(resources->objects, &cursor)) != NULL)
		if (object->profile_id)
			sources->items[sources->count++] = describe(resources, object, deadline);
	return 0;
}

static int count_mappings(const struct resources *resources, const struct mappings *mappings,
			  struct sources *sources)
{
	guard_free struct source **of =
		calloc((size_t)profile_objects(resources->profile) + 1, sizeof(struct source *));

	if (!of)
		return -ENOMEM;
	for (size_t i = 0; i < sources->count; i++)
		of[sources->items[i].object] = &sources->items[i];
	for (size_t i = 0; i < mappings->open_count; i++) {
		const struct mapping *mapping = &mappings->open[i];
		struct source *source = NULL;

		if (mapping->object)
			source = of[mapping->object->profile_id];
		if (!source)
			continue;
		source->mappings++;
		source->device = 0;
		if (mapping->file)
			source->device = file_device(mapping->file);
	}
	return 0;
}

static void name_process(const struct resources *resources, const struct process *process,
			 struct sources *sources)
{
	char name[ABI_COMM_BYTES];

	process_name(process, name);
	sources->name = add_string(resources, REDACT_COMM, name);
	sources->grant = process->grant.state;
	sources->grant_error = process->grant.error;
	if (resources->functions)
		sources->unverified =
			functions_unverified_frames(resources->functions, process->family);
	if (resources->made) {
		sources->has_map = made_names_has(resources->made, process);
		sources->map_error = made_names_error(resources->made, process);
	}
	sources->ended = process_state_is_ended(process->state);
	sources->listed = process_state_is_complete(process->state);
}

int sources_collect(const struct resources *resources, uint32_t pid, struct sources *ret_sources)
{
	const struct process *process;
	int r;

	*ret_sources = (struct sources){.pid = pid};
	if (pid == 0 && profile_samples(resources->profile) > 0) { /* a kernel thread */
		const struct profile_sample sample = profile_sample_get(resources->profile, 0);

		ret_sources->pid = sample.pid;
		ret_sources->name = sample.process_name;
	}
	process = find(resources->processes, ret_sources->pid);
	if (!process || !process->mappings)
		return describe_all(resources, ret_sources);
	name_process(resources, process, ret_sources);
	r = enter_all(resources, process->mappings);
	if (r == 0)
		r = describe_all(resources, ret_sources);
	if (r < 0)
		return r;
	return count_mappings(resources, process->mappings, ret_sources);
}

void sources_release(struct sources *sources)
{
	free(sources->items);
	sources->items = NULL;
	sources->count = 0;
}
