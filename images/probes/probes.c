/*
 * Attacks on the container, from inside it: one line of output for each.
 *
 *   probes                 all of them:  NAME <tab> LAYER <tab> stopped|open|untestable <tab> WHY
 *   probes sys NR [ARG..]  one system call (number, s:TEXT or b:SIZE) -> ret=.. errno=..
 *
 * Static, no shell, nothing left behind. Each probe runs in a child. "stopped" means stopped for the reason that the
 * layer gives (EPERM, SIGSYS, EROFS, an empty file), so that a kernel without the feature is not taken for a wall:
 * that is "untestable". Arguments are chosen so that a call that passes the wall fails harmlessly right behind it.
 */
#define _GNU_SOURCE
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "calls.h"

enum { STOPPED = 0, OPEN = 1, UNTESTABLE = 2 };

static void say(const char *name, const char *layer, int result, const char *why)
{
	static const char *const words[] = {"stopped", "open", "untestable"};
	printf("%s\t%s\t%s\t%s\n", name, layer, words[result], why);
	fflush(stdout);
}

/* Runs `probe` in a child; its exit status is the result, death by SIGSYS is "stopped". */
static int in_child(int (*probe)(const void *), const void *argument)
{
	pid_t pid = fork();
	if (pid == 0)
		_exit(probe(argument));
	int status = 0;
	if (pid < 0 || waitpid(pid, &status, 0) < 0)
		return UNTESTABLE;
	if (WIFSIGNALED(status))
		return WTERMSIG(status) == SIGSYS ? STOPPED : OPEN;
	return WEXITSTATUS(status);
}

/* A system call that the filter or a missing capability must refuse with EPERM (or, where said, ENOSYS). */
static int try_call(const void *argument)
{
	const struct call *call = argument;
	static char block[4096];
	long a[6];
	for (int i = 0; i < 6; i++)
		a[i] = call->args[i] == BLOCK ? (long)block : call->args[i] == PATH ? (long)"/tmp" : call->args[i];
	if (call->number < 0)
		return UNTESTABLE;
	errno = 0;
	long r = syscall(call->number, a[0], a[1], a[2], a[3], a[4], a[5]);
	if (r < 0 && errno == call->expected)
		return STOPPED;
	if (r < 0 && (errno == ENOSYS || errno == EAFNOSUPPORT))
		return UNTESTABLE;
	return OPEN;
}

/* A path must not be writable: mkdir in it, or opening it for writing, is refused. */
static int try_write(const void *path)
{
	struct stat st;
	if (stat(path, &st) < 0)
		return errno == ENOENT || errno == EACCES ? STOPPED : OPEN;
	if (S_ISDIR(st.st_mode)) {
		char inside[256];
		snprintf(inside, sizeof inside, "%s/.probe", (const char *)path);
		if (mkdir(inside, 0700) < 0)
			return errno == EROFS || errno == EACCES || errno == EPERM ? STOPPED : OPEN;
		rmdir(inside);
		return OPEN;
	}
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	return fd < 0 ? STOPPED : OPEN;
}

/* A file must be empty, unreadable or absent; a directory must have no entries. */
static int try_read(const void *path)
{
	DIR *dir = opendir(path);
	if (dir) {
		for (struct dirent *entry; (entry = readdir(dir));)
			if (entry->d_name[0] != '.')
				return OPEN;
		return STOPPED;
	}
	char byte;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return STOPPED;
	return read(fd, &byte, 1) > 0 ? OPEN : STOPPED;
}

static int try_exists(const void *path)
{
	return access(path, F_OK) == 0 ? OPEN : STOPPED;
}

/* The value of a line "NAME:\tVALUE" of /proc/self/status is as wanted. */
static int try_status(const void *argument)
{
	const char *const *pair = argument;
	char line[256];
	FILE *file = fopen("/proc/self/status", "r");
	if (!file)
		return UNTESTABLE;
	while (fgets(line, sizeof line, file)) {
		size_t length = strlen(pair[0]);
		if (strncmp(line, pair[0], length) != 0 || line[length] != ':')
			continue;
		char *value = line + length + 1;
		while (isspace((unsigned char)*value))
			value++;
		value[strcspn(value, "\n")] = '\0';
		return strcmp(value, pair[1]) == 0 ? STOPPED : OPEN;
	}
	return UNTESTABLE;
}

/* PIDs other than ours and our ancestors in this namespace: few; and pid 2 is no kernel thread. */
static int try_host_processes(const void *unused)
{
	(void)unused;
	FILE *file = fopen("/proc/2/comm", "r");
	char name[64] = "";
	if (file && fgets(name, sizeof name, file) && strncmp(name, "kthreadd", 8) == 0)
		return OPEN;
	return STOPPED;
}

static int try_network(const void *unused)
{
	(void)unused;
	DIR *dir = opendir("/sys/class/net");
	if (!dir)
		return UNTESTABLE;
	for (struct dirent *entry; (entry = readdir(dir));)
		if (entry->d_name[0] != '.' && strcmp(entry->d_name, "lo") != 0)
			return OPEN;
	return STOPPED;
}

/* Mount options of a path: nosuid and nodev, and for some noexec. */
static int try_mount_flags(const void *argument)
{
	const struct mount_flags *mount = argument;
	struct statvfs fs;
	if (statvfs(mount->path, &fs) < 0)
		return UNTESTABLE;
	return (fs.f_flag & mount->flags) == mount->flags ? STOPPED : OPEN;
}

static int try_core(const void *unused)
{
	(void)unused;
	struct rlimit limit = {RLIM_INFINITY, RLIM_INFINITY};
	return setrlimit(RLIMIT_CORE, &limit) < 0 && errno == EPERM ? STOPPED : OPEN;
}

static int try_mountinfo(const void *word)
{
	char line[4096];
	FILE *file = fopen("/proc/self/mountinfo", "r");
	if (!file)
		return UNTESTABLE;
	while (fgets(line, sizeof line, file)) {
		char root[2048];
		if (sscanf(line, "%*d %*d %*s %2047s", root) == 1 && strstr(root, word) == root)
			return OPEN;
	}
	return STOPPED;
}

static int try_cgroup(const void *unused)
{
	(void)unused;
	char line[512];
	FILE *file = fopen("/proc/self/cgroup", "r");
	if (!file)
		return UNTESTABLE;
	while (fgets(line, sizeof line, file)) {
		char *path = strrchr(line, ':');
		if (path && strcmp(path, ":/\n") != 0)
			return OPEN;
	}
	return STOPPED;
}

#ifdef __x86_64__
/* 32-bit calls by int 0x80: getpid must end the process. */
static int try_int80(const void *number)
{
	long r = *(const long *)number;
	__asm__ volatile("int $0x80" : "+a"(r) : "b"(0), "c"(0), "d"(0) : "memory", "r8", "r9", "r10", "r11");
	return OPEN;
}
#endif

static int sys_once(int count, char **words)
{
	long a[6] = {0};
	for (int i = 1; i < count && i < 7; i++)
		a[i - 1] = strncmp(words[i], "s:", 2) == 0   ? (long)(words[i] + 2)
			   : strncmp(words[i], "b:", 2) == 0 ? (long)calloc(1, strtoul(words[i] + 2, NULL, 0))
							     : (long)strtoull(words[i], NULL, 0);
	long r = syscall(strtol(words[0], NULL, 0), a[0], a[1], a[2], a[3], a[4], a[5]);
	printf("ret=%ld errno=%d\n", r, r < 0 ? errno : 0);
	return r < 0;
}

int main(int argc, char **argv)
{
	if (argc > 2 && strcmp(argv[1], "sys") == 0)
		return sys_once(argc - 2, argv + 2);
	for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++)
		say(statuses[i][0], "capabilities", in_child(try_status, statuses[i]), statuses[i][1]);
	for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
		say(calls[i].name, calls[i].layer, in_child(try_call, &calls[i]), strerrorname_np(calls[i].expected));
	char name[64];
	for (int family = 3; family < 46; family++) {
		if (family == 10 || family == 16)
			continue;
		struct call socket_call = {"", "", SYS_socket, {family, family == 38 ? 5 : 1, 0}, EPERM};
		snprintf(name, sizeof name, "socket-family-%d", family);
		say(name, "seccomp", in_child(try_call, &socket_call), "EPERM");
	}
	for (int protocol = 1; protocol < 23; protocol++) {
		struct call socket_call = {"", "", SYS_socket, {16, 3, protocol}, EPERM};
		snprintf(name, sizeof name, "netlink-%d", protocol);
		say(name, "seccomp", in_child(try_call, &socket_call), "EPERM");
	}
	for (size_t i = 0; i < sizeof unwritable / sizeof *unwritable; i++) {
		snprintf(name, sizeof name, "write%s", unwritable[i]);
		say(name, "read-only root", in_child(try_write, unwritable[i]), "EROFS, EACCES or absent");
	}
	for (size_t i = 0; i < sizeof unreadable / sizeof *unreadable; i++) {
		snprintf(name, sizeof name, "read%s", unreadable[i]);
		say(name, "masked paths", in_child(try_read, unreadable[i]), "empty or absent");
	}
	for (size_t i = 0; i < sizeof absent / sizeof *absent; i++) {
		snprintf(name, sizeof name, "exists%s", absent[i]);
		say(name, "absent", in_child(try_exists, absent[i]), "ENOENT");
	}
	for (size_t i = 0; i < sizeof mounts / sizeof *mounts; i++) {
		snprintf(name, sizeof name, "mount%s", mounts[i].path);
		say(name, "mount options", in_child(try_mount_flags, &mounts[i]), "nosuid, nodev and so on");
	}
	say("host-processes", "namespaces", in_child(try_host_processes, NULL), "no kernel thread in sight");
	say("network-interfaces", "network none", in_child(try_network, NULL), "lo alone");
	say("cgroup-path", "namespaces", in_child(try_cgroup, NULL), "/ alone");
	say("home-in-mountinfo", "mounts", in_child(try_mountinfo, "/home/"), "no host home");
	say("users-in-mountinfo", "mounts", in_child(try_mountinfo, "/Users/"), "no host home");
	say("core-limit-raised", "limits", in_child(try_core, NULL), "EPERM");
#ifdef __x86_64__
	static const long numbers[] = {20, 102, 310};
	for (int i = 0; i < 3; i++) {
		snprintf(name, sizeof name, "int80-%ld", numbers[i]);
		say(name, "seccomp", in_child(try_int80, &numbers[i]), "SIGSYS");
	}
#endif
	return 0;
}
