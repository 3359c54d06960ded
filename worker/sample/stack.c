/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/sample/stack.h"

#include <stdio.h>
#include <string.h>

#include "base/languages.h"
#include "base/redact.h"
#include "worker/kernel/kernel_symbols.h"
#include "worker/made/names.h"
#include "worker/process/mapping.h"
#include "worker/process/object.h"
#include "worker/process/process.h"
#include "worker/runtime/functions.h"
#include "worker/runtime/runtime.h"
#include "worker/sample/activations.h"
#include "worker/sample/coroutines.h"
#include "worker/sample/frame.h"
#include "worker/sample/guesses.h"
#include "worker/sample/runtime_words.h"
#include "worker/sample/waits.h"

_Static_assert(RECORD_KERNEL_FRAMES_MAX + RECORD_FRAMES_MAX + RECORD_RUNTIME_WORDS_MAX / 2 + 3 <=
		       PROFILE_STACK_MAX,
	       "a record and its markers fit a stack");

void stack_init(struct stack *stack, const struct stack_parts *parts)
{
	*stack = (struct stack){.parts = *parts};
}

void stack_use(struct stack *stack, struct profile *profile)
{
	stack->parts.profile = profile;
	memset(stack->kernel_object, 0, sizeof(stack->kernel_object));
	memset(stack->cut, 0, sizeof(stack->cut));
	stack->unknown_object = 0;
	memset(stack->script_object, 0, sizeof(stack->script_object));
	memset(stack->made_object, 0, sizeof(stack->made_object));
	stack->kernel_cut = 0;
	stack->guessed = 0;
	stack->list_cut = 0;
}

/* ---- locations ---- */

static uint32_t add_object(struct stack *stack, const char *name, enum profile_kind kind)
{
	struct profile_object object = {.kind = kind};

	object.name = profile_string(stack->parts.profile, name);
	if (object.name == PROFILE_FAILED)
		return 0;
	return profile_object_add(stack->parts.profile, &object);
}

static void push(struct stack *stack, uint32_t location)
{
	if (location == 0 || location == PROFILE_FAILED)
		stack->failed = true;
	else if (stack->depth < PROFILE_STACK_MAX)
		stack->location[stack->depth++] = location;
}

static void push_address(struct stack *stack, uint32_t *object, const char *name,
			 enum profile_kind kind, uint64_t address)
{
	if (*object == 0)
		*object = add_object(stack, name, kind);
	if (*object == 0 || *object == PROFILE_FAILED) {
		*object = 0;
		stack->failed = true;
		return;
	}
	push(stack, profile_location_add(stack->parts.profile, *object, address));
}

/* Pushes a location that is its own name: each has an object, so that names cannot be mistaken. */
static void push_marker(struct stack *stack, uint32_t *location, const char *name)
{
	uint32_t object = 0;

	if (*location != 0) {
		push(stack, *location);
		return;
	}
	push_address(stack, &object, name, KIND_MARKER, 0);
	if (!stack->failed)
		*location = stack->location[stack->depth - 1];
}

static void push_unknown(struct stack *stack)
{
	push_address(stack, &stack->unknown_object, PROFILE_UNKNOWN, KIND_MARKER, 0);
}

/* ---- kernel ---- */

/* Returns false for a frame whose name BPF did not tell, or that had no room. */
static bool push_late(struct stack *stack, u64 frame)
{
	const struct late_names *names = stack->parts.late_names;
	uint32_t module = 0;
	int place;

	if (!names)
		return false;
	place = late_names_find(names, KERNEL_FRAME_OFFSET(frame), &module);
	if (place < 0)
		return false;
	push_address(stack, &stack->kernel_object[STACK_LATE + module],
		     late_names_module(names, module), KIND_KERNEL, (uint64_t)place);
	return true;
}

static const char *range_name(const struct stack *stack, uint32_t range)
{
	if (range >= KERNEL_RANGES_MAX)
		return NULL;
	if (!stack->parts.symbols)
		return "[kernel]";
	return kernel_symbols_range(stack->parts.symbols, range);
}

static void push_kernel(struct stack *stack, u64 frame, bool leaf)
{
	uint32_t range = KERNEL_FRAME_RANGE(frame), offset = KERNEL_FRAME_OFFSET(frame);
	const char *name;

	if (range == KERNEL_RANGE_NAMED) {
		if (push_late(stack, frame))
			return;
		offset = 0;
	}
	name = range_name(stack, range);
	if (!name) {
		range = KERNEL_RANGES_MAX;
		name = "[kernel unknown]";
		stack->kernel_unknown++;
	}
	/* A return address may be the first one of the next function. */
	if (!leaf && offset > 0)
		offset--;
	push_address(stack, &stack->kernel_object[range], name, KIND_KERNEL, offset);
}

/* ---- user ---- */

const struct mapping *stack_mapping(const struct process *process, const struct record *head,
				    u64 frame)
{
	if (!process)
		return NULL;
	return mappings_find(process->mappings, frame_pc(frame), head->time);
}

/* Returns where a frame is in the file of its mapping. */
static uint64_t frame_place(const struct mapping *mapping, u64 frame)
{
	return frame_pc(frame) + mapping->offset - mapping->start;
}

/* mapping: of the frame, or NULL. */
static void push_user(struct stack *stack, const struct mapping *mapping, const struct record *head,
		      u64 frame)
{
	struct object *object;
	uint64_t address = frame_pc(frame);
	enum profile_kind kind = KIND_ANON;
	char text[REDACT_BYTES];

	if (!mapping || !mapping->object) {
		push_unknown(stack);
		return;
	}
	object = mapping->object;
	if (object->sampled < head->time)
		object->sampled = head->time;
	if (!object->anonymous) {
		kind = KIND_NATIVE;
		address = frame_place(mapping, frame);
	}
	push_address(stack, &object->profile_id,
		     redact_name(stack->parts.redact, REDACT_PATH, object->name, text), kind,
		     address);
}

/* Pushes a function of code made at run time, by its number in made_names. */
static void push_made(struct stack *stack, const struct process *process, uint32_t number)
{
	const uint32_t runtime = made_names_runtime(process);

	push_address(stack, &stack->made_object[runtime], language_of_made(runtime)->object,
		     KIND_ANON, number);
}

/* Returns the number of the function that a frame in code made at run time is in, or 0. */
static uint32_t find_made(const struct stack *stack, const struct process *process,
			  const struct mapping *mapping, u64 frame)
{
	if (!stack->parts.made || !mapping || !mapping->object || !mapping->object->anonymous)
		return 0;
	return made_names_find(stack->parts.made, process, frame_pc(frame));
}

/* ---- runtimes ---- */

/* The functions of a record's runtime, as far as they are pushed. */
struct scripts {
	struct runtime_words words;
	uint64_t family, time;
	const struct object *owner; /* the interpreter; a process may have several */
	uint32_t runtime;	    /* enum runtime */
	bool hides;		    /* the interpreter's own frames */
	bool on_stack;		    /* functions have frames of their own: HotSpot, V8 */
	bool by_loop;	      /* each frame of the loop has one function: runtime_setup.loop */
	bool by_group;	      /* each one has a group: runtime_setup.has_groups */
	bool may_idle;	      /* groups may lack their loop: activations_drop_idle() */
	bool makes_code;      /* the list also has the functions of code made at run time, */
	bool stands_for_code; /* even if this code has names */
	bool is_cut;	      /* further functions are not known, and no marker says so yet */
	size_t early;	      /* functions that have no frame of the loop any more */
	size_t bare;	      /* innermost frames of the loop that have no function yet */
};

static bool is_interpreter(const struct mapping *mapping)
{
	return mapping && mapping->object && mapping->object->setup;
}

/* Returns the object whose list BPF has walked: that of the innermost frame of an interpreter. */
static const struct object *find_owner(const struct process *process, const struct record *head,
				       const u64 *frames)
{
	for (unsigned int i = 0; i < head->user_frames; i++) {
		const struct mapping *mapping = stack_mapping(process, head, frames[i]);

		if (is_interpreter(mapping))
			return mapping->object;
	}
	return NULL;
}

/* Returns the runtime of a list whose owner is not known: one that the process has. */
static uint32_t any_runtime(const struct process *process)
{
	const struct mappings *mappings = process ? process->mappings : NULL;

	for (size_t i = 0; mappings && i < mappings->open_count; i++)
		if (is_interpreter(&mappings->open[i]))
			return mappings->open[i].object->runtime;
	return RUNTIME_CPYTHON;
}

static bool is_whole(const struct record *head)
{
	return profile_reason(head->reason)->class != CLASS_CUT && head->runtime == RUNTIME_WHOLE;
}

static bool is_list_cut(const struct record *head)
{
	return head->runtime == RUNTIME_CUT_READ || head->runtime == RUNTIME_CUT_DEPTH ||
	       head->runtime == RUNTIME_CUT_BUDGET;
}

static bool is_of_loop(const struct scripts *scripts, const struct mapping *mapping, u64 frame)
{
	if (mapping && mapping->is_shared && scripts->owner)
		return scripts->owner->setup->made_rule != 0;
	return mapping && mapping->object && mapping->object == scripts->owner &&
	       mapping->object->setup &&
	       runtime_is_loop(mapping->object->setup, frame_place(mapping, frame));
}

/* Returns whether a frame of the loop has functions of the next outer one: runtime_setup.again. */
static bool is_called_again(const struct scripts *scripts, const struct process *process,
			    const struct record *head, const u64 *frames, unsigned int number)
{
	const struct mapping *mapping;

	if (number + 1 >= head->user_frames)
		return false;
	mapping = stack_mapping(process, head, frames[number + 1]);
	return mapping && mapping->object && mapping->object == scripts->owner &&
	       mapping->object->setup &&
	       runtime_is_again(mapping->object->setup, frame_place(mapping, frames[number + 1]));
}

/*
 * Returns whether a frame is one of the interpreter's own, which its functions stand for. A server
 * that has an interpreter linked in has functions of its own beside the loop.
 */
static bool is_hidden(const struct scripts *scripts, const struct mapping *mapping, u64 frame)
{
	if (!scripts->hides || !mapping || !mapping->object)
		return false;
	if (is_of_loop(scripts, mapping, frame))
		return true;
	if (mapping->object->anonymous)
		return scripts->makes_code;
	return mapping->object == scripts->owner && !scripts->on_stack &&
	       language_of_runtime(mapping->object->runtime) &&
	       runtime_is_own_file(mapping->object->runtime, mapping->object->name);
}

/*
 * Returns whether a frame is in code that HotSpot or V8 has made, and stands for a function whose
 * name the list has. V8's own builtins also do.
 */
static bool is_of_function(const struct scripts *scripts, const struct mapping *mapping,
			   uint32_t number)
{
	if (!scripts->hides || !mapping || !mapping->object)
		return false;
	if (scripts->runtime == RUNTIME_HOTSPOT && !mapping->object->anonymous)
		return false;
	return scripts->on_stack && !runtime_words_end(&scripts->words) &&
	       runtime_words_border(&scripts->words) == number;
}

/* Returns whether functions of the list stand for code made at run time that has a name. */
static bool is_stub(const struct scripts *scripts, const struct stack *stack, uint32_t made)
{
	return scripts->hides &&
	       (scripts->stands_for_code || made_names_is_stub(stack->parts.made, made));
}

/*
 * Makes the words of a record's list in stack->words, with borders that say to which frame of the
 * loop they belong. Returns the number of words.
 */
static size_t tie_groups(struct stack *stack, const struct scripts *scripts,
			 const struct process *process, const struct record *head,
			 const u64 *frames)
{
	uint16_t loops[RECORD_FRAMES_MAX];
	size_t count = 0, words;

	for (unsigned int i = 0; i < head->user_frames; i++)
		if (is_of_loop(scripts, stack_mapping(process, head, frames[i]), frames[i]) &&
		    !is_called_again(scripts, process, head, frames, i))
			loops[count++] = (uint16_t)i;
	memcpy(stack->words, frames + head->user_frames, head->runtime_words * sizeof(u64));
	words = coroutines_split(stack->words, head->runtime_words, head->user_frames - 1u,
				 stack->parts.functions, scripts->family, head->time);
	if (scripts->may_idle && is_whole(head))
		words = activations_drop_idle(stack->words, words, count);
	activations_tie(stack->words, words, loops, count, is_whole(head));
	return words;
}

static void scripts_init(struct scripts *scripts, struct stack *stack,
			 const struct process *process, const struct record *head,
			 const u64 *frames)
{
	const u64 *words = frames + head->user_frames;
	size_t count = head->runtime_words;

	*scripts = (struct scripts){.family = head->generation, .time = head->time};
	if (!stack->parts.functions || head->runtime_words == 0 ||
	    head->runtime == RUNTIME_NONE_MET)
		return;
	if (process)
		scripts->family = process->family;
	scripts->owner = find_owner(process, head, frames);
	if (scripts->owner) {
		scripts->runtime = scripts->owner->runtime;
		scripts->by_group = scripts->owner->setup->has_groups;
		scripts->may_idle = scripts->owner->setup->config.flags & RUNTIME_SCOPES;
		scripts->stands_for_code = scripts->owner->setup->own_rule != 0;
		scripts->makes_code = scripts->owner->setup->config.flags & RUNTIME_STACKED ||
				      scripts->stands_for_code;
	} else {
		scripts->runtime = any_runtime(process);
	}
	scripts->on_stack = scripts->runtime == RUNTIME_HOTSPOT || scripts->runtime == RUNTIME_NODE;
	if (scripts->by_group) {
		count = tie_groups(stack, scripts, process, head, frames);
		words = stack->words;
	}
	if (!runtime_words_init(&scripts->words, words, count))
		stack->malformed++;
	scripts->hides = scripts->words.frames > 0 && !stack->parts.native_frames;
	scripts->is_cut = scripts->words.frames > 0 && is_list_cut(head);
}

/*
 * Ties functions to frames of the loop where nothing else does. The loop links its function into
 * the list a little after it begins, and out of the list a little before it ends. So where both are
 * whole, the outermost function belongs to the outermost frame.
 */
static void tie_to_loop(struct scripts *scripts, const struct process *process,
			const struct record *head, const u64 *frames)
{
	const size_t functions = scripts->words.frames;
	size_t loops = 0;

	if (functions == 0 || scripts->by_group ||
	    runtime_words_border(&scripts->words) != RUNTIME_WORDS_NO_BORDER)
		return;
	for (unsigned int i = 0; i < head->user_frames; i++)
		loops += is_of_loop(scripts, stack_mapping(process, head, frames[i]), frames[i]);
	scripts->by_loop = loops > 0;
	if (!is_whole(head))
		return;
	if (loops > functions)
		scripts->bare = loops - functions;
	else
		scripts->early = functions - loops;
}

static void push_script(struct stack *stack, const struct scripts *scripts,
			const struct runtime_frame *frame)
{
	const struct language *language = language_of_runtime(scripts->runtime);
	uint32_t *object = &stack->script_object[scripts->runtime];
	const struct function_key key = {
		.family = scripts->family,
		.code = frame->code,
		.fingerprint = frame->fingerprint,
	};
	const bool is_new = *object == 0;

	if (frame->code == RUNTIME_CODE_ELSEWHERE) {
		push_marker(stack, &stack->elsewhere, "[virtual thread: functions in the heap]");
		return;
	}
	push_address(
		stack, object, language->object, KIND_SCRIPT,
		functions_place(stack->parts.functions, &key, frame->instruction, scripts->time));
	if (is_new && *object)
		profile_object_get(stack->parts.profile, *object)->runtime = scripts->runtime;
}

/* Pushes the functions that belong to the user frames up to a number. */
static void push_scripts(struct stack *stack, struct scripts *scripts, uint32_t number)
{
	struct runtime_frame frame;

	while (!runtime_words_end(&scripts->words) &&
	       runtime_words_border(&scripts->words) <= number)
		while (runtime_words_next(&scripts->words, &frame))
			push_script(stack, scripts, &frame);
}

static void push_next_script(struct stack *stack, struct scripts *scripts)
{
	struct runtime_frame frame;

	if (runtime_words_next(&scripts->words, &frame))
		push_script(stack, scripts, &frame);
}

/* Pushes the function of a frame of the loop. */
static void push_of_loop(struct stack *stack, struct scripts *scripts)
{
	for (; scripts->early > 0; scripts->early--)
		push_next_script(stack, scripts);
	if (scripts->bare > 0)
		scripts->bare--;
	else
		push_next_script(stack, scripts);
}

/*
 * Pushes the innermost functions of an activation, when the list was cut before its border. Which
 * frame of the interpreter is the loop's is not known then, so they come before the next one.
 */
static void push_begun(struct stack *stack, struct scripts *scripts, const struct mapping *mapping)
{
	if (!scripts->is_cut || scripts->by_loop || !mapping || mapping->object != scripts->owner ||
	    runtime_words_border(&scripts->words) != RUNTIME_WORDS_NO_BORDER)
		return;
	push_scripts(stack, scripts, RUNTIME_WORDS_NO_BORDER);
}

/* Pushes a marker behind the last function of a list that was cut. */
static void push_list_cut(struct stack *stack, struct scripts *scripts)
{
	if (!scripts->is_cut || !runtime_words_end(&scripts->words))
		return;
	push_marker(stack, &stack->list_cut, PROFILE_CUT_LIST);
	scripts->is_cut = false;
}

/* ---- all ---- */

/* Pushes a marker before the first frame to which the walk guessed the way. */
static void push_all_user(struct stack *stack, const struct process *process,
			  const struct record *head, const u64 *frames)
{
	const unsigned int guess = guesses_find(stack->parts.made, process, head, frames);
	struct scripts scripts;

	stack->proven = guess == head->user_frames;
	scripts_init(&scripts, stack, process, head, frames);
	tie_to_loop(&scripts, process, head, frames);
	for (unsigned int i = 0; i < head->user_frames; i++) {
		const struct mapping *mapping = stack_mapping(process, head, frames[i]);
		const uint32_t made = find_made(stack, process, mapping, frames[i]);
		const bool is_function = is_of_function(&scripts, mapping, i);

		if (i == guess)
			push_marker(stack, &stack->guessed, "[guessed]");
		push_begun(stack, &scripts, mapping);
		if (made && !is_function && !is_stub(&scripts, stack, made))
			push_made(stack, process, made);
		if (!made && !is_function && !is_hidden(&scripts, mapping, frames[i]))
			push_user(stack, mapping, head, frames[i]);
		if (!scripts.by_loop)
			push_scripts(stack, &scripts, i);
		else if (is_of_loop(&scripts, mapping, frames[i]))
			push_of_loop(stack, &scripts);
		push_list_cut(stack, &scripts);
	}
	push_scripts(stack, &scripts, RUNTIME_WORDS_NO_BORDER);
	push_list_cut(stack, &scripts);
}

static void push_cut(struct stack *stack, unsigned int reason)
{
	const struct profile_reason *why = profile_reason(reason);
	const char *short_name = why->name;
	char name[64];

	if (why->class != CLASS_CUT)
		return;
	if (strncmp(short_name, "cut_", 4) == 0)
		short_name += 4;
	snprintf(name, sizeof(name), "[cut: %s]", short_name);
	push_marker(stack, &stack->cut[reason], name);
}

/* Pushes why the thread is off its CPU, as if that were the innermost function. */
static void push_state(struct stack *stack, const struct record *head, const u64 *frames)
{
	uint32_t state;

	if (!(head->flags & RECORD_FLAG_OFF_CPU))
		return;
	state = waits_state(frames[record_label_words_end(head)]);
	push_marker(stack, &stack->state[state], profile_state(state)->frame);
}

void stack_make(struct stack *stack, const struct record *head, const u64 *frames,
		const struct process *process)
{
	stack->depth = 0;
	stack->failed = false;
	push_state(stack, head, frames);
	for (unsigned int i = 0; i < head->kernel_frames; i++)
		push_kernel(stack, frames[i], i == 0);
	if (head->flags & RECORD_FLAG_KERNEL_CUT)
		push_marker(stack, &stack->kernel_cut, "[cut: kernel stack]");
	push_all_user(stack, process, head, frames + head->kernel_frames);
	push_cut(stack, head->reason);
}
