/* The calls of the observed tree: recorded, then continued or refused. */
#ifndef CALLS_H
#define CALLS_H
#include <stdbool.h>
#include <sys/types.h>

/* Of a new scene, whose first program (started by the process `first`) is `shell`. */
void calls_reset(pid_t first);
/* Takes one waiting call. False when the descriptor has none any more. */
bool calls_take(int listener);
void calls_looked_up(const char *name);
#endif
