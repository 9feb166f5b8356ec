/* See entry.h. */
#define _GNU_SOURCE
#include "entry.h"
#include "wire.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

static char kind_of(const struct stat *stat)
{
	switch (stat->st_mode & S_IFMT) {
	case S_IFREG:
		return 'f';
	case S_IFDIR:
		return 'd';
	case S_IFLNK:
		return 'l';
	case S_IFIFO:
		return 'p';
	case S_IFSOCK:
		return 's';
	case S_IFCHR:
		return 'c';
	default:
		return 'b';
	}
}

static void put_time(const struct timespec *time)
{
	wire_u64((uint64_t)time->tv_sec);
	wire_u32((uint32_t)time->tv_nsec);
}

void entry_put(const char *path, size_t length, const struct stat *stat, int flags, int directory, const char *name,
	       const char *problem)
{
	char target[PATH_MAX + 1];
	ssize_t target_length = 0;
	if (S_ISLNK(stat->st_mode)) {
		target_length = readlinkat(directory, name, target, sizeof target);
		if (target_length < 0) {
			target_length = 0;
			problem = "its target can't be read";
		}
	}
	if (S_ISCHR(stat->st_mode) && stat->st_rdev == makedev(0, 0))
		flags |= ENTRY_WHITEOUT;
	wire_u32((uint32_t)length);
	wire_bytes(path, length);
	wire_u8((uint8_t)kind_of(stat));
	wire_u8((uint8_t)flags);
	wire_u32(stat->st_mode & 07777);
	wire_u32(stat->st_uid);
	wire_u32(stat->st_gid);
	wire_u32((uint32_t)stat->st_nlink);
	wire_u64((uint64_t)stat->st_size);
	wire_u64((uint64_t)stat->st_blocks * 512);
	wire_u64(stat->st_ino);
	put_time(&stat->st_mtim);
	put_time(&stat->st_ctim);
	wire_u32((uint32_t)target_length);
	wire_bytes(target, (size_t)target_length);
	size_t problem_length = problem == NULL ? 0 : strlen(problem);
	wire_u32((uint32_t)problem_length);
	wire_bytes(problem, problem_length);
}

int entry_directory_flags(int fd)
{
	char value[8];
	int flags = 0;
	/* "x" marks a directory that holds whiteouts as attributes; run-claude's mounts make none. */
	ssize_t n = fgetxattr(fd, "user.overlay.opaque", value, sizeof value);
	if (n == 1 && value[0] == 'y')
		flags |= ENTRY_OPAQUE;
	else if (n >= 0)
		flags |= ENTRY_REDIRECT;
	if (fgetxattr(fd, "user.overlay.redirect", NULL, 0) >= 0)
		flags |= ENTRY_REDIRECT;
	return flags;
}

int entry_open_parent(int root, char *path, const char **name)
{
	int directory = fcntl(root, F_DUPFD_CLOEXEC, 3);
	char *at = path;
	for (char *slash; directory >= 0 && (slash = strchr(at, '/')) != NULL; at = slash + 1) {
		*slash = 0;
		int next = openat(directory, at, O_PATH | O_NOFOLLOW | O_DIRECTORY | O_CLOEXEC);
		int saved = errno;
		close(directory);
		errno = saved;
		directory = next;
	}
	*name = at;
	return directory;
}

int entry_open(int directory, const char *name, int flags)
{
	const struct timespec pause = { 0, 50 * 1000 * 1000 };
	/* O_NONBLOCK: a FIFO opens at once; a lease gives EWOULDBLOCK and is broken in the background. */
	for (int tries = 0;; tries++) {
		int fd = openat(directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC | flags);
		if (fd >= 0 || errno != EWOULDBLOCK || tries == 10)
			return fd;
		nanosleep(&pause, NULL);
	}
}
