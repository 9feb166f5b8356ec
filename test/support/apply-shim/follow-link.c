/*
 * link(2) and linkat(2) as macOS has them: a symbolic link as the source is followed. A new name of a folder is EPERM,
 * of a missing target ENOENT.
 * cc -shared -fPIC -O1 -o follow-link.so follow-link.c -ldl
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

int linkat(int from_dir, const char *from, int to_dir, const char *to, int flags) {
  return syscall(SYS_linkat, from_dir, from, to_dir, to, flags | AT_SYMLINK_FOLLOW);
}

int link(const char *from, const char *to) {
  return linkat(AT_FDCWD, from, AT_FDCWD, to, 0);
}
