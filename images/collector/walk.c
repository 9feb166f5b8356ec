/* Lists a tree by descriptors: no path is ever given to the kernel, so none is too long and none leads elsewhere. */
#define _GNU_SOURCE
#include "walk.h"
#include "entry.h"
#include "wire.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Each level holds a descriptor open. */
#define DEPTH_MAX 400

/*
 * What is below a folder of a longer path can never be applied, and each of its names would repeat that path: such a
 * folder is one entry with a problem. Linux takes paths of PATH_MAX bytes with their NUL.
 */
#define FOLDER_MAX (PATH_MAX - 2)

/* Some file systems give names of more than 255 bytes. */
static char path[WIRE_PATH_MAX + 1024];
static DIR *levels[DEPTH_MAX];
static size_t lengths[DEPTH_MAX];

static void batch(uint32_t id)
{
	if (wire_length() < WIRE_FRAME_MAX / 2)
		return;
	wire_send();
	wire_begin(id, 'E');
}

static const char *short_error(int number)
{
	return number == EWOULDBLOCK ? "held by a lease" : strerror(number);
}

/* Writes the entry. Returns an open directory to descend into, or NULL. */
static DIR *visit(int parent, const char *name, size_t length, size_t depth, int recursive)
{
	struct stat stat;
	if (fstatat(parent, name, &stat, AT_SYMLINK_NOFOLLOW) != 0) {
		if (errno == ENOENT)
			return NULL;
		memset(&stat, 0, sizeof stat);
		entry_put(path, length, &stat, 0, parent, name, short_error(errno));
		return NULL;
	}
	if (!S_ISDIR(stat.st_mode)) {
		entry_put(path, length, &stat, 0, parent, name, NULL);
		return NULL;
	}
	const char *problem = NULL;
	int flags = 0;
	DIR *down = NULL;
	int fd = entry_open(parent, name, O_DIRECTORY);
	if (fd < 0)
		problem = short_error(errno);
	else
		flags = entry_directory_flags(fd);
	if (fd >= 0 && ((recursive && depth == DEPTH_MAX) || length > FOLDER_MAX))
		problem = "too deep to be listed";
	if (fd >= 0 && problem == NULL && recursive) {
		down = fdopendir(fd);
		if (down == NULL)
			problem = short_error(errno);
	}
	if (fd >= 0 && down == NULL)
		close(fd);
	entry_put(path, length, &stat, flags, parent, name, problem);
	return down;
}

static void put_unlisted(size_t length, int number)
{
	struct stat stat;
	memset(&stat, 0, sizeof stat);
	stat.st_mode = S_IFDIR;
	entry_put(path, length, &stat, 0, -1, "", short_error(number));
}

void walk(uint32_t id, int start, const char *below, int recursive, uint64_t max)
{
	uint64_t count = 0;
	/* The root has no entry that could have a problem. */
	int root_error = 0;
	size_t depth = 0;
	size_t base = strlen(below);
	memcpy(path, below, base);
	if (base > 0)
		path[base++] = '/';
	DIR *first = fdopendir(start);
	if (first == NULL) {
		int number = errno;
		close(start);
		wire_error(id, number, strerror(number));
		return;
	}
	levels[depth] = first;
	lengths[depth++] = base;
	wire_begin(id, 'E');
	while (depth > 0 && count < max) {
		DIR *level = levels[depth - 1];
		size_t prefix = lengths[depth - 1];
		errno = 0;
		struct dirent *found = readdir(level);
		if (found == NULL) {
			/* Reports a directory that can't be listed to its end: entries that are missing were not deleted. */
			if (errno != 0 && prefix > 0)
				put_unlisted(prefix - 1, errno);
			else if (errno != 0)
				root_error = errno;
			closedir(level);
			depth--;
			batch(id);
			continue;
		}
		if (strcmp(found->d_name, ".") == 0 || strcmp(found->d_name, "..") == 0)
			continue;
		size_t length = prefix + strlen(found->d_name);
		if (length >= sizeof path) {
			put_unlisted(prefix - 1, ENAMETOOLONG);
			continue;
		}
		memcpy(path + prefix, found->d_name, length - prefix);
		count++;
		DIR *down = visit(dirfd(level), found->d_name, length, depth, recursive);
		if (down != NULL) {
			path[length] = '/';
			levels[depth] = down;
			lengths[depth++] = length + 1;
		}
		batch(id);
	}
	int whole = depth == 0;
	while (depth > 0)
		closedir(levels[--depth]);
	wire_send();
	if (root_error != 0) {
		wire_error(id, root_error, strerror(root_error));
		return;
	}
	wire_begin(id, 'X');
	wire_u64(count);
	wire_u8((uint8_t)whole);
	wire_send();
}
