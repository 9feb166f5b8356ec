/* Records on standard output: one JSON object a line, bounded in length and, for each scene, in number. */
#ifndef RECORD_H
#define RECORD_H
#include <stdbool.h>
#include <stddef.h>

#define MAX_RECORDS 20000

/* Starts the record of that kind. */
void record_open(const char *kind);
/* Bytes outside ASCII are written as \u00XX: a reader gets one character for each byte. */
void record_text(const char *key, const char *text);
void record_bytes(const char *key, const char *bytes, size_t length);
void record_number(const char *key, long number);
void record_list_open(const char *key);
void record_item(const char *text);
void record_list_close(void);
void record_close(void);
/* Writes what was recorded since. Ends the program when nobody reads: without a reader nothing may run on. */
void records_write(void);

/* Of one scene: the next count of records starts at 0. */
void records_reset(void);
bool records_too_many(void);
#endif
