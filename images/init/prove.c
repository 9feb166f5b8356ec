/*
 * The proof from inside: an engine may accept an option, show it in its record, and not apply it. This process runs
 * before any other program of the container, so the agent cannot have changed what it finds.
 *
 * Where a layer is missing, no attempt changes anything, except for one flag of this process, which it restores.
 */
#define _GNU_SOURCE
#include "prove.h"
#include "reach.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/ptrace.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define NO_ID 65534

static char found[4096];

__attribute__((format(printf, 1, 2))) static void weak(const char *format, ...)
{
	size_t used = strlen(found);
	if (used > 0 && used + 3 < sizeof found) {
		strcpy(found + used, "; ");
		used += 2;
	}
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(found + used, sizeof found - used, format, arguments);
	va_end(arguments);
}

/* The text of a small file without its last newline; NULL when it cannot be read. */
static const char *text_of(const char *path)
{
	static char text[8192];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	size_t size = 0;
	for (ssize_t got; size < sizeof text - 1 && (got = read(fd, text + size, sizeof text - 1 - size)) > 0;)
		size += got;
	close(fd);
	while (size > 0 && text[size - 1] == '\n')
		size--;
	text[size] = '\0';
	return text;
}

/* A field of /proc/self/status; all bits set when it is missing. */
static unsigned long long status_field(const char *name, int base)
{
	char start[32];
	snprintf(start, sizeof start, "\n%s:", name);
	const char *status = text_of("/proc/self/status");
	const char *at = status ? strstr(status, start) : NULL;
	return at ? strtoull(at + strlen(start), NULL, base) : ~0ULL;
}

static void capabilities(const char *asked)
{
	static const char *const sets[] = {"CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"};
	unsigned long long allowed = strtoull(asked, NULL, 16);
	for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
		unsigned long long set = status_field(sets[i], 16);
		if (set & ~allowed)
			weak("capabilities: %s is %llx", sets[i], set);
	}
}

static void no_new_privileges(void)
{
	if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1)
		weak("no new privileges: not set");
}

/*
 * The kernel does not show a filter's bytes to processes inside. So run-claude's profile is recognised by its effect, on
 * calls that the engines' own profiles allow, or that fail with another error without a filter.
 */
static void seccomp(void)
{
	if (status_field("Seccomp", 10) != 2) {
		weak("seccomp: no filter");
		return;
	}
	int made = -1;
#define REFUSED(name, wanted, call)                                                                                    \
	do {                                                                                                           \
		errno = 0;                                                                                             \
		long result = (call);                                                                                  \
		if (result >= 0 || errno != (wanted))                                                                  \
			weak("seccomp: not run-claude's profile, %s is not refused", name);                                     \
	} while (0)
	REFUSED("io_uring_setup", EPERM, syscall(SYS_io_uring_setup, 0, NULL));
	REFUSED("ptrace", EPERM, syscall(SYS_ptrace, PTRACE_GETREGSET, 0x7ffffff0, 0, 0));
	REFUSED("keyctl", EPERM, syscall(SYS_keyctl, -1, 0, 0, 0, 0));
	REFUSED("remap_file_pages", EPERM, syscall(SYS_remap_file_pages, 0, 0, 0, 0, 0));
	REFUSED("mknod of a device", EPERM, syscall(SYS_mknodat, -1, "", S_IFCHR, 0));
	/* TIOCSTI with a bit set that the kernel ignores. */
	REFUSED("TIOCSTI", EPERM, syscall(SYS_ioctl, -1, 0x100005412UL, NULL));
	REFUSED("clone3", ENOSYS, syscall(SYS_clone3, NULL, 0));
	REFUSED("AF_VSOCK", EPERM, made = socket(AF_VSOCK, SOCK_STREAM | SOCK_CLOEXEC, 0));
	REFUSED("becoming dumpable", EPERM, prctl(PR_SET_DUMPABLE, 1, 0, 0, 0));
	if (made >= 0)
		close(made);
	prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}

static void read_only_root(void)
{
	struct statvfs fs;
	if (statvfs("/", &fs) < 0 || !(fs.f_flag & ST_RDONLY))
		weak("read-only root: / is writable");
}

static bool is_absent(void)
{
	return errno == ENOENT || errno == ENOTDIR;
}

/* Masked: the null device over a file, an empty directory over a directory, or no entry at all. */
static void masked(const char *path)
{
	struct stat st;
	if (stat(path, &st) < 0) {
		if (!is_absent())
			weak("masked and read-only paths: %s is not masked", path);
		return;
	}
	bool empty = S_ISCHR(st.st_mode) && st.st_rdev == makedev(1, 3);
	if (S_ISDIR(st.st_mode)) {
		DIR *dir = opendir(path);
		int entries = 0;
		while (dir && entries < 3 && readdir(dir))
			entries++;
		/* Itself and its parent. */
		empty = dir && entries == 2;
		if (dir)
			closedir(dir);
	} else if (S_ISREG(st.st_mode)) {
		/* Some runtimes mount an empty file. A file that may not be read is not masked. */
		const char *text = text_of(path);
		empty = text && *text == '\0';
	}
	if (!empty)
		weak("masked and read-only paths: %s is not masked", path);
}

static void read_only(const char *path)
{
	struct statvfs fs;
	if (statvfs(path, &fs) < 0 ? !is_absent() : !(fs.f_flag & ST_RDONLY))
		weak("masked and read-only paths: %s is writable", path);
}

/* "name value", the value's numbers with a space between; the kernel writes a tab. */
static void kernel_setting(char *setting)
{
	char *value = strchr(setting, ' ');
	if (!value)
		return;
	*value++ = '\0';
	char path[256];
	snprintf(path, sizeof path, "/proc/sys/%s", setting);
	for (char *at = path + strlen("/proc/sys/"); *at; at++)
		if (*at == '.')
			*at = '/';
	const char *text = text_of(path);
	long asked[2] = {0, 0}, is[2] = {0, 0};
	int numbers = sscanf(value, "%ld %ld", &asked[0], &asked[1]);
	bool same = text && sscanf(text, "%ld %ld", &is[0], &is[1]) == numbers && is[0] == asked[0] && is[1] == asked[1];
	/* A range of no group, where users are remapped. */
	bool none = text && numbers == 2 && asked[0] > asked[1] && is[0] == NO_ID && is[1] == NO_ID;
	if (!same && !none)
		weak("no resolver, low ports or ping: %s is %s", setting, text ? text : "hidden");
}

static void process_limit(const char *asked)
{
	static const struct {
		const char *name;
		int resource;
	} kinds[] = {{"core", RLIMIT_CORE}, {"nofile", RLIMIT_NOFILE}};
	char name[16];
	unsigned long long wanted;
	if (sscanf(asked, "%15s %llu", name, &wanted) != 2)
		return;
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		struct rlimit is;
		if (strcmp(name, kinds[i].name) != 0)
			continue;
		if (getrlimit(kinds[i].resource, &is) < 0 || is.rlim_cur != wanted || is.rlim_max != wanted)
			weak("limits: %s is %llu:%llu", name, (unsigned long long)is.rlim_cur,
			     (unsigned long long)is.rlim_max);
	}
}

/* "name value": compared with the files of the control group, where they are visible. */
static void group_limit(const char *asked)
{
	static const struct {
		const char *name, *file;
	} files[] = {
		{"memory", "/sys/fs/cgroup/memory/memory.limit_in_bytes"},
		{"memory", "/sys/fs/cgroup/memory.max"},
		{"memory-and-swap", "/sys/fs/cgroup/memory/memory.memsw.limit_in_bytes"},
		{"swap", "/sys/fs/cgroup/memory.swap.max"},
		{"pids", "/sys/fs/cgroup/pids/pids.max"},
		{"pids", "/sys/fs/cgroup/pids.max"},
	};
	char name[32];
	unsigned long long wanted;
	if (sscanf(asked, "%31s %llu", name, &wanted) != 2)
		return;
	for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
		const char *text = strcmp(name, files[i].name) == 0 ? text_of(files[i].file) : NULL;
		char *end;
		if (text && (strtoull(text, &end, 10) > wanted || end == text))
			weak("limits: %s is %s", name, text);
	}
}

/* "path flags kilobytes", flags of n (noexec), or - for none; devices and setuid bits are off in every one of them. */
static void memory_files(const char *asked)
{
	char path[256], flags[8];
	unsigned long long kilobytes;
	struct statvfs fs;
	if (sscanf(asked, "%255s %7s %llu", path, flags, &kilobytes) != 3)
		return;
	if (statvfs(path, &fs) < 0) {
		weak("tmpfs options: %s cannot be seen", path);
		return;
	}
	unsigned long wanted = ST_NOSUID | ST_NODEV | (strchr(flags, 'n') ? ST_NOEXEC : 0);
	if ((fs.f_flag & wanted) != wanted)
		weak("tmpfs options: %s lacks nosuid, nodev or noexec", path);
	if (fs.f_blocks == 0 || fs.f_blocks * fs.f_frsize > kilobytes * 1024)
		weak("tmpfs options: %s is larger than asked for", path);
}

/* The kernel gives the host's first namespaces these numbers (include/linux/proc_ns.h). */
static void own_namespaces(void)
{
	static const struct {
		const char *name;
		unsigned first;
	} kinds[] = {{"ipc", 0xEFFFFFFF}, {"uts", 0xEFFFFFFE}, {"pid", 0xEFFFFFFC}, {"cgroup", 0xEFFFFFFB}};
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		char path[64];
		struct stat st;
		snprintf(path, sizeof path, "/proc/self/ns/%s", kinds[i].name);
		if (stat(path, &st) == 0 && st.st_ino == kinds[i].first)
			weak("namespaces: %s is the host's", kinds[i].name);
	}
	if (getpid() != 1)
		weak("namespaces: this is process %d, not the first", (int)getpid());
}

static void host_name(const char *asked)
{
	char name[128] = "";
	gethostname(name, sizeof name - 1);
	if (strcmp(name, asked) != 0)
		weak("namespaces: the host name is %s", name);
}

/* An interface that is in use has a route, or at least an IPv6 address; idle tunnels have neither. */
static void no_network(void)
{
	const char *routes = text_of("/proc/net/route");
	if (routes && strchr(routes, '\n'))
		weak("network none: there is a route");
	const char *line = text_of("/proc/net/if_inet6");
	while (line && *line) {
		char name[64];
		if (sscanf(line, "%*s %*s %*s %*s %*s %63s", name) == 1 && strcmp(name, "lo") != 0)
			weak("network none: the interface %s exists", name);
		line = strchr(line, '\n');
		line = line ? line + 1 : NULL;
	}
}

static void network_policy(const char *what)
{
	weak("network policy: %s", what);
}

static void unreachable(const char *place)
{
	reach_add(place);
}

const char *prove(char *asked)
{
	for (char *line = strsep(&asked, "\n"); line; line = strsep(&asked, "\n")) {
		char *rest = strchr(line, ' ');
		if (rest)
			*rest++ = '\0';
		else
			rest = line + strlen(line);
		static const struct {
			const char *name;
			void (*look)(void);
		} plain[] = {{"no-new-privileges", no_new_privileges}, {"seccomp", seccomp}, {"read-only-root", read_only_root},
			     {"own-namespaces", own_namespaces}, {"no-network", no_network}};
		static const struct {
			const char *name;
			void (*look)(const char *);
		} about[] = {{"capabilities", capabilities}, {"masked", masked}, {"read-only", read_only},
			     {"process-limit", process_limit}, {"group-limit", group_limit}, {"tmpfs", memory_files},
			     {"host-name", host_name}, {"unreachable", unreachable}};
		bool known = strcmp(line, "kernel-setting") == 0;
		if (known)
			kernel_setting(rest);
		for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
			if (strcmp(line, plain[i].name) == 0) {
				plain[i].look();
				known = true;
			}
		for (size_t i = 0; i < sizeof about / sizeof *about; i++)
			if (strcmp(line, about[i].name) == 0) {
				about[i].look(rest);
				known = true;
			}
		if (!known)
			weak("init does not know how to prove '%s'", line);
	}
	reach_none(network_policy);
	return found;
}
