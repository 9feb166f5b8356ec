/* What the files of the probes share. */
#pragma once

enum { STOPPED = 0, OPEN = 1, UNTESTABLE = 2 };

/*
 * One line of the table, when its layer is wanted: `probe` runs in a child, its exit status is the result, death by
 * SIGSYS is "stopped".
 */
void run(const char *name, const char *layer, int (*probe)(const void *), const void *argument, const char *why);

/* Ways out of the container's network. Nothing is sent: connecting a datagram socket only asks for a route. */
void probe_network(void);

/* Bombs. Each runs only when its limit was read first; without the limit it is "open" and does not run. */
void probe_limits(void);

/* What is visible of the host: names, resolvers, variables, device nodes, files with setuid bits. */
void probe_inside(void);

/* The preloaded guards, seen from another process of the same user. */
void probe_guards(void);
