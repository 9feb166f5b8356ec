#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tracee.h"

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

/* The real path of the folder, and the last name as it is: for a file that does not exist. */
static bool real_parent(const char *path, char *into)
{
	char folder[PATH_SIZE];
	const char *last = strrchr(path, '/');
	if (!last || (size_t)(last - path) >= sizeof folder)
		return false;
	memcpy(folder, path, (size_t)(last - path));
	folder[last - path] = '\0';
	char resolved[PATH_MAX];
	if (!realpath(*folder ? folder : "/", resolved))
		return false;
	int length = snprintf(into, PATH_SIZE, "%s/%s", strcmp(resolved, "/") == 0 ? "" : resolved, last + 1);
	return length < PATH_SIZE;
}

enum reading real_path(pid_t thread, int directory, const char *path, char *into)
{
	char whole[2 * PATH_SIZE], from[PATH_SIZE], name[32], resolved[PATH_MAX];
	/* These two mean another process to the observer. */
	if (strncmp(path, "/proc/self/", 11) == 0 || strncmp(path, "/proc/thread-self/", 18) == 0) {
		snprintf(whole, sizeof whole, "/proc/%d/%s", thread, strchr(path + 6, '/') + 1);
	} else if (*path == '/') {
		snprintf(whole, sizeof whole, "%s", path);
	} else {
		if (directory == AT_FDCWD)
			snprintf(name, sizeof name, "cwd");
		else
			snprintf(name, sizeof name, "fd/%d", directory);
		enum reading got = read_link(thread, name, from, sizeof from);
		if (got != READ_WHOLE)
			return got;
		snprintf(whole, sizeof whole, *path ? "%s/%s" : "%s", from, path);
	}
	if (strlen(whole) >= PATH_SIZE)
		return READ_WRONG;
	if (realpath(whole, resolved))
		snprintf(into, PATH_SIZE, "%s", resolved);
	else if (errno == EACCES && strncmp(whole, "/proc/", 6) == 0)
		return READ_REFUSED;
	else if (!real_parent(whole, into))
		snprintf(into, PATH_SIZE, "%.4000s", whole);
	return READ_WHOLE;
}
