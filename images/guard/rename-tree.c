/*
 * Preloaded into every dynamic program: renames a directory where the kernel's overlay refuses to. A directory of the
 * project is in the base, and the overlay answers EXDEV to its rename. `mv` copies then; `git mv`, Python's os.rename
 * and Node's fs.rename fail. Here the entries of the directory are renamed one by one.
 *
 * Compile: cc -shared -fPIC -O2 rename-tree.c -o rename-tree.so
 *
 * It is not a guard, and has only its caller's rights. The move is not atomic: a program that is killed during it leaves
 * entries on both sides, none twice and none lost. Static programs get EXDEV, as between two disks.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define DIRECTORY (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)

static int move_entry(int from_dir, const char *from, int to_dir, const char *to);

/* Raw calls: glibc has symbols for them since 2.33 only, and a custom image may be older. */
static int look(int dir, const char *name, struct stat *seen)
{
	return syscall(SYS_newfstatat, dir, name, seen, AT_SYMLINK_NOFOLLOW);
}

static int kernel_rename(int from_dir, const char *from, int to_dir, const char *to)
{
	return syscall(SYS_renameat2, from_dir, from, to_dir, to, 0);
}

/* An entry of a directory that moves. The kernel requires write permission on a directory that gets another parent, which
 * a rename of the directory above would not: the permission is added for the time of the rename. */
static int move_below(int from, int to, const char *name)
{
	struct stat was;
	if (move_entry(from, name, to, name) == 0)
		return 0;
	int error = errno, result = -1;
	if (error == EACCES && look(from, name, &was) == 0 && S_ISDIR(was.st_mode) &&
	    fchmodat(from, name, was.st_mode | 0700, 0) == 0) {
		result = move_entry(from, name, to, name);
		error = errno;
		fchmodat(result == 0 ? to : from, name, was.st_mode & 07777, 0);
	}
	errno = error;
	return result;
}

/* Everything in one directory into another one. Reads again until nothing is left: entries move away while it reads. */
static int move_entries(int from, int to)
{
	int copy = fcntl(from, F_DUPFD_CLOEXEC, 0);
	DIR *listing = copy < 0 ? NULL : fdopendir(copy);
	if (listing == NULL) {
		if (copy >= 0)
			close(copy);
		return -1;
	}
	bool found = true;
	int result = 0;
	while (found && result == 0) {
		found = false;
		rewinddir(listing);
		errno = 0;
		for (struct dirent *entry; result == 0 && (entry = readdir(listing)) != NULL;) {
			if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
				continue;
			found = true;
			result = move_below(from, to, entry->d_name);
		}
		if (!found && errno != 0)
			result = -1;
	}
	int error = errno;
	closedir(listing);
	errno = error;
	return result;
}

/* Moves a directory to a free name, with its mode and times, as a rename does. */
static int move_directory(int from_dir, const char *from, int to_dir, const char *to, const struct stat *was)
{
	struct stat made;
	int old = openat(from_dir, from, DIRECTORY), new = -1, result = -1;
	if (old < 0)
		return -1;
	if (mkdirat(to_dir, to, 0700) == 0 && (new = openat(to_dir, to, DIRECTORY)) >= 0 && look(to_dir, to, &made) == 0) {
		const struct timespec times[] = {was->st_atim, was->st_mtim};
		/* Another file system: EXDEV is the right answer. */
		if (made.st_dev != was->st_dev)
			errno = EXDEV;
		else if (((was->st_mode & 0700) == 0700 || fchmod(old, was->st_mode | 0700) == 0) &&
			   move_entries(old, new) == 0 && fchmod(new, was->st_mode & 07777) == 0 &&
			   futimens(new, times) == 0)
			result = unlinkat(from_dir, from, AT_REMOVEDIR);
	}
	int error = errno;
	/* Remove the new directory again if it is empty. */
	if (result != 0 && new >= 0)
		unlinkat(to_dir, to, AT_REMOVEDIR);
	close(old);
	if (new >= 0)
		close(new);
	errno = error;
	return result;
}

static int move_entry(int from_dir, const char *from, int to_dir, const char *to)
{
	struct stat was, there;
	if (kernel_rename(from_dir, from, to_dir, to) == 0)
		return 0;
	if (errno != EXDEV)
		return -1;
	bool stands = look(to_dir, to, &there) == 0;
	if (look(from_dir, from, &was) != 0 || !S_ISDIR(was.st_mode) || (stands && there.st_dev != was.st_dev)) {
		errno = EXDEV;
		return -1;
	}
	/* A rename replaces an empty directory. */
	if (stands && unlinkat(to_dir, to, AT_REMOVEDIR) != 0)
		return -1;
	return move_directory(from_dir, from, to_dir, to, &was);
}

int renameat(int from_dir, const char *from, int to_dir, const char *to)
{
	return move_entry(from_dir, from, to_dir, to);
}

int rename(const char *from, const char *to)
{
	return move_entry(AT_FDCWD, from, AT_FDCWD, to);
}
