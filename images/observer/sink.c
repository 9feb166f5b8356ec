#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "sink.h"

#define MAX_NAMES 1024
#define FIRST_ADDRESS 0xc6120001U /* 198.18.0.1 */
#define DNS_HEADER 12
#define TYPE_A 1

static int listener = -1;
static struct sockaddr_in place;
static int sinks[MAX_SINKS];
static int sink_count;
static char names[MAX_NAMES][256];
static int name_count;

static const char answer[] = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 12\r\n"
			     "Connection: close\r\n\r\n#!/bin/sh\n:\n";

bool sink_open(void)
{
	socklen_t length = sizeof place;
	place = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	return listener >= 0 && bind(listener, (struct sockaddr *)&place, sizeof place) == 0 && listen(listener, 64) == 0 &&
	       getsockname(listener, (struct sockaddr *)&place, &length) == 0;
}

int sink_connect(bool is_nonblocking)
{
	struct sockaddr_in own, peer;
	socklen_t length = sizeof own;
	if (sink_count == MAX_SINKS)
		return -1;
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -1;
	if (connect(fd, (struct sockaddr *)&place, sizeof place) < 0 ||
	    getsockname(fd, (struct sockaddr *)&own, &length) < 0)
		goto failed;
	for (;;) {
		length = sizeof peer;
		int end = accept4(listener, (struct sockaddr *)&peer, &length, SOCK_CLOEXEC | SOCK_NONBLOCK);
		if (end < 0)
			goto failed;
		if (peer.sin_port == own.sin_port) {
			sinks[sink_count++] = end;
			break;
		}
		/* A process connected without being joined. */
		close(end);
	}
	if (is_nonblocking)
		fcntl(fd, F_SETFL, O_NONBLOCK);
	return fd;
failed:
	close(fd);
	return -1;
}

int sink_polls(struct pollfd *into)
{
	for (int i = 0; i < sink_count; i++)
		into[i] = (struct pollfd){.fd = sinks[i], .events = POLLIN};
	return sink_count;
}

bool dns_name(const unsigned char *message, size_t length, char *into, size_t size)
{
	size_t at = DNS_HEADER, used = 0;
	if (length < DNS_HEADER + 5 || message[4] != 0 || message[5] != 1)
		return false;
	while (at < length && message[at] != 0) {
		size_t label = message[at++];
		if (label > 63 || at + label > length || used + label + 2 > size)
			return false;
		if (used)
			into[used++] = '.';
		memcpy(into + used, message + at, label);
		used += label;
		at += label;
	}
	into[used] = '\0';
	/* The text of a record ends at a NUL. */
	return used > 0 && strlen(into) == used && at + 5 <= length;
}

static unsigned int address_of(const char *name)
{
	for (int i = 0; i < name_count; i++)
		if (strcasecmp(names[i], name) == 0)
			return FIRST_ADDRESS + (unsigned int)i;
	if (name_count == MAX_NAMES)
		return FIRST_ADDRESS + MAX_NAMES;
	snprintf(names[name_count], sizeof *names, "%s", name);
	return FIRST_ADDRESS + (unsigned int)name_count++;
}

const char *sink_name(struct in_addr address)
{
	unsigned int at = ntohl(address.s_addr) - FIRST_ADDRESS;
	return at < (unsigned int)name_count ? names[at] : NULL;
}

/* Answers one question: an address for A, nothing for every other type. Returns the length of the answer. */
static size_t dns_answer(const unsigned char *question, size_t length, unsigned char *into, const char *name)
{
	size_t end = DNS_HEADER + strlen(name) + 2 + 4;
	if (end > length)
		return 0;
	bool has_address = question[end - 4] == 0 && question[end - 3] == TYPE_A;
	memcpy(into, question, end);
	into[2] = 0x81;
	into[3] = 0x80;
	memset(into + 6, 0, 6);
	if (!has_address)
		return end;
	into[7] = 1;
	unsigned int address = htonl(address_of(name));
	static const unsigned char record[] = {0xc0, DNS_HEADER, 0, TYPE_A, 0, 1, 0, 0, 0, 60, 0, 4};
	memcpy(into + end, record, sizeof record);
	memcpy(into + end + sizeof record, &address, 4);
	return end + sizeof record + 4;
}

/* False where this is not a question of DNS. A question may come with its length before it (TCP) or without. */
static bool serve_names(int fd, const unsigned char *data, size_t length, void (*looked_up)(const char *))
{
	unsigned char out[2 + 1024];
	char name[256];
	bool any = false;
	for (size_t at = 0; at + 2 < length;) {
		size_t size = (size_t)data[at] << 8 | data[at + 1], skipped = 2;
		if (size < DNS_HEADER || at + 2 + size > length) {
			if (any)
				return true;
			size = length;
			skipped = 0;
		}
		if (size > 900 || !dns_name(data + at + skipped, size, name, sizeof name))
			return any;
		any = true;
		looked_up(name);
		size_t made = dns_answer(data + at + skipped, size, out + 2, name);
		out[0] = (unsigned char)(made >> 8);
		out[1] = (unsigned char)made;
		if (made && send(fd, out + 2 - skipped, made + skipped, MSG_NOSIGNAL) < 0)
			return true;
		at += skipped + size;
	}
	return any;
}

void sink_serve(const struct pollfd *ready, int count, void (*looked_up)(const char *name))
{
	for (int i = count - 1; i >= 0; i--) {
		unsigned char data[16 * 1024];
		if (!ready[i].revents)
			continue;
		ssize_t length = recv(ready[i].fd, data, sizeof data, 0);
		if (length < 0 && (errno == EAGAIN || errno == EINTR))
			continue;
		if (length > 0 && serve_names(ready[i].fd, data, (size_t)length, looked_up))
			continue;
		/* 0x16: TLS, which no answer without a certificate would satisfy. */
		if (length > 0 && data[0] != 0x16)
			send(ready[i].fd, answer, sizeof answer - 1, MSG_NOSIGNAL);
		close(ready[i].fd);
		for (int at = 0; at < sink_count; at++)
			if (sinks[at] == ready[i].fd) {
				sinks[at] = sinks[--sink_count];
				break;
			}
	}
}

void sink_close_all(void)
{
	while (sink_count > 0)
		close(sinks[--sink_count]);
}
