/*
 * Tries to reach what a network policy has to stop. A policy that no network plugin enforces is accepted by every cluster.
 *
 * api-server: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT, which the kubelet sets. name-server: the servers of
 * /etc/resolv.conf that are not on loopback, and the tenth address of the services' network, which most clusters use. Both
 * are asked over UDP, and by a TCP connection. Where the address is not known, there is nothing to try.
 */
#define _GNU_SOURCE
#include "reach.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define WAIT_MS 1000
/* A network plugin may enforce a policy some seconds after the start of the pod. */
#define SETTLE_MS 10000
#define MAX_PLACES 16
#define MAX_TRIES 32
#define NAME_PORT 53
/* The API server is the first address of the services' network. */
#define NAME_SERVER_OFFSET 9

struct address {
	union {
		struct sockaddr any;
		struct sockaddr_in four;
		struct sockaddr_in6 six;
	} to;
	socklen_t size;
};

/* A query for the root's name servers: "." NS IN. */
static const unsigned char QUERY[] = {0x52, 0x43, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 1};

static struct pollfd tries[MAX_TRIES];
static char names[MAX_TRIES][256];
static int count;

static bool parse(const char *text, int port, struct address *address)
{
	memset(address, 0, sizeof *address);
	if (inet_pton(AF_INET, text, &address->to.four.sin_addr) == 1) {
		address->to.four.sin_family = AF_INET;
		address->to.four.sin_port = htons(port);
		address->size = sizeof address->to.four;
		return true;
	}
	if (inet_pton(AF_INET6, text, &address->to.six.sin6_addr) == 1) {
		address->to.six.sin6_family = AF_INET6;
		address->to.six.sin6_port = htons(port);
		address->size = sizeof address->to.six;
		return true;
	}
	return false;
}

static reach_report *tell_mistake;
static int mistakes;

/* What no further try changes. */
static void mistake(const char *what)
{
	mistakes++;
	tell_mistake(what);
}

/* A datagram's refusal is an answer too: it came from the machine. */
static void begin(const char *name, const char *text, int port, int type, reach_report *report)
{
	struct address address;
	char what[256];
	if (port < 1 || port > 65535 || !parse(text, port, &address)) {
		snprintf(what, sizeof what, "%s %s port %d is not an address", name, text, port);
		mistake(what);
		return;
	}
	snprintf(what, sizeof what, "%s %s port %d%s answers", name, text, port, type == SOCK_DGRAM ? " (UDP)" : "");
	int fd = socket(address.to.any.sa_family, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0) {
		/* A kernel without IPv6 reaches no address of it. With another error nothing was tried. */
		if (errno != EAFNOSUPPORT) {
			snprintf(what, sizeof what, "%s %s port %d can't be tried", name, text, port);
			mistake(what);
		}
		return;
	}
	if (count == MAX_TRIES)
		mistake("too many places to try");
	else if (connect(fd, &address.to.any, address.size) < 0 && errno != EINPROGRESS) {
		if (errno == ECONNREFUSED)
			report(what);
	} else if (type == SOCK_STREAM || send(fd, QUERY, sizeof QUERY, MSG_NOSIGNAL) == (ssize_t)sizeof QUERY) {
		tries[count] = (struct pollfd){.fd = fd, .events = type == SOCK_STREAM ? POLLOUT : POLLIN};
		strcpy(names[count++], what);
		return;
	}
	close(fd);
}

static void begin_name_server(const char *text, reach_report *report)
{
	begin("the name server", text, NAME_PORT, SOCK_DGRAM, report);
	begin("the name server", text, NAME_PORT, SOCK_STREAM, report);
}

static void begin_name_servers(reach_report *report)
{
	char line[256], server[128];
	FILE *file = fopen("/etc/resolv.conf", "re");
	while (file && fgets(line, sizeof line, file))
		if (sscanf(line, "nameserver %127s", server) == 1 && strncmp(server, "127.", 4) != 0 && strcmp(server, "::1") != 0)
			begin_name_server(server, report);
	if (file)
		fclose(file);
	const char *api = getenv("KUBERNETES_SERVICE_HOST");
	struct address address;
	if (!api || !parse(api, NAME_PORT, &address))
		return;
	int family = address.to.any.sa_family;
	void *bytes = family == AF_INET ? (void *)&address.to.four.sin_addr : (void *)&address.to.six.sin6_addr;
	unsigned char *last = (unsigned char *)bytes + (family == AF_INET ? 3 : 15);
	*last += NAME_SERVER_OFFSET;
	if (inet_ntop(family, bytes, server, sizeof server))
		begin_name_server(server, report);
}

static void try_place(const char *place, reach_report *report)
{
	char name[32], text[128], unknown[128];
	int port;
	if (strcmp(place, "name-server") == 0) {
		begin_name_servers(report);
	} else if (strcmp(place, "api-server") == 0) {
		const char *host = getenv("KUBERNETES_SERVICE_HOST"), *service = getenv("KUBERNETES_SERVICE_PORT");
		if (host)
			begin("the API server", host, service ? atoi(service) : 443, SOCK_STREAM, report);
	} else if (sscanf(place, "%31s %127s %d", name, text, &port) == 3) {
		begin(name, text, port, SOCK_STREAM, report);
	} else {
		snprintf(unknown, sizeof unknown, "init does not know the place '%s'", place);
		mistake(unknown);
	}
}

static long long now_ms(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000LL + t.tv_nsec / 1000000;
}

static void wait_for_answers(reach_report *report)
{
	long long until = now_ms() + WAIT_MS;
	for (int open = count; open > 0;) {
		long long left = until - now_ms();
		if (poll(tries, count, left > 0 ? left : 0) < 1 && now_ms() >= until)
			break;
		for (int i = 0; i < count; i++) {
			int why = 0;
			socklen_t size = sizeof why;
			if (tries[i].fd < 0 || tries[i].revents == 0)
				continue;
			if (getsockopt(tries[i].fd, SOL_SOCKET, SO_ERROR, &why, &size) < 0 || why == 0 || why == ECONNREFUSED)
				report(names[i]);
			close(tries[i].fd);
			tries[i].fd = -1;
			open--;
		}
	}
	for (int i = 0; i < count; i++)
		if (tries[i].fd >= 0)
			close(tries[i].fd);
	count = 0;
}

static const char *places[MAX_PLACES];
static int place_count;
static int answers;

void reach_add(const char *place)
{
	if (place_count < MAX_PLACES)
		places[place_count] = place;
	place_count++;
}

static void count_answer(const char *what)
{
	(void)what;
	answers++;
}

static void try_all(reach_report *report)
{
	for (int i = 0; i < place_count; i++)
		try_place(places[i], report);
	wait_for_answers(report);
}

void reach_none(reach_report *report)
{
	long long until = now_ms() + SETTLE_MS;
	tell_mistake = report;
	if (place_count > MAX_PLACES)
		mistake("too many places to try");
	while (mistakes == 0 && now_ms() < until) {
		answers = 0;
		try_all(count_answer);
		if (answers == 0)
			return;
		nanosleep(&(struct timespec){.tv_nsec = WAIT_MS / 2 * 1000000L}, NULL);
	}
	if (mistakes == 0)
		try_all(report);
}
