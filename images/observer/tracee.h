/* What /proc tells of a process whose call is waiting. "Refused" and "wrong" differ: the first is an evasion. */
#ifndef TRACEE_H
#define TRACEE_H
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define PATH_SIZE 4096

enum reading { READ_WHOLE, READ_WRONG, READ_REFUSED };

struct process {
	pid_t thread, pid, parent;
};

/* False when it no longer exists. */
bool find_process(pid_t thread, struct process *found);
enum reading read_memory(pid_t thread, unsigned long long address, void *into, size_t size);
/* A string of at most size - 1 bytes; a longer one is wrong where `is_cut` is NULL. */
enum reading read_string(pid_t thread, unsigned long long address, char *into, size_t size, bool *is_cut);
/* What a link below /proc/THREAD leads to: "exe", "cwd", "fd/3". */
enum reading read_link(pid_t thread, const char *name, char *into, size_t size);
/* The real path of a path as the process would open it. Names a file that may not exist yet. */
enum reading real_path(pid_t thread, int directory, const char *path, char *into);
#endif
