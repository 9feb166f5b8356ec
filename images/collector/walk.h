#ifndef RUN_CLAUDE_WALK_H
#define RUN_CLAUDE_WALK_H

#include <stdint.h>

/* Sends the entries below an open directory (taken over), parents first, at most max, then the end frame. */
void walk(uint32_t id, int start, const char *below, int recursive, uint64_t max);

#endif
