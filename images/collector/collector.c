/*
 * Reads trees for the host: what the agent wrote, and the base below it. Runs in its own container, uid 0 with
 * exactly CAP_DAC_READ_SEARCH, no network, mounts read-only; speaks the frames of wire.h over stdin and stdout.
 *
 *   collector NAME=DIRECTORY...
 *
 * Never follows a link, never blocks on a FIFO, waits at most half a second for a lease, reads regular files only.
 * Compile: cc -std=c11 -O2 -Wall -Wextra -Werror -static -o collector *.c
 */
#define _GNU_SOURCE
#include "entry.h"
#include "walk.h"
#include "wire.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define ROOTS_MAX 16

static struct {
	const char *name;
	int fd;
} roots[ROOTS_MAX];
static int root_count;

static int find_root(struct request *request)
{
	char name[64];
	wire_take_text(request, name, sizeof name);
	for (int i = 0; i < root_count; i++)
		if (strcmp(roots[i].name, name) == 0)
			return roots[i].fd;
	return -1;
}

/* The parent of a path that is not empty. Refuses a component that is not a name. */
static int open_parent(int root, char *path, const char **name)
{
	if (root < 0 || path[0] == 0 || path[0] == '/') {
		errno = EINVAL;
		return -1;
	}
	for (const char *at = path; at != NULL; at = strchr(at, '/')) {
		if (*at == '/')
			at++;
		size_t length = strcspn(at, "/");
		if (length == 0 || (length <= 2 && strncmp(at, "..", length) == 0)) {
			errno = EINVAL;
			return -1;
		}
	}
	return entry_open_parent(root, path, name);
}

static void list(struct request *request)
{
	char path[WIRE_PATH_MAX];
	char below[WIRE_PATH_MAX];
	const char *name = ".";
	int root = find_root(request);
	int recursive = wire_take_u8(request);
	uint64_t max = wire_take_u64(request);
	wire_take_text(request, path, sizeof path);
	strcpy(below, path);
	int parent = path[0] == 0 ? fcntl(root, F_DUPFD_CLOEXEC, 3) : open_parent(root, path, &name);
	int start = parent < 0 ? -1 : entry_open(parent, name, O_DIRECTORY);
	int number = errno;
	if (parent >= 0)
		close(parent);
	if (start < 0)
		wire_error(request->id, number, strerror(number));
	else
		walk(request->id, start, below, recursive, max);
}

static void tell_stat(struct request *request)
{
	char path[WIRE_PATH_MAX];
	const char *name;
	struct stat stat;
	int root = find_root(request);
	wire_take_text(request, path, sizeof path);
	size_t length = strlen(path);
	char whole[WIRE_PATH_MAX];
	memcpy(whole, path, length + 1);
	int parent = open_parent(root, path, &name);
	int status = parent < 0 ? -1 : fstatat(parent, name, &stat, AT_SYMLINK_NOFOLLOW);
	int number = errno;
	if (status == 0) {
		wire_begin(request->id, 'S');
		entry_put(whole, length, &stat, 0, parent, name, NULL);
		wire_send();
	} else if (number == ENOENT || number == ENOTDIR) {
		wire_begin(request->id, 'N');
		wire_send();
	} else {
		wire_error(request->id, number, strerror(number));
	}
	if (parent >= 0)
		close(parent);
}

/* The bytes from at to end, as data frames. 0, or an error number. */
static int send_data(uint32_t id, int fd, off_t at, off_t end)
{
	while (at < end) {
		size_t want = WIRE_FRAME_MAX / 2;
		if ((off_t)want > end - at)
			want = (size_t)(end - at);
		wire_begin(id, 'D');
		ssize_t n = pread(fd, wire_room(want), want, at);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno;
		if (n == 0)
			return ESTALE; /* shorter than it was */
		wire_skip((size_t)n);
		wire_send();
		at += n;
	}
	return 0;
}

static void send_hole(uint32_t id, off_t length)
{
	wire_begin(id, 'Z');
	wire_u64((uint64_t)length);
	wire_send();
}

static int send_content(uint32_t id, int fd, off_t size)
{
	for (off_t at = 0; at < size;) {
		off_t data = lseek(fd, at, SEEK_DATA);
		if (data < 0 && errno == EINVAL)
			return send_data(id, fd, at, size); /* a file system without holes */
		if (data < 0 && errno != ENXIO)
			return errno; /* not the end of the data: what follows may be more than zeros */
		if (data < 0 || data > size)
			data = size;
		if (data > at)
			send_hole(id, data - at);
		if (data == size)
			return 0;
		off_t hole = lseek(fd, data, SEEK_HOLE);
		if (hole < 0 || hole > size)
			hole = size;
		int number = send_data(id, fd, data, hole);
		if (number != 0)
			return number;
		at = hole;
	}
	return 0;
}

static int same(const struct stat *a, const struct stat *b)
{
	return a->st_ino == b->st_ino && a->st_size == b->st_size && a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
	       a->st_mtim.tv_nsec == b->st_mtim.tv_nsec && a->st_ctim.tv_sec == b->st_ctim.tv_sec &&
	       a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

static void read_file(struct request *request)
{
	char path[WIRE_PATH_MAX];
	const char *name;
	struct stat before;
	struct stat after;
	int root = find_root(request);
	uint64_t max = wire_take_u64(request);
	wire_take_text(request, path, sizeof path);
	int number = 0;
	int fd = -1;
	int parent = open_parent(root, path, &name);
	/* Its type is read before it is opened: opening a device can have effects. */
	if (parent < 0 || fstatat(parent, name, &before, AT_SYMLINK_NOFOLLOW) != 0)
		number = errno;
	else if (!S_ISREG(before.st_mode))
		number = EINVAL;
	else if ((uint64_t)before.st_size > max)
		number = EFBIG;
	else if ((fd = entry_open(parent, name, 0)) < 0 || fstat(fd, &before) != 0)
		number = errno;
	else if (!S_ISREG(before.st_mode) || (uint64_t)before.st_size > max)
		number = ESTALE;
	if (number == 0)
		number = send_content(request->id, fd, before.st_size);
	if (number == 0 && (fstat(fd, &after) != 0 || !same(&before, &after)))
		number = ESTALE;
	if (number != 0) {
		wire_error(request->id, number, number == ESTALE ? "it changed while it was read" : strerror(number));
	} else {
		wire_begin(request->id, 'X');
		wire_u64((uint64_t)before.st_size);
		wire_u8(1);
		wire_send();
	}
	if (fd >= 0)
		close(fd);
	if (parent >= 0)
		close(parent);
}

static void tell_space(struct request *request)
{
	struct statvfs space;
	int root = find_root(request);
	if (root < 0 || fstatvfs(root, &space) != 0) {
		wire_error(request->id, root < 0 ? EINVAL : errno, "no space known");
		return;
	}
	wire_begin(request->id, 'F');
	wire_u64((uint64_t)space.f_blocks * space.f_frsize);
	wire_u64((uint64_t)space.f_bavail * space.f_frsize);
	wire_u64((uint64_t)space.f_bfree * space.f_frsize);
	wire_u64(space.f_files);
	wire_u64(space.f_ffree);
	wire_send();
}

int main(int argc, char **argv)
{
	/* It may read files that its user may not: no process of that user gets at its descriptors. */
	prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	/* An engine that stops signals every container first: the session can be read until the engine kills it. */
	signal(SIGTERM, SIG_IGN);
	for (int i = 1; i < argc; i++) {
		char *equals = strchr(argv[i], '=');
		if (equals == NULL || root_count == ROOTS_MAX) {
			fprintf(stderr, "usage: collector NAME=DIRECTORY...\n");
			return 2;
		}
		*equals = 0;
		roots[root_count].name = argv[i];
		roots[root_count].fd = open(equals + 1, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (roots[root_count++].fd < 0) {
			fprintf(stderr, "collector: %s: %s\n", equals + 1, strerror(errno));
			return 2;
		}
	}
	struct request request;
	while (wire_receive(&request)) {
		switch (request.op) {
		case 'H':
			wire_begin(request.id, 'H');
			wire_u32(WIRE_VERSION);
			wire_send();
			break;
		case 'L':
			list(&request);
			break;
		case 'R':
			read_file(&request);
			break;
		case 'S':
			tell_stat(&request);
			break;
		case 'F':
			tell_space(&request);
			break;
		default:
			wire_error(request.id, ENOSYS, "no such request");
		}
	}
	return 0;
}
