/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Names of the functions of an interpreter with scopes (RUNTIME_SCOPES). Pure C. The includer
 * supplies the environment that bpf/walk/runtime.bpf.h names.
 */
#ifndef KEYHOLE_BPF_WALK_SCOPE_NAME_BPF_H
#define KEYHOLE_BPF_WALK_SCOPE_NAME_BPF_H

#include "bpf/walk/list.bpf.h"
#include "bpf/walk/walk.bpf.h"

/* sv.h, cv.h: in objects; the type is in the lowest byte of the upper half of the second word */
#define SCALAR_VALUE	  16u
#define SCALAR_FLAGS	  8u
#define SCALAR_TYPE(word) ((word) >> 32 & 0xff)
#define SCALAR_VARIABLE	  9u
#define SCALAR_FUNCTION	  13u
#define SCALAR_FORMAT	  14u
#define FUNCTION_NAMED	  0x8000u /* CVf_NAMED */
#define FUNCTION_LEXICAL  0x10000u

/* Returns the address of a package's text, or 0: the package has none, or it cannot be read. */
GLOBAL u64 runtime_package_text(u64 package)
{
	struct walk *walk = walk_state();

	if (!walk || !package || runtime_read_word(package))
		return 0;
	struct runtime_list *list = &walk->list;
	const struct runtime_scopes *config = &list->config.scopes;
	u64 more = list->word + config->more, text;

	if (!config->more) {
		if (runtime_read_word(list->word + config->last_bucket))
			return 0;
		more = (list->word + 1) * 8;
		if (runtime_read_word(package + SCALAR_VALUE))
			return 0;
		more += list->word;
	}
	if (runtime_read_word(more + config->texts))
		return 0;
	text = list->word;
	if (runtime_read_word((more + config->texts_count) & ~7ull))
		return 0;
	if (!(u32)(list->word >> (config->texts_count & 4) * 8))
		return text;
	return runtime_read_word(text) ? 0 : list->word;
}

/*
 * Finds the text of a variable's name, list->name, and returns its package, or 0. A variable that
 * was renamed leads to that which it was.
 */
INLINE u64 runtime_variable_text(struct walk *walk, u64 variable)
{
	if (runtime_read_word(variable + SCALAR_FLAGS))
		return 0;
	struct runtime_list *list = &walk->list;
	const struct runtime_scopes *config = &list->config.scopes;

	if (SCALAR_TYPE(list->word) != SCALAR_VARIABLE)
		return 0;
	if (!runtime_read_word(variable + SCALAR_VALUE) && list->word &&
	    !runtime_read_word(list->word + config->other) && list->word)
		variable = list->word;
	if (runtime_read_word(variable))
		return 0;
	u64 body = list->word;

	if (runtime_read_word(body + config->text))
		return 0;
	list->name = list->word;
	return runtime_read_word(body + config->package_of) ? 0 : list->word;
}

/* Puts the texts where the config's parts are. Returns whether the name is in memory. */
INLINE int runtime_set_texts(struct runtime_list *list, u64 text, u64 package, u64 file, u32 kind)
{
	list->name = file;
	list->named = kind;
	list->memory[0] = text;
	list->memory[1] = package;
	list->memory[2] = file;
	list->memory[3] = 0;
	return !text || !runtime_read_word(text);
}

/* Finds the texts of the function whose body list->memory has. Returns whether they are there. */
GLOBAL int runtime_function_texts(void)
{
	struct walk *walk = walk_state();

	if (!walk)
		return 0;
	struct runtime_list *list = &walk->list;
	const struct runtime_scopes *config = &list->config.scopes;
	u32 flags = runtime_u32(list, config->flags), kind = SCOPE_OF_FUNCTION;
	u64 text = runtime_u64(list, config->name), package = runtime_u64(list, config->package);
	u64 file = runtime_u64(list, config->code_file);

	if (!(flags & FUNCTION_NAMED) && text) {
		list->name = 0;
		package = runtime_variable_text(walk, text);
		text = list->name;
		if (!text)
			return 0;
	}
	if (flags & FUNCTION_LEXICAL)
		kind = SCOPE_OF_LEXICAL;
	if (!text)
		kind = SCOPE_OF_NAMELESS;
	return runtime_set_texts(list, text, runtime_package_text(package), file, kind);
}

#endif
