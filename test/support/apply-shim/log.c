/*
 * Writes down every call of a process that changes the disk, with what it writes, for the replay of a power cut.
 *
 *   SHIM_LOG=FILE      one call a line, fields between tabs, bytes as hex; made before the program starts
 *   SHIM_START=FILE    begins when the program has made this file
 *
 * All threads are seen. Paths below /proc/self/fd are resolved. Only what lies below SHIM_SCENE is written down.
 * cc -shared -fPIC -O1 -o log.so log.c -ldl -lpthread
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
static int started;

static int is_on(void) {
  const char *start = getenv("SHIM_START");
  if (getenv("SHIM_LOG") == NULL || getenv("SHIM_SCENE") == NULL) return 0;
  if (!started) started = start == NULL || syscall(SYS_access, start, F_OK) == 0;
  return started;
}

/* The real place of a path; 0 when it is not one of the scene's. */
static int place(const char *path, char *out, size_t size) {
  int fd = -1, used = 0;
  if (sscanf(path, "/proc/self/fd/%d/%n", &fd, &used) == 1 && used > 0) {
    char link[64], target[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, target, sizeof target - 1);
    if (length < 0) return 0;
    target[length] = 0;
    snprintf(out, size, "%s/%s", target, path + used);
  } else snprintf(out, size, "%s", path);
  return strncmp(out, getenv("SHIM_SCENE"), strlen(getenv("SHIM_SCENE"))) == 0;
}

static int place_of(int fd, char *out, size_t size) {
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, out, size - 1);
  if (length < 0) return 0;
  out[length] = 0;
  return strncmp(out, getenv("SHIM_SCENE"), strlen(getenv("SHIM_SCENE"))) == 0;
}

static void say(const char *op, const char *path, const char *more, const unsigned char *bytes, size_t count) {
  size_t size = strlen(op) + strlen(path) + strlen(more) + 2 * count + 8;
  char *line = malloc(size);
  int at = snprintf(line, size, "%s\t%s\t%s\t", op, path, more);
  for (size_t i = 0; i < count; i++) at += sprintf(line + at, "%02x", bytes[i]);
  line[at++] = '\n';
  int fd = (int)syscall(SYS_openat, AT_FDCWD, getenv("SHIM_LOG"), O_WRONLY | O_APPEND);
  if (fd < 0 || syscall(SYS_write, fd, line, at) != at) abort();
  syscall(SYS_close, fd);
  free(line);
}

/* Makes the call and, when it worked, writes it down; both in one turn, so that the order is the real one. */
#define LOGGED(type, call, known, ...)                                                                                 \
  do {                                                                                                                 \
    if (!is_on()) return call;                                                                                         \
    char where[4200];                                                                                                  \
    pthread_mutex_lock(&turn);                                                                                         \
    int ours = known;                                                                                                  \
    type result = call;                                                                                                \
    if (ours && result >= 0) say(__VA_ARGS__);                                                                         \
    pthread_mutex_unlock(&turn);                                                                                       \
    return result;                                                                                                     \
  } while (0)

static int opened(const char *path, int flags, mode_t mode, int (*real)(const char *, int, ...)) {
  char where[4200];
  if (!is_on() || (flags & (O_CREAT | O_TRUNC)) == 0) return real(path, flags, mode);
  pthread_mutex_lock(&turn);
  int ours = place(path, where, sizeof where), there = syscall(SYS_access, path, F_OK) == 0;
  int fd = real(path, flags, mode);
  if (ours && fd >= 0 && !there) say("create", where, "", NULL, 0);
  else if (ours && fd >= 0 && (flags & O_TRUNC)) say("truncate", where, "0", NULL, 0);
  pthread_mutex_unlock(&turn);
  return fd;
}

int open(const char *path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  mode_t mode = va_arg(rest, mode_t);
  va_end(rest);
  return opened(path, flags, mode, REAL(open));
}
int open64(const char *path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  mode_t mode = va_arg(rest, mode_t);
  va_end(rest);
  return opened(path, flags, mode, REAL(open64));
}

static const char *number(long long value) {
  static __thread char text[32];
  snprintf(text, sizeof text, "%lld", value);
  return text;
}

/* Where write(2) will write. */
static const char *offset(int fd) {
  struct stat found;
  if (fcntl(fd, F_GETFL) & O_APPEND) return fstat(fd, &found) == 0 ? number(found.st_size) : "0";
  return number(lseek(fd, 0, SEEK_CUR));
}

ssize_t write(int fd, const void *data, size_t size) {
  const char *at = is_on() ? offset(fd) : "";
  LOGGED(ssize_t, REAL(write)(fd, data, size), place_of(fd, where, sizeof where), "write", where, at, data, size);
}
ssize_t pwrite(int fd, const void *data, size_t size, off_t at) {
  LOGGED(ssize_t, REAL(pwrite)(fd, data, size, at), place_of(fd, where, sizeof where), "write", where, number(at), data, size);
}
ssize_t pwrite64(int fd, const void *data, size_t size, off64_t at) {
  LOGGED(ssize_t, REAL(pwrite64)(fd, data, size, at), place_of(fd, where, sizeof where), "write", where, number(at), data, size);
}
int ftruncate(int fd, off_t size) {
  LOGGED(int, REAL(ftruncate)(fd, size), place_of(fd, where, sizeof where), "truncate", where, number(size), NULL, 0);
}
int ftruncate64(int fd, off64_t size) {
  LOGGED(int, REAL(ftruncate64)(fd, size), place_of(fd, where, sizeof where), "truncate", where, number(size), NULL, 0);
}
int fchmod(int fd, mode_t mode) {
  LOGGED(int, REAL(fchmod)(fd, mode), place_of(fd, where, sizeof where), "chmod", where, number(mode), NULL, 0);
}
int fsync(int fd) {
  LOGGED(int, REAL(fsync)(fd), place_of(fd, where, sizeof where), "sync", where, "", NULL, 0);
}
int fdatasync(int fd) {
  LOGGED(int, REAL(fdatasync)(fd), place_of(fd, where, sizeof where), "sync", where, "", NULL, 0);
}
/* Made by sync(1): it secures all that there is. */
int syncfs(int fd) {
  LOGGED(int, REAL(syncfs)(fd), place_of(fd, where, sizeof where), "syncfs", where, "", NULL, 0);
}
int mkdir(const char *path, mode_t mode) {
  LOGGED(int, REAL(mkdir)(path, mode), place(path, where, sizeof where), "mkdir", where, number(mode), NULL, 0);
}
int unlink(const char *path) {
  LOGGED(int, REAL(unlink)(path), place(path, where, sizeof where), "unlink", where, "", NULL, 0);
}
int rmdir(const char *path) {
  LOGGED(int, REAL(rmdir)(path), place(path, where, sizeof where), "unlink", where, "", NULL, 0);
}
int symlink(const char *target, const char *path) {
  LOGGED(int, REAL(symlink)(target, path), place(path, where, sizeof where), "symlink", where, target, NULL, 0);
}
int rename(const char *from, const char *to) {
  char other[4200];
  int known = is_on() && place(from, other, sizeof other);
  LOGGED(int, REAL(rename)(from, to), known && place(to, where, sizeof where), "rename", other, where, NULL, 0);
}
int link(const char *from, const char *to) {
  char other[4200];
  int known = is_on() && place(from, other, sizeof other);
  LOGGED(int, REAL(link)(from, to), known && place(to, where, sizeof where), "link", other, where, NULL, 0);
}
