/* Frames over stdin and stdout. See wire.h. */
#include "wire.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static unsigned char out[WIRE_FRAME_MAX];
static size_t out_length;
static unsigned char in[WIRE_REQUEST_MAX];

static void die(const char *why)
{
	fprintf(stderr, "collector: %s\n", why);
	exit(2);
}

static void put(uint64_t value, size_t bytes)
{
	if (out_length + bytes > sizeof out)
		die("frame too long");
	for (size_t i = 0; i < bytes; i++)
		out[out_length++] = (unsigned char)(value >> (8 * i));
}

void wire_begin(uint32_t id, uint8_t kind)
{
	out_length = 0;
	put(0, 4);
	put(id, 4);
	put(kind, 1);
}

void wire_u8(uint8_t value)
{
	put(value, 1);
}

void wire_u32(uint32_t value)
{
	put(value, 4);
}

void wire_u64(uint64_t value)
{
	put(value, 8);
}

void wire_bytes(const void *bytes, size_t length)
{
	unsigned char *room = wire_room(length);
	if (room == NULL)
		die("frame too long");
	if (length > 0)
		memcpy(room, bytes, length);
	out_length += length;
}

size_t wire_length(void)
{
	return out_length;
}

unsigned char *wire_room(size_t length)
{
	return length > sizeof out - out_length ? NULL : out + out_length;
}

void wire_skip(size_t length)
{
	out_length += length;
}

void wire_send(void)
{
	size_t length = out_length;
	out_length = 0;
	put(length - 4, 4);
	for (size_t done = 0; done < length;) {
		ssize_t n = write(STDOUT_FILENO, out + done, length - done);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			exit(0); /* the host has closed the connection */
		done += (size_t)n;
	}
	out_length = 0;
}

void wire_error(uint32_t id, int number, const char *text)
{
	wire_begin(id, '!');
	wire_u32((uint32_t)number);
	wire_bytes(text, strlen(text));
	wire_send();
}

static int receive_exact(unsigned char *into, size_t length)
{
	for (size_t done = 0; done < length;) {
		ssize_t n = read(STDIN_FILENO, into + done, length - done);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return 0;
		done += (size_t)n;
	}
	return 1;
}

int wire_receive(struct request *request)
{
	unsigned char head[4];
	if (!receive_exact(head, 4))
		return 0;
	struct request length = { 0, 0, head, 4 };
	uint32_t size = wire_take_u32(&length);
	if (size < 5 || size > sizeof in)
		die("request of a wrong length");
	if (!receive_exact(in, size))
		return 0;
	request->at = in;
	request->left = size;
	request->id = wire_take_u32(request);
	request->op = wire_take_u8(request);
	return 1;
}

static uint64_t take(struct request *request, size_t bytes)
{
	uint64_t value = 0;
	if (request->left < bytes)
		die("request too short");
	for (size_t i = 0; i < bytes; i++)
		value |= (uint64_t)request->at[i] << (8 * i);
	request->at += bytes;
	request->left -= bytes;
	return value;
}

uint8_t wire_take_u8(struct request *request)
{
	return (uint8_t)take(request, 1);
}

uint32_t wire_take_u32(struct request *request)
{
	return (uint32_t)take(request, 4);
}

uint64_t wire_take_u64(struct request *request)
{
	return take(request, 8);
}

void wire_take_text(struct request *request, char *into, size_t size)
{
	uint32_t length = wire_take_u32(request);
	if (length >= size || length > request->left || memchr(request->at, 0, length) != NULL)
		die("text in a request is wrong");
	memcpy(into, request->at, length);
	into[length] = 0;
	request->at += length;
	request->left -= length;
}
