/* What the files that look at one kind of calls share. Each returns 0 (go on), an error for the caller, or DONE. */
#ifndef SEEN_H
#define SEEN_H
#include <linux/seccomp.h>

#include "tracee.h"

/* The call was carried out already: it succeeds. */
#define DONE -1

/* Starts a record with the process that it is about. */
void open_record_of(const char *kind, const struct process *who);
/* Records an attempt to leave the observer's sight. Returns `error`. */
int evade(const struct process *who, const char *what, int error);
/* The answer to a call whose arguments were not read. */
int misread(const struct process *who, enum reading got);
/* It is about to ask for a name. */
void calls_asks(const struct process *who);
int see_file(const struct process *who, const struct seccomp_notif *asked);
#endif
