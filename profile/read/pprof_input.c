/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of a pprof file refer to each other by indices and ids: resolves them, or refuses. */
#include "profile/read/pprof_input.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "profile/format/names.h"

int pprof_refuse(struct pprof_input *in, int r, const char *format, ...)
{
	char problem[2 * sizeof(in->info->problem)];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(problem, sizeof(problem), format, arguments);
	va_end(arguments);
	format_clean_name(in->info->problem, sizeof(in->info->problem), problem);
	return r;
}

int pprof_malformed(struct pprof_input *in, const char *what)
{
	return pprof_refuse(in, -EBADMSG, "malformed: %s", what);
}

struct reader pprof_open_span(const struct pprof_input *in, const struct pprof_span *span)
{
	struct reader reader;

	reader_init(&reader, in->bytes + span->at, span->size);
	return reader;
}

const struct pprof_string *pprof_string(struct pprof_input *in, uint64_t index, int *r)
{
	static const struct pprof_string none;

	if (index < in->tables.strings.count)
		return &in->strings[index];
	if (index > 0) /* string 0 is empty, even in an empty table */
		*r = pprof_malformed(in, "a string that is not there");
	return &none;
}

const char *pprof_text(struct pprof_input *in, uint64_t index, int *r)
{
	return profile_string_get(in->profile, pprof_string(in, index, r)->id);
}

int pprof_put_id(struct pprof_input *in, struct pprof_ids *ids, uint64_t id, uint32_t index,
		 const char *problem)
{
	int r = pprof_ids_put(ids, id, index);

	if (r == -EBADMSG)
		return pprof_malformed(in, problem);
	return r;
}
