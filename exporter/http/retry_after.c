/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/http/retry_after.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "ipc/time.h"

#define DAY_SECONDS 86400
#define WAIT_MAX    (365ll * DAY_SECONDS)

struct parts {
	int day, month, year, hour, minute, second; /* month 0 to 11 */
};

/* Moves past the text, or returns false. */
static bool take_text(const char **at, const char *text)
{
	if (strncmp(*at, text, strlen(text)) != 0)
		return false;
	*at += strlen(text);
	return true;
}

static bool take_digits(const char **at, unsigned int digits, int *ret_number)
{
	*ret_number = 0;
	for (; digits > 0; digits--, (*at)++) {
		if (**at < '0' || **at > '9')
			return false;
		*ret_number = *ret_number * 10 + **at - '0';
	}
	return true;
}

static bool take_one_of(const char **at, const char *const *names, size_t count, int *ret_index)
{
	for (size_t i = 0; i < count; i++)
		if (take_text(at, names[i])) {
			*ret_index = (int)i;
			return true;
		}
	return false;
}

static bool take_month(const char **at, int *ret_month)
{
	static const char *const names[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
					    "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};

	return take_one_of(at, names, sizeof(names) / sizeof(*names), ret_month);
}

static bool take_weekday(const char **at)
{
	static const char *const names[] = {
		"Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday",
		"Mon",	  "Tue",     "Wed",	  "Thu",      "Fri",	"Sat",	    "Sun"};
	int index;

	return take_one_of(at, names, sizeof(names) / sizeof(*names), &index);
}

static bool take_time(const char **at, struct parts *parts)
{
	return take_digits(at, 2, &parts->hour) && take_text(at, ":") &&
	       take_digits(at, 2, &parts->minute) && take_text(at, ":") &&
	       take_digits(at, 2, &parts->second);
}

/* "Sun, 06 Nov 1994 08:49:37 GMT" */
static bool take_fixed(const char *at, struct parts *parts)
{
	return take_weekday(&at) && take_text(&at, ", ") && take_digits(&at, 2, &parts->day) &&
	       take_text(&at, " ") && take_month(&at, &parts->month) && take_text(&at, " ") &&
	       take_digits(&at, 4, &parts->year) && take_text(&at, " ") && take_time(&at, parts) &&
	       strcmp(at, " GMT") == 0;
}

/* "Sunday, 06-Nov-94 08:49:37 GMT" */
static bool take_rfc850(const char *at, struct parts *parts)
{
	if (!take_weekday(&at) || !take_text(&at, ", ") || !take_digits(&at, 2, &parts->day) ||
	    !take_text(&at, "-") || !take_month(&at, &parts->month) || !take_text(&at, "-") ||
	    !take_digits(&at, 2, &parts->year))
		return false;
	parts->year += 1900;
	if (parts->year < 1970)
		parts->year += 100;
	return take_text(&at, " ") && take_time(&at, parts) && strcmp(at, " GMT") == 0;
}

/* "Sun Nov  6 08:49:37 1994" */
static bool take_asctime(const char *at, struct parts *parts)
{
	if (!take_weekday(&at) || !take_text(&at, " ") || !take_month(&at, &parts->month) ||
	    !take_text(&at, " "))
		return false;
	if (!(take_text(&at, " ") && take_digits(&at, 1, &parts->day)) &&
	    !take_digits(&at, 2, &parts->day))
		return false;
	return take_text(&at, " ") && take_time(&at, parts) && take_text(&at, " ") &&
	       take_digits(&at, 4, &parts->year) && *at == '\0';
}

static bool is_possible(const struct parts *parts)
{
	return parts->day >= 1 && parts->day <= 31 && parts->year >= 1970 && parts->hour <= 23 &&
	       parts->minute <= 59 && parts->second <= 60;
}

/* Returns days since 1970-01-01, by the civil calendar: a year begins in March here. */
static int64_t days_since_1970(const struct parts *parts)
{
	int64_t month = (parts->month + 10) % 12;
	int64_t year = parts->year;

	if (parts->month < 2)
		year--;
	return 365 * year + year / 4 - year / 100 + year / 400 + (month * 306 + 5) / 10 +
	       parts->day - 1 - 719468;
}

int http_date_parse(const char *text, int64_t *ret_seconds)
{
	struct parts parts = {0};

	if (!take_fixed(text, &parts) && !take_rfc850(text, &parts) && !take_asctime(text, &parts))
		return -EBADMSG;
	if (!is_possible(&parts))
		return -EBADMSG;
	*ret_seconds = days_since_1970(&parts) * DAY_SECONDS + parts.hour * 3600ll +
		       parts.minute * 60ll + parts.second;
	return 0;
}

static bool parse_seconds(const char *text, int64_t *ret_seconds)
{
	int64_t seconds = 0;

	if (*text == '\0')
		return false;
	for (; *text; text++) {
		if (*text < '0' || *text > '9')
			return false;
		if (seconds <= WAIT_MAX)
			seconds = seconds * 10 + *text - '0';
	}
	*ret_seconds = seconds;
	return true;
}

int retry_after_parse(const char *text, const char *date, int64_t now, uint64_t *ret_ns)
{
	int64_t seconds, until;
	int r;

	if (!parse_seconds(text, &seconds)) {
		r = http_date_parse(text, &until);
		if (r < 0)
			return r;
		http_date_parse(date, &now);
		seconds = until - now;
	}
	if (seconds < 0)
		seconds = 0;
	if (seconds > WAIT_MAX)
		seconds = WAIT_MAX;
	*ret_ns = (uint64_t)seconds * NS_PER_SECOND;
	return 0;
}
