/* What the container shows of its host, and where its network leads. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "probe.h"

/* How the kernel writes an id that has no name in this user namespace (overflowgid). */
#define NO_ID 65534

static const struct way {
	const char *name, *address;
} ways[] = {
	{"route-metadata", "169.254.169.254"}, {"route-metadata-azure", "168.63.129.16"},
	{"route-metadata-ecs", "169.254.170.2"}, {"route-metadata-alibaba", "100.100.100.200"},
	{"route-engine-gateway", "172.17.0.1"}, {"route-desktop-host", "192.168.65.7"},
	{"route-lan-10", "10.0.0.1"}, {"route-lan-192", "192.168.1.1"}, {"route-internet", "1.1.1.1"},
};

/* Sends nothing. */
static int try_route(const void *address)
{
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(80)};
	inet_pton(AF_INET, address, &to.sin_addr);
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return UNTESTABLE;
	if (connect(fd, (struct sockaddr *)&to, sizeof to) == 0)
		return OPEN;
	return errno == ENETUNREACH ? STOPPED : UNTESTABLE;
}

/* A file has a line that begins with `text` (or, where `within`, contains it). */
static int file_says(const char *path, const char *text, int within)
{
	char line[1024];
	FILE *file = fopen(path, "r");
	if (!file)
		return -1;
	int found = 0;
	while (!found && fgets(line, sizeof line, file))
		found = within ? strstr(line, text) != NULL : strncmp(line, text, strlen(text)) == 0;
	fclose(file);
	return found;
}

static int try_abstract_sockets(const void *unused)
{
	(void)unused;
	int found = file_says("/proc/net/unix", " @", 1);
	return found < 0 ? UNTESTABLE : found ? OPEN : STOPPED;
}

void probe_network(void)
{
	for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
		run(ways[i].name, "network none", try_route, ways[i].address, "ENETUNREACH");
	run("abstract-sockets", "network none", try_abstract_sockets, NULL, "none of the host's");
}

/* A resolver other than loopback is the host's, and resolves names. */
static int try_resolver(const void *unused)
{
	(void)unused;
	char line[256];
	FILE *file = fopen("/etc/resolv.conf", "r");
	if (!file)
		return STOPPED;
	while (fgets(line, sizeof line, file))
		if (strncmp(line, "nameserver", 10) == 0 && !strstr(line, " 127."))
			return OPEN;
	return STOPPED;
}

static int try_low_port(const void *unused)
{
	(void)unused;
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(80), .sin_addr = {htonl(INADDR_LOOPBACK)}};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return UNTESTABLE;
	if (bind(fd, (struct sockaddr *)&at, sizeof at) == 0)
		return OPEN;
	return errno == EACCES ? STOPPED : UNTESTABLE;
}

/* An empty range reads as high below low, or, where users are remapped, as the ids of unmapped users. */
static int try_ping_range(const void *unused)
{
	(void)unused;
	long low = 0, high = 0;
	FILE *file = fopen("/proc/sys/net/ipv4/ping_group_range", "r");
	if (!file || fscanf(file, "%ld %ld", &low, &high) != 2)
		return UNTESTABLE;
	return low > high || (low == NO_ID && high == NO_ID) ? STOPPED : OPEN;
}

static int try_variable(const void *name)
{
	return getenv(name) ? OPEN : STOPPED;
}

static int try_hostname(const void *unused)
{
	(void)unused;
	char name[128] = "";
	gethostname(name, sizeof name - 1);
	return strcmp(name, "sandbox") == 0 ? STOPPED : OPEN;
}

static int strange_node(const char *path, const struct stat *st, int type, struct FTW *at)
{
	static const char *const usual[] = {"/dev/full", "/dev/null", "/dev/ptmx", "/dev/random", "/dev/tty",
					    "/dev/urandom", "/dev/zero", "/dev/console"};
	(void)type;
	(void)at;
	if (!S_ISCHR(st->st_mode) && !S_ISBLK(st->st_mode))
		return 0;
	if (strncmp(path, "/dev/pts/", 9) == 0)
		return 0;
	for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
		if (strcmp(path, usual[i]) == 0)
			return 0;
	return 1;
}

static int setid_file(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)path;
	(void)at;
	return type == FTW_F && (st->st_mode & (S_ISUID | S_ISGID)) != 0;
}

static int try_tree(const char *root, int (*found)(const char *, const struct stat *, int, struct FTW *))
{
	int result = nftw(root, found, 32, FTW_PHYS | FTW_MOUNT);
	return result < 0 ? UNTESTABLE : result > 0 ? OPEN : STOPPED;
}

static int try_device_nodes(const void *root)
{
	return try_tree(root, strange_node);
}

static int try_setid(const void *root)
{
	return try_tree(root, setid_file);
}

static const char *const variables[] = {
	"SSH_AUTH_SOCK", "AWS_SECRET_ACCESS_KEY", "GITHUB_TOKEN", "NPM_TOKEN", "KUBECONFIG", "DISPLAY",
	"XAUTHORITY", "DBUS_SESSION_BUS_ADDRESS", "DOCKER_HOST", "LD_PRELOAD",
};

static const char *const programs[] = {"/usr/bin", "/usr/sbin", "/usr/lib", "/usr/local", "/opt"};

void probe_inside(void)
{
	char name[64];
	run("resolver", "no resolver, low ports or ping", try_resolver, NULL, "loopback alone");
	run("low-port", "no resolver, low ports or ping", try_low_port, NULL, "EACCES");
	run("ping-range", "no resolver, low ports or ping", try_ping_range, NULL, "for no group");
	run("hostname", "namespaces", try_hostname, NULL, "sandbox");
	for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
		snprintf(name, sizeof name, "variable-%s", variables[i]);
		run(name, "environment allowlist", try_variable, variables[i], "not set");
	}
	run("device-nodes", "nothing of the host inside", try_device_nodes, "/dev", "the usual ones alone");
	for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
		snprintf(name, sizeof name, "setid%s", programs[i]);
		run(name, "no setuid bits", try_setid, programs[i], "no file has one");
	}
}
