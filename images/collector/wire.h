/*
 * The collector's frames: u32 length of the rest, u32 request id, u8 kind, payload; little endian.
 * src/workspace/collector/wire.ts is the other end.
 */
#ifndef RUN_CLAUDE_WIRE_H
#define RUN_CLAUDE_WIRE_H

#include <stddef.h>
#include <stdint.h>

#define WIRE_VERSION 1
#define WIRE_REQUEST_MAX 70000
#define WIRE_FRAME_MAX (256 * 1024)
/* Longer paths are refused by entry. */
#define WIRE_PATH_MAX 32768

struct request {
	uint32_t id;
	uint8_t op;
	const unsigned char *at;
	size_t left;
};

/* Frames are built in one buffer: begin, any number of puts, send. */
void wire_begin(uint32_t id, uint8_t kind);
void wire_u8(uint8_t value);
void wire_u32(uint32_t value);
void wire_u64(uint64_t value);
void wire_bytes(const void *bytes, size_t length);
size_t wire_length(void);
/* Room for length more bytes in the frame, or NULL; wire_skip() then counts them in. */
unsigned char *wire_room(size_t length);
void wire_skip(size_t length);
void wire_send(void);
void wire_error(uint32_t id, int number, const char *text);

/* 1: a request, 0: end of input. Ends the process on a malformed frame: the host is run-claude, so that is a bug. */
int wire_receive(struct request *request);
uint8_t wire_take_u8(struct request *request);
uint32_t wire_take_u32(struct request *request);
uint64_t wire_take_u64(struct request *request);
/* A string after its u32 length, copied and ended by a NUL. It contains no NUL itself. */
void wire_take_text(struct request *request, char *into, size_t size);

#endif
