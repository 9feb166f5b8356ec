/* What the collector reports of one entry, and how it is found without following a link. */
#ifndef RUN_CLAUDE_ENTRY_H
#define RUN_CLAUDE_ENTRY_H

#include <stddef.h>
#include <sys/stat.h>

#define ENTRY_WHITEOUT 1
#define ENTRY_OPAQUE 2
/* An overlay attribute that run-claude's mounts never make: it is not trusted. */
#define ENTRY_REDIRECT 4

/* Appends the entry to the frame. directory and name find a link's target; problem is NULL or why it can't be read. */
void entry_put(const char *path, size_t length, const struct stat *stat, int flags, int directory, const char *name,
	       const char *problem);

/* Overlay marks of an open directory. */
int entry_directory_flags(int fd);

/*
 * Opens the directory that holds path's last component, each component without following a link, and points name at
 * that component. path is cut up. -1 with errno; the root itself has no parent: path must not be empty.
 */
int entry_open_parent(int root, char *path, const char **name);

/* Opens for reading without following, blocking on a FIFO or waiting for a lease (a short time at most). */
int entry_open(int directory, const char *name, int flags);

#endif
