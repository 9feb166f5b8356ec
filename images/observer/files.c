/* Files that are read, written, renamed, linked and deleted. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "record.h"
#include "seen.h"

static bool begins(const char *path, const char *with)
{
	return strncmp(path, with, strlen(with)) == 0;
}

/* Reads of the system that every program makes. */
static bool is_system(const char *path)
{
	static const char *const places[] = {"/usr/", "/lib/", "/lib64/", "/bin/", "/sbin/", "/opt/", "/etc/", "/sys/",
					     "/dev/"};
	for (size_t i = 0; i < sizeof places / sizeof *places; i++)
		if (begins(path, places[i]))
			return true;
	return false;
}

/* Of another process: its secrets. The rest of /proc is what ps and top read. */
static bool is_read_worth(const struct process *who, const char *path)
{
	if (!begins(path, "/proc/"))
		return !is_system(path);
	const char *name = strrchr(path, '/') + 1;
	int pid = atoi(path + 6);
	return pid > 0 && pid != who->pid && pid != who->thread && (strcmp(name, "environ") == 0 || strcmp(name, "mem") == 0);
}

static void record_path(const char *kind, const struct process *who, const char *path, bool is_old)
{
	/* A program that opens one file again and again. */
	static char last[PATH_SIZE];
	static pid_t of;
	static char as;
	if (of == who->pid && as == *kind && strcmp(last, path) == 0)
		return;
	of = who->pid;
	as = *kind;
	snprintf(last, sizeof last, "%s", path);
	open_record_of(kind, who);
	record_text("path", path);
	record_number("old", is_old);
	record_close();
}

static int name_of(const struct process *who, int folder, unsigned long long at, char *real)
{
	char path[PATH_SIZE];
	enum reading got = read_string(who->thread, at, path, sizeof path, NULL);
	if (got == READ_WHOLE)
		got = real_path(who->thread, folder, path, real);
	if (got == READ_WHOLE)
		return 0;
	*real = '\0';
	return misread(who, got);
}

static int opened(const struct process *who, int folder, unsigned long long at, unsigned long long flags)
{
	char real[PATH_SIZE];
	struct stat about;
	int wrong = name_of(who, folder, at, real);
	if (wrong || !*real)
		return wrong;
	bool exists = stat(real, &about) == 0;
	if ((flags & O_ACCMODE) == O_RDONLY && !(flags & (O_CREAT | O_TRUNC))) {
		/* A file that this program may not see into was read as well. */
		if ((exists ? S_ISREG(about.st_mode) : errno == EACCES) && is_read_worth(who, real))
			record_path("read", who, real, true);
		return 0;
	}
	if (!exists && !(flags & O_CREAT) && (flags & O_TMPFILE) != O_TMPFILE)
		return 0;
	if (!begins(real, "/dev/") && !begins(real, "/proc/"))
		record_path("write", who, real, exists);
	return 0;
}

static int changed(const struct process *who, const char *kind, int folder, unsigned long long at)
{
	char real[PATH_SIZE];
	int wrong = name_of(who, folder, at, real);
	if (!wrong && *real)
		record_path(kind, who, real, access(real, F_OK) == 0);
	return wrong;
}

/* A second name of a file lets it be read under that. */
static int renamed(const struct process *who, const char *kind, int from, unsigned long long old, int to,
		   unsigned long long new)
{
	int wrong = changed(who, kind, from, old);
	return wrong ? wrong : changed(who, "write", to, new);
}

static int opened_by(const struct process *who, const struct seccomp_data *data)
{
	struct open_how how;
	enum reading got = read_memory(who->thread, data->args[2], &how, sizeof how);
	if (got != READ_WHOLE)
		return misread(who, got);
	return opened(who, (int)data->args[0], data->args[1], how.flags);
}

int see_file(const struct process *who, const struct seccomp_notif *asked)
{
	const struct seccomp_data *data = &asked->data;
	const unsigned long long *a = (const unsigned long long *)data->args;
	switch (data->nr) {
	case SYS_openat:
		return opened(who, (int)a[0], a[1], a[2]);
	case SYS_openat2:
		return opened_by(who, data);
	case SYS_unlinkat:
		return changed(who, "delete", (int)a[0], a[1]);
	case SYS_truncate:
		return changed(who, "write", AT_FDCWD, a[0]);
	case SYS_renameat2:
#ifdef SYS_renameat
	case SYS_renameat:
#endif
		return renamed(who, "delete", (int)a[0], a[1], (int)a[2], a[3]);
	case SYS_linkat:
		return renamed(who, "read", (int)a[0], a[1], (int)a[2], a[3]);
	case SYS_symlinkat:
		return changed(who, "write", (int)a[1], a[2]);
#ifdef SYS_open
	case SYS_open:
		return opened(who, AT_FDCWD, a[0], a[1]);
	case SYS_creat:
		return opened(who, AT_FDCWD, a[0], O_CREAT | O_WRONLY | O_TRUNC);
	case SYS_unlink:
		return changed(who, "delete", AT_FDCWD, a[0]);
	case SYS_rename:
		return renamed(who, "delete", AT_FDCWD, a[0], AT_FDCWD, a[1]);
	case SYS_link:
		return renamed(who, "read", AT_FDCWD, a[0], AT_FDCWD, a[1]);
	case SYS_symlink:
		return changed(who, "write", AT_FDCWD, a[1]);
#endif
	default:
		/* The filter and this table belong together. */
		return evade(who, "unknown call", EPERM);
	}
}
