/* Linked into the collector of a test with --wrap: a disk that fails in the middle of a file or of a list. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

off_t __real_lseek(int fd, off_t at, int whence);
struct dirent *__real_readdir(DIR *directory);

/* FAIL_SEEK=ERRNO: of SEEK_DATA behind the first byte. */
off_t __wrap_lseek(int fd, off_t at, int whence);
off_t __wrap_lseek(int fd, off_t at, int whence)
{
	const char *number = getenv("FAIL_SEEK");
	if (number != NULL && whence == SEEK_DATA && at > 0) {
		errno = atoi(number);
		return -1;
	}
	return __real_lseek(fd, at, whence);
}

/* FAIL_LIST=ERRNO: after three entries. */
struct dirent *__wrap_readdir(DIR *directory);
struct dirent *__wrap_readdir(DIR *directory)
{
	static int count;
	const char *number = getenv("FAIL_LIST");
	if (number != NULL && ++count > 3) {
		errno = atoi(number);
		return NULL;
	}
	return __real_readdir(directory);
}
