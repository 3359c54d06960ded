/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A log message is one line, "what: object: reason". A confined process logs over its channel.
 * Lines that repeat are left out and counted (log_limit.h).
 */
#ifndef KEYHOLE_IPC_LOG_H
#define KEYHOLE_IPC_LOG_H

enum log_level {
	LOG_LEVEL_ERROR,
	LOG_LEVEL_WARNING,
	LOG_LEVEL_INFO,
	LOG_LEVEL_DEBUG
};

enum log_form {
	LOG_TEXT,    /* "keyhole: what: object: reason" */
	LOG_JOURNAL, /* the same behind the priority, "<3>", as of sd-daemon(3) */
	LOG_JSON     /* an object a line: time, level, process, message, left_out */
};

/* The variable by which the loader tells its helpers of the form. */
#define LOG_VARIABLE "KEYHOLE_LOG"

struct message_log;

/*
 * Sets the name of this process and the limit. Lines of levels above the limit are dropped. The
 * form is that of LOG_VARIABLE, else LOG_TEXT.
 */
void log_init(const char *process, enum log_level limit);

/* Sets the form for this process, and for those that it starts from now on. */
void log_choose(enum log_form form);
/* Chooses LOG_JOURNAL where standard error is the journal's (systemd.exec(5), $JOURNAL_STREAM). */
void log_find_journal(void);
enum log_form log_chosen(void);

/* Gives each later line to a sink, with the owner (borrowed). NULL: lines go to standard error. */
void log_to(void (*sink)(void *owner, const struct message_log *line), void *owner);

void log_line(enum log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));
#define log_error(...)	 log_line(LOG_LEVEL_ERROR, __VA_ARGS__)
#define log_warning(...) log_line(LOG_LEVEL_WARNING, __VA_ARGS__)
#define log_info(...)	 log_line(LOG_LEVEL_INFO, __VA_ARGS__)
#define log_debug(...)	 log_line(LOG_LEVEL_DEBUG, __VA_ARGS__)

/* Prints a child's line, in the loader. -EPROTO: the level, the length or a byte is not allowed. */
int log_from_message(const char *process, const struct message_log *message);

#endif
