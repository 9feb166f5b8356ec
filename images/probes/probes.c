/*
 * Attacks on the container, from inside it: one line of output for each.
 *
 *   probes [LAYER]...   ->   NAME <tab> LAYER <tab> stopped|open|untestable <tab> WHY
 *
 * Static, no shell, nothing left behind. Each probe runs in a child. "stopped" means stopped for the reason that the
 * layer gives (EPERM, SIGSYS, EROFS, an empty file), so that a kernel without the feature does not count as protection:
 * that is "untestable". Arguments are chosen so that a call that is not stopped fails harmlessly.
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
#include "probe.h"

/* Layers to try, or none: all. */
static char **wanted;

static bool is_wanted(const char *layer)
{
	for (char **one = wanted; *one; one++)
		if (strcmp(*one, layer) == 0)
			return true;
	return *wanted == NULL;
}

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

void run(const char *name, const char *layer, int (*probe)(const void *), const void *argument, const char *why)
{
	static const char *const words[] = {"stopped", "open", "untestable"};
	if (!is_wanted(layer))
		return;
	printf("%s\t%s\t%s\t%s\n", name, layer, words[in_child(probe, argument)], why);
	fflush(stdout);
}

/* A system call that the filter or a missing capability must refuse with EPERM (or, where noted, ENOSYS). */
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
		return errno == ENOENT ? UNTESTABLE : errno == EACCES ? STOPPED : OPEN;
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

/* PIDs other than ours and our ancestors in this namespace: few; and pid 2 is not a kernel thread. */
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

/* 1 is the limit with which the kernel neither writes a core nor starts the host's handler: it must stay. */
static int try_core(const void *unused)
{
	(void)unused;
	struct rlimit raised = {RLIM_INFINITY, RLIM_INFINITY}, lowered = {0, 0}, limit = {0, 0};
	syscall(SYS_setrlimit, RLIMIT_CORE, &raised);
	syscall(SYS_prlimit64, 0, RLIMIT_CORE, &lowered, NULL);
	syscall(SYS_prlimit64, 0, 0x100000000 + RLIMIT_CORE, &lowered, NULL);
	return getrlimit(RLIMIT_CORE, &limit) == 0 && limit.rlim_cur == 1 && limit.rlim_max == 1 ? STOPPED : OPEN;
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
static void no_32_bit_calls(int signal_number)
{
	(void)signal_number;
	_exit(UNTESTABLE);
}

/*
 * 32-bit calls by int 0x80: getpid must end the process. A kernel without them (no CONFIG_IA32_EMULATION) answers with
 * SIGSEGV before any filter is asked; a filter's SIGSYS passes by this handler.
 */
static int try_int80(const void *number)
{
	long r = *(const long *)number;
	signal(SIGSEGV, no_32_bit_calls);
	__asm__ volatile("int $0x80" : "+a"(r) : "b"(0), "c"(0), "d"(0) : "memory", "r8", "r9", "r10", "r11");
	return OPEN;
}
#endif

int main(int argc, char **argv)
{
	(void)argc;
	wanted = argv + 1;
	for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++)
		run(statuses[i][0], statuses[i][2], try_status, statuses[i], statuses[i][1]);
	for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
		run(calls[i].name, calls[i].layer, try_call, &calls[i], strerrorname_np(calls[i].expected));
	char name[64];
	for (int family = 3; family < 46; family++) {
		if (family == 10 || family == 16)
			continue;
		struct call socket_call = {"", "", SYS_socket, {family, family == 38 ? 5 : 1, 0}, EPERM};
		snprintf(name, sizeof name, "socket-family-%d", family);
		run(name, "seccomp", try_call, &socket_call, "EPERM");
	}
	for (int protocol = 1; protocol < 23; protocol++) {
		struct call socket_call = {"", "", SYS_socket, {16, 3, protocol}, EPERM};
		snprintf(name, sizeof name, "netlink-%d", protocol);
		run(name, "seccomp", try_call, &socket_call, "EPERM");
	}
	for (size_t i = 0; i < sizeof unwritable / sizeof *unwritable; i++) {
		snprintf(name, sizeof name, "write%s", unwritable[i]);
		run(name, "read-only root", try_write, unwritable[i], "EROFS or EACCES");
	}
	for (size_t i = 0; i < sizeof unwritable_kernel / sizeof *unwritable_kernel; i++) {
		snprintf(name, sizeof name, "write%s", unwritable_kernel[i]);
		run(name, "masked and read-only paths", try_write, unwritable_kernel[i], "EROFS or EACCES");
	}
	for (size_t i = 0; i < sizeof unreadable / sizeof *unreadable; i++) {
		snprintf(name, sizeof name, "read%s", unreadable[i]);
		run(name, "masked and read-only paths", try_read, unreadable[i], "empty or absent");
	}
	for (size_t i = 0; i < sizeof absent / sizeof *absent; i++) {
		snprintf(name, sizeof name, "exists%s", absent[i]);
		run(name, "nothing of the host inside", try_exists, absent[i], "ENOENT");
	}
	for (size_t i = 0; i < sizeof mounts / sizeof *mounts; i++) {
		snprintf(name, sizeof name, "mount%s", mounts[i].path);
		run(name, "tmpfs options", try_mount_flags, &mounts[i], "nosuid, nodev and so on");
	}
	run("host-processes", "namespaces", try_host_processes, NULL, "no kernel thread in sight");
	run("network-interfaces", "network none", try_network, NULL, "lo alone");
	probe_network();
	run("cgroup-path", "namespaces", try_cgroup, NULL, "/ alone");
	run("home-in-mountinfo", "nothing of the host inside", try_mountinfo, "/home/", "no host home");
	run("users-in-mountinfo", "nothing of the host inside", try_mountinfo, "/Users/", "no host home");
	run("core-limit", "limits", try_core, NULL, "stays 1");
#ifdef __x86_64__
	static const long numbers[] = {20, 102, 310};
	for (int i = 0; i < 3; i++) {
		snprintf(name, sizeof name, "int80-%ld", numbers[i]);
		run(name, "seccomp", try_int80, &numbers[i], "SIGSYS");
	}
#endif
	probe_limits();
	probe_inside();
	probe_guards();
	return 0;
}
