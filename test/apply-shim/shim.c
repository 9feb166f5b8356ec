/*
 * Ends or fails a process at its n-th call that changes the disk, for crash tests of apply.
 *
 *   SHIM_AT=n          the n-th counted call (from 1); unset: only count
 *   SHIM_DO=kill|ERRNO kill: SIGKILL before the call is made; a number: the call fails with that errno
 *   SHIM_COUNT=FILE    at exit the number of counted calls is written there
 *
 * Counted: write, pwrite, rename, unlink, rmdir, mkdir, symlink, fsync, ftruncate, fchmod, as libuv calls them from
 * Node's synchronous functions, in the main thread and only after the program created the file of SHIM_START (so that
 * Node's own start is not counted). Writes to descriptors 0 to 2 are not counted.
 * cc -shared -fPIC -O1 -o shim.so shim.c -ldl
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

static long counted;
static int started;

/* 0: go on; otherwise the errno to fail with. */
static int at_call(void) {
  const char *start = getenv("SHIM_START"), *at = getenv("SHIM_AT"), *what = getenv("SHIM_DO");
  if (syscall(SYS_gettid) != getpid()) return 0;
  if (!started) started = start == NULL || syscall(SYS_access, start, F_OK) == 0;
  if (!started) return 0;
  counted += 1;
  if (at == NULL || what == NULL) return 0;
  if (strcmp(what, "kill") == 0) {
    if (counted == atol(at)) syscall(SYS_kill, getpid(), SIGKILL);
    return 0;
  }
  /* A disk that fails goes on failing, unless SHIM_ONCE says otherwise. */
  if (counted == atol(at) || (counted > atol(at) && getenv("SHIM_ONCE") == NULL)) return atoi(what);
  return 0;
}

#define GATE                                                                                                           \
  do {                                                                                                                 \
    int failure = at_call();                                                                                           \
    if (failure != 0) {                                                                                                \
      errno = failure;                                                                                                 \
      return -1;                                                                                                       \
    }                                                                                                                  \
  } while (0)

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

ssize_t write(int fd, const void *data, size_t size) {
  if (fd > 2) GATE;
  return REAL(write)(fd, data, size);
}
ssize_t pwrite(int fd, const void *data, size_t size, off_t at) {
  GATE;
  return REAL(pwrite)(fd, data, size, at);
}
ssize_t pwrite64(int fd, const void *data, size_t size, off64_t at) {
  GATE;
  return REAL(pwrite64)(fd, data, size, at);
}
int rename(const char *from, const char *to) {
  GATE;
  return REAL(rename)(from, to);
}
int unlink(const char *path) {
  GATE;
  return REAL(unlink)(path);
}
int rmdir(const char *path) {
  GATE;
  return REAL(rmdir)(path);
}
int mkdir(const char *path, mode_t mode) {
  GATE;
  return REAL(mkdir)(path, mode);
}
int symlink(const char *target, const char *path) {
  GATE;
  return REAL(symlink)(target, path);
}
int fsync(int fd) {
  GATE;
  return REAL(fsync)(fd);
}
int ftruncate(int fd, off_t size) {
  GATE;
  return REAL(ftruncate)(fd, size);
}
int ftruncate64(int fd, off64_t size) {
  GATE;
  return REAL(ftruncate64)(fd, size);
}
int fchmod(int fd, mode_t mode) {
  GATE;
  return REAL(fchmod)(fd, mode);
}

__attribute__((destructor)) static void say_count(void) {
  const char *file = getenv("SHIM_COUNT");
  FILE *out = file == NULL ? NULL : fopen(file, "w");
  if (out == NULL) return;
  fprintf(out, "%ld\n", counted);
  fclose(out);
}
