#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tracee.h"

/* As the kernel follows. */
#define MAX_LINKS 40

static enum reading why(int error)
{
	return error == EACCES || error == EPERM ? READ_REFUSED : READ_WRONG;
}

bool find_process(pid_t thread, struct process *found)
{
	char name[64], text[2048];
	snprintf(name, sizeof name, "/proc/%d/status", thread);
	int fd = open(name, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	ssize_t length = read(fd, text, sizeof text - 1);
	close(fd);
	if (length <= 0)
		return false;
	text[length] = '\0';
	/* The name of the process is in the first line, with its line breaks escaped. */
	const char *pid = strstr(text, "\nTgid:"), *parent = strstr(text, "\nPPid:");
	if (!pid || !parent)
		return false;
	*found = (struct process){thread, atoi(pid + 6), atoi(parent + 6)};
	return true;
}

enum reading read_memory(pid_t thread, unsigned long long address, void *into, size_t size)
{
	char name[64];
	snprintf(name, sizeof name, "/proc/%d/mem", thread);
	int fd = open(name, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return why(errno);
	ssize_t length = pread(fd, into, size, (off_t)address);
	int error = errno;
	close(fd);
	if (length == (ssize_t)size)
		return READ_WHOLE;
	return length < 0 ? why(error) : READ_WRONG;
}

enum reading read_string(pid_t thread, unsigned long long address, char *into, size_t size, bool *is_cut)
{
	size_t used = 0;
	if (is_cut)
		*is_cut = false;
	while (used < size - 1) {
		/* Never over the end of a page: the next one may not exist. */
		size_t piece = 4096 - ((address + used) & 4095);
		if (piece > size - 1 - used)
			piece = size - 1 - used;
		enum reading got = read_memory(thread, address + used, into + used, piece);
		if (got != READ_WHOLE)
			return got;
		if (memchr(into + used, '\0', piece))
			return READ_WHOLE;
		used += piece;
	}
	into[used] = '\0';
	if (!is_cut)
		return READ_WRONG;
	*is_cut = true;
	return READ_WHOLE;
}

enum reading read_link(pid_t thread, const char *name, char *into, size_t size)
{
	char link[64];
	snprintf(link, sizeof link, "/proc/%d/%s", thread, name);
	ssize_t length = readlink(link, into, size - 1);
	if (length < 0)
		return why(errno);
	into[length] = '\0';
	return READ_WHOLE;
}

/* What `/proc/self` is for the observed thread; NULL for a path that is neither of the two names. */
static const char *own_name(const char *path, pid_t thread, char *into, size_t size)
{
	if (strcmp(path, "/proc/self") != 0 && strcmp(path, "/proc/thread-self") != 0)
		return NULL;
	snprintf(into, size, "%d", thread);
	return into;
}

/*
 * realpath(3) as the observed thread would get it: for the observer `/proc/self` is another process, by whatever way a
 * path leads there. `whole` is absolute. Where the last name does not exist, that of its folder with the name.
 * Returns 0, or why a folder cannot be entered.
 */
static int resolve(pid_t thread, const char *whole, char *into)
{
	char rest[2 * PATH_SIZE], next[2 * PATH_SIZE], link[PATH_SIZE], at[PATH_SIZE] = "", self[16];
	int links = 0;
	snprintf(rest, sizeof rest, "%s", whole);
	for (char *left = rest; *left;) {
		char *name = left + strspn(left, "/");
		size_t length = strcspn(name, "/");
		left = name + length;
		if (length == 0 || (length == 1 && *name == '.'))
			continue;
		if (length == 2 && strncmp(name, "..", 2) == 0) {
			char *last = strrchr(at, '/');
			if (last)
				*last = '\0';
			continue;
		}
		size_t used = strlen(at);
		if (used + 1 + length >= sizeof at)
			return ENAMETOOLONG;
		snprintf(at + used, sizeof at - used, "/%.*s", (int)length, name);
		const char *own = own_name(at, thread, self, sizeof self);
		ssize_t size = own ? (ssize_t)snprintf(link, sizeof link, "%s", own) : readlink(at, link, sizeof link - 1);
		if (size < 0) {
			if (errno == EINVAL)
				continue;
			/* A name that does not exist ends the path. */
			bool is_last = left[strspn(left, "/")] == '\0';
			snprintf(into, PATH_SIZE, "%s", at);
			return is_last && errno == ENOENT ? 0 : errno;
		}
		link[size] = '\0';
		if (++links > MAX_LINKS)
			return ELOOP;
		/* What a link of /proc leads to may have no path: a pipe, a file of memory, a deleted one. */
		if (!own && strncmp(at, "/proc/", 6) == 0 && (*link != '/' || access(link, F_OK) < 0)) {
			snprintf(into, PATH_SIZE, "%s", at);
			return 0;
		}
		at[*link == '/' ? 0 : used] = '\0';
		if ((size_t)snprintf(next, sizeof next, "%s%s", link, left) >= sizeof next)
			return ENAMETOOLONG;
		memcpy(rest, next, strlen(next) + 1);
		left = rest;
	}
	snprintf(into, PATH_SIZE, "%s", *at ? at : "/");
	return 0;
}

/* Whether a folder that is in use is another one than its path names, as that of a deleted folder does. */
static bool is_deleted(pid_t thread, const char *name, const char *from)
{
	char link[64];
	struct stat used, named;
	if (!strstr(from, " (deleted)"))
		return false;
	snprintf(link, sizeof link, "/proc/%d/%s", thread, name);
	return stat(link, &used) < 0 || stat(from, &named) < 0 || used.st_dev != named.st_dev || used.st_ino != named.st_ino;
}

enum reading real_path(pid_t thread, int directory, const char *path, char *into)
{
	char whole[2 * PATH_SIZE], from[PATH_SIZE], name[32];
	if (*path == '/') {
		snprintf(whole, sizeof whole, "%s", path);
	} else {
		if (directory == AT_FDCWD)
			snprintf(name, sizeof name, "cwd");
		else
			snprintf(name, sizeof name, "fd/%d", directory);
		enum reading got = read_link(thread, name, from, sizeof from);
		if (got != READ_WHOLE)
			return got;
		if (!*path) {
			/* A file of memory has no path. */
			if (access(from, F_OK) < 0)
				snprintf(into, PATH_SIZE, "/proc/%d/%s", thread, name);
			else
				snprintf(into, PATH_SIZE, "%s", from);
			return READ_WHOLE;
		}
		/* Its parent is a folder all the same, and only the kernel knows which. */
		if (strstr(path, "..") && is_deleted(thread, name, from))
			return READ_REFUSED;
		snprintf(whole, sizeof whole, "%s/%s", from, path);
	}
	if (strlen(whole) >= PATH_SIZE)
		return READ_WRONG;
	int error = resolve(thread, whole, into);
	if (error == 0)
		return READ_WHOLE;
	if (error == EACCES && strncmp(into, "/proc/", 6) == 0)
		return READ_REFUSED;
	snprintf(into, PATH_SIZE, "%.4000s", whole);
	return READ_WHOLE;
}
