/*
 * The other end of every connection out. A container without network reaches nobody: this end answers instead, so that
 * what would come after an answer shows itself. Names get an address each, in a range that nobody has (198.18.0.0/15).
 */
#ifndef SINK_H
#define SINK_H
#include <netinet/in.h>
#include <poll.h>
#include <stdbool.h>

#define MAX_SINKS 128

bool sink_open(void);
/* A connected descriptor for the observed process, or -1. */
int sink_connect(bool is_nonblocking);
/* Fills in what to wait for; returns how many. */
int sink_polls(struct pollfd *into);
/* Answers what has arrived. `looked_up` is called for every name. */
void sink_serve(const struct pollfd *ready, int count, void (*looked_up)(const char *name));
void sink_close_all(void);
/* The name whose address this is; NULL for any other. */
const char *sink_name(struct in_addr address);
/* The name in a question of DNS; false where it is none. */
bool dns_name(const unsigned char *message, size_t length, char *into, size_t size);
#endif
