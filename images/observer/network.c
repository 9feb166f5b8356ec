/* Connections, datagrams and ports. A connection out is joined to the sink. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "network.h"
#include "record.h"
#include "calls.h"
#include "sink.h"

#define NAMES_PORT 53
/* The most that the kernel takes of one call. */
#define MAX_MESSAGES 1024

struct target {
	char text[160];
	const char *name;
	int port;
	bool is_internet, is_loopback;
	/* Every program of the C library asks for it. */
	bool is_name_cache;
};

/* False for a family that reaches nobody. */
static bool parse(const struct sockaddr_storage *from, size_t length, struct target *to)
{
	const struct sockaddr_in *v4 = (const struct sockaddr_in *)from;
	const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)from;
	struct in_addr address;
	char text[INET6_ADDRSTRLEN];
	*to = (struct target){.name = NULL};
	if (from->ss_family == AF_UNIX) {
		const struct sockaddr_un *local = (const struct sockaddr_un *)from;
		size_t most = length > sizeof *local ? sizeof local->sun_path : length - sizeof local->sun_family;
		const char *path = local->sun_path;
		bool is_abstract = most > 0 && *path == '\0';
		snprintf(to->text, sizeof to->text, "unix:%s%.*s", is_abstract ? "@" : "", (int)most - is_abstract,
			 path + is_abstract);
		to->is_name_cache = strcmp(to->text, "unix:/var/run/nscd/socket") == 0;
		return true;
	}
	if (from->ss_family == AF_INET && length >= sizeof *v4) {
		address = v4->sin_addr;
		to->port = ntohs(v4->sin_port);
	} else if (from->ss_family == AF_INET6 && length >= sizeof *v6 - sizeof v6->sin6_scope_id) {
		to->port = ntohs(v6->sin6_port);
		if (IN6_IS_ADDR_V4MAPPED(&v6->sin6_addr)) {
			memcpy(&address, &v6->sin6_addr.s6_addr[12], sizeof address);
		} else if (IN6_IS_ADDR_LOOPBACK(&v6->sin6_addr) || IN6_IS_ADDR_UNSPECIFIED(&v6->sin6_addr)) {
			address.s_addr = htonl(INADDR_LOOPBACK);
		} else {
			inet_ntop(AF_INET6, &v6->sin6_addr, text, sizeof text);
			snprintf(to->text, sizeof to->text, "[%s]:%d", text, to->port);
			return to->is_internet = true;
		}
	} else {
		return false;
	}
	to->is_internet = true;
	to->is_loopback = ntohl(address.s_addr) >> 24 == 127 || address.s_addr == 0;
	to->name = sink_name(address);
	inet_ntop(AF_INET, &address, text, sizeof text);
	snprintf(to->text, sizeof to->text, "%s:%d", text, to->port);
	return true;
}

static void record_target(const char *kind, const struct process *who, const struct target *to)
{
	open_record_of(kind, who);
	record_text("to", to->text);
	if (to->name)
		record_text("name", to->name);
	record_close();
}

static enum reading read_target(const struct process *who, unsigned long long at, unsigned long long length,
				struct target *to, bool *reaches)
{
	struct sockaddr_storage address;
	memset(&address, 0, sizeof address);
	*reaches = false;
	/* The kernel refuses these. */
	if (length < sizeof address.ss_family || length > sizeof address)
		return READ_WHOLE;
	enum reading got = read_memory(who->thread, at, &address, (size_t)length);
	if (got == READ_WHOLE)
		*reaches = parse(&address, (size_t)length, to);
	return got;
}

/* Puts the sink's end in the place of the process's own socket. */
static int join_sink(const struct process *who, int listener, unsigned long long id, int fd)
{
	char name[64], text[256];
	snprintf(name, sizeof name, "/proc/%d/fdinfo/%d", who->thread, fd);
	int info = open(name, O_RDONLY | O_CLOEXEC);
	ssize_t length = info < 0 ? -1 : read(info, text, sizeof text - 1);
	if (info >= 0)
		close(info);
	if (length <= 0)
		return 0;
	text[length] = '\0';
	const char *at = strstr(text, "flags:");
	unsigned long flags = at ? strtoul(at + 6, NULL, 8) : 0;
	int end = sink_connect(flags & O_NONBLOCK);
	if (end < 0)
		return ECONNREFUSED;
	struct seccomp_notif_addfd into = {
		.id = id,
		.flags = SECCOMP_ADDFD_FLAG_SETFD,
		.srcfd = (unsigned int)end,
		.newfd = (unsigned int)fd,
		.newfd_flags = flags & O_CLOEXEC,
	};
	int put = ioctl(listener, SECCOMP_IOCTL_NOTIF_ADDFD, &into);
	close(end);
	return put < 0 ? ECONNREFUSED : DONE;
}

static int connected(const struct process *who, int listener, const struct seccomp_notif *asked)
{
	const unsigned long long *a = (const unsigned long long *)asked->data.args;
	struct target to;
	bool reaches;
	enum reading got = read_target(who, a[1], (unsigned int)a[2], &to, &reaches);
	if (got != READ_WHOLE)
		return misread(who, got);
	/* Port 0: the resolver asks the kernel for a route. */
	if (!reaches || to.is_name_cache || (to.is_internet && to.port == 0))
		return 0;
	bool asks_names = to.is_internet && to.port == NAMES_PORT;
	if (asks_names)
		calls_asks(who);
	if (!asks_names)
		record_target("connect", who, &to);
	bool goes_out = to.is_internet && !to.is_loopback;
	return goes_out || asks_names ? join_sink(who, listener, asked->id, (int)a[0]) : 0;
}

/* A datagram, or the first bytes of a connection, to an address of its own. */
static int sent(const struct process *who, unsigned long long address, unsigned long long address_length,
		unsigned long long data, unsigned long long length)
{
	struct target to;
	unsigned char message[512];
	char name[256];
	bool reaches;
	if (address == 0)
		return 0;
	enum reading got = read_target(who, address, (unsigned int)address_length, &to, &reaches);
	if (got != READ_WHOLE)
		return misread(who, got);
	if (!reaches)
		return 0;
	if (length > sizeof message)
		length = sizeof message;
	if (to.is_internet && to.port == NAMES_PORT &&
	    read_memory(who->thread, data, message, (size_t)length) == READ_WHOLE &&
	    dns_name(message, (size_t)length, name, sizeof name)) {
		calls_asks(who);
		calls_looked_up(name);
	} else
		record_target("connect", who, &to);
	return 0;
}

static int sent_message(const struct process *who, unsigned long long at)
{
	struct msghdr message;
	struct iovec first = {0};
	enum reading got = read_memory(who->thread, at, &message, sizeof message);
	if (got != READ_WHOLE)
		return misread(who, got);
	if (message.msg_iovlen > 0)
		read_memory(who->thread, (unsigned long long)message.msg_iov, &first, sizeof first);
	return sent(who, (unsigned long long)message.msg_name, message.msg_namelen, (unsigned long long)first.iov_base,
		    first.iov_len);
}

static int bound(const struct process *who, unsigned long long at, unsigned long long length)
{
	struct target to;
	bool reaches;
	enum reading got = read_target(who, at, length, &to, &reaches);
	if (got != READ_WHOLE)
		return misread(who, got);
	if (reaches && to.is_internet && to.port != 0)
		record_target("bind", who, &to);
	return 0;
}

int see_network(const struct process *who, int listener, const struct seccomp_notif *asked)
{
	const unsigned long long *a = (const unsigned long long *)asked->data.args;
	switch (asked->data.nr) {
	case SYS_connect:
		return connected(who, listener, asked);
	case SYS_bind:
		return bound(who, a[1], (unsigned int)a[2]);
	case SYS_sendto:
		return sent(who, a[4], a[5], a[1], a[2]);
	case SYS_sendmsg:
		return sent_message(who, a[1]);
	default: {
		unsigned int count = (unsigned int)a[2] > MAX_MESSAGES ? MAX_MESSAGES : (unsigned int)a[2];
		for (unsigned int i = 0; i < count; i++) {
			int error = sent_message(who, a[1] + i * sizeof(struct mmsghdr));
			if (error)
				return error;
		}
		return 0;
	}
	}
}
