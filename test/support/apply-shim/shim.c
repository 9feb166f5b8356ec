/*
 * Ends or fails a process at its n-th call that changes the disk, for crash tests of apply.
 *
 *   SHIM_AT=n          the n-th counted call (from 1); unset: only count
 *   SHIM_DO=kill|ERRNO kill: SIGKILL before the call is made; a number: the call fails with that errno
 *   SHIM_COUNT=FILE    at exit the number of counted calls is written there
 *   SHIM_RUN=TEXT      counting begins again when this is another text than before (a program can set it itself)
 *   SHIM_SNAP=DIR      before the n-th call SHIM_SCENE is copied to DIR/n: what a kill at this call would leave
 *   SHIM_EVERY=k       only before every k-th
 *
 * Counted: write, pwrite, rename, unlink, rmdir, mkdir, symlink, link, fsync, ftruncate, and what sets modes, owners
 * and times, as libuv calls them from Node's synchronous functions, in the main thread (fsync: in any) and only after the program created the file of SHIM_START (so that
 * Node's own start is not counted). Of writes those to regular files: Node wakes its own threads by writing too, now
 * and then, and a call must have the same number in every run.
 * cc -shared -fPIC -O1 -o shim.so shim.c -ldl
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

static long counted;
static int started;
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;

static char last_run[64];

static void snapshot(const char *dir, const char *scene) {
  char target[4096];
  snprintf(target, sizeof target, "%s/%ld", dir, counted);
  char *argv[] = {"cp", "-a", "--", (char *)scene, target, NULL};
  char *env[] = {"PATH=/usr/bin:/bin", NULL};
  pid_t pid;
  int status = 1;
  if (posix_spawnp(&pid, "cp", NULL, NULL, argv, env) != 0 || waitpid(pid, &status, 0) != pid || status != 0) abort();
}

/* 0: go on; otherwise the errno to fail with. */
static int counted_call(void) {
  const char *start = getenv("SHIM_START"), *at = getenv("SHIM_AT"), *what = getenv("SHIM_DO");
  if (!started) started = start == NULL || syscall(SYS_access, start, F_OK) == 0;
  if (!started) return 0;
  const char *run = getenv("SHIM_RUN");
  if (run != NULL && strcmp(run, last_run) != 0) {
    snprintf(last_run, sizeof last_run, "%s", run);
    counted = 0;
  }
  counted += 1;
  const char *every = getenv("SHIM_EVERY");
  if (getenv("SHIM_SNAP") != NULL && (every == NULL || counted % atol(every) == 0)) snapshot(getenv("SHIM_SNAP"), getenv("SHIM_SCENE"));
  if (at == NULL || what == NULL) return 0;
  if (strcmp(what, "kill") == 0) {
    if (counted == atol(at)) syscall(SYS_kill, getpid(), SIGKILL);
    return 0;
  }
  /* A disk that fails goes on failing, unless SHIM_ONCE says otherwise. */
  if (counted == atol(at) || (counted > atol(at) && getenv("SHIM_ONCE") == NULL)) return atoi(what);
  return 0;
}

static int in_turn(void) {
  pthread_mutex_lock(&turn);
  int failure = counted_call();
  pthread_mutex_unlock(&turn);
  return failure;
}

static int at_call(void) {
  return syscall(SYS_gettid) == getpid() ? in_turn() : 0;
}

static int is_file(int fd) {
  struct stat found;
  return fstat(fd, &found) == 0 && S_ISREG(found.st_mode);
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
  if (is_file(fd)) GATE;
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
/* Files of a batch are forced to the disk by threads of Node, of a session's store too, which does not concern apply. */
static int is_stored(int fd) {
  char link[64], target[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, target, sizeof target - 1);
  target[length < 0 ? 0 : length] = 0;
  return strstr(target, "/store/") != NULL;
}
int fsync(int fd) {
  int failure = syscall(SYS_gettid) == getpid() || !is_stored(fd) ? in_turn() : 0;
  if (failure != 0) {
    errno = failure;
    return -1;
  }
  return REAL(fsync)(fd);
}
int syncfs(int fd) {
  GATE;
  return REAL(syncfs)(fd);
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

int link(const char *from, const char *to) {
  GATE;
  return REAL(link)(from, to);
}
int chmod(const char *path, mode_t mode) {
  GATE;
  return REAL(chmod)(path, mode);
}
int chown(const char *path, uid_t uid, gid_t gid) {
  GATE;
  return REAL(chown)(path, uid, gid);
}
int fchown(int fd, uid_t uid, gid_t gid) {
  GATE;
  return REAL(fchown)(fd, uid, gid);
}
int lchown(const char *path, uid_t uid, gid_t gid) {
  GATE;
  return REAL(lchown)(path, uid, gid);
}
int utimensat(int dir, const char *path, const struct timespec times[2], int flags) {
  GATE;
  return REAL(utimensat)(dir, path, times, flags);
}
int futimens(int fd, const struct timespec times[2]) {
  GATE;
  return REAL(futimens)(fd, times);
}

__attribute__((destructor)) static void say_count(void) {
  const char *file = getenv("SHIM_COUNT");
  FILE *out = file == NULL ? NULL : fopen(file, "w");
  if (out == NULL) return;
  fprintf(out, "%ld\n", counted);
  fclose(out);
}
