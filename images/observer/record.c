#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "record.h"

#define LONGEST (64 * 1024)

static char line[LONGEST];
static size_t used;
/* Whole records that are not written yet. */
static char waiting[4 * LONGEST];
static size_t waiting_used;
static long count;
static bool first_item;

static void put(char c)
{
	/* Room for what closes the record is kept: see record_bytes. */
	if (used < sizeof line)
		line[used++] = c;
}

static void put_all(const char *text)
{
	while (*text)
		put(*text++);
}

static void put_quoted(const char *bytes, size_t length)
{
	put('"');
	for (size_t i = 0; i < length && used < sizeof line - 1024; i++) {
		unsigned char c = (unsigned char)bytes[i];
		char escaped[8];
		if (c == '"' || c == '\\') {
			put('\\');
			put((char)c);
		} else if (c < 0x20 || c >= 0x7f) {
			snprintf(escaped, sizeof escaped, "\\u%04x", c);
			put_all(escaped);
		} else {
			put((char)c);
		}
	}
	put('"');
}

static void put_key(const char *key)
{
	put(',');
	put_quoted(key, strlen(key));
	put(':');
}

void record_open(const char *kind)
{
	used = 0;
	put_all("{\"k\":");
	put_quoted(kind, strlen(kind));
}

void record_bytes(const char *key, const char *bytes, size_t length)
{
	put_key(key);
	put_quoted(bytes, length);
}

void record_text(const char *key, const char *text)
{
	record_bytes(key, text, strlen(text));
}

void record_number(const char *key, long number)
{
	char text[24];
	put_key(key);
	snprintf(text, sizeof text, "%ld", number);
	put_all(text);
}

void record_list_open(const char *key)
{
	put_key(key);
	put('[');
	first_item = true;
}

void record_item(const char *text)
{
	if (!first_item)
		put(',');
	first_item = false;
	put_quoted(text, strlen(text));
}

void record_list_close(void)
{
	put(']');
}

void record_close(void)
{
	put_all("}\n");
	count++;
	if (waiting_used + used > sizeof waiting)
		records_write();
	memcpy(waiting + waiting_used, line, used);
	waiting_used += used;
}

void records_write(void)
{
	for (size_t done = 0; done < waiting_used;) {
		ssize_t wrote = write(STDOUT_FILENO, waiting + done, waiting_used - done);
		if (wrote < 0 && errno == EINTR)
			continue;
		if (wrote <= 0)
			exit(125);
		done += (size_t)wrote;
	}
	waiting_used = 0;
}

void records_reset(void)
{
	count = 0;
}

bool records_too_many(void)
{
	return count > MAX_RECORDS;
}
