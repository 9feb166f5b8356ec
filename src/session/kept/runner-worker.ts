import { encodeFrame, FRAME, type Frame, FrameReader } from './frames.ts';
import { editText, readText, writeText } from './inside/files.ts';
import { type RunningProgram, runProgram } from './inside/run-program.ts';
import { findFiles, searchText } from './inside/search.ts';
import { encodeResult, type FileRequest, jsonOf, type RunRequest, type TextResult } from './requests.ts';

// The runner of a kept session: one process inside its container that starts programs and works on files for the clients
// of the session, over its standard input and output. The host hands its text to Node inside, so nothing of it is stored
// where the agent could change it. It has the agent's user and layers, and ends with its input.

const programs = new Map<number, RunningProgram>();

const send = (frame: Buffer): void => void process.stdout.write(frame);

function take(frame: Frame): void {
  const { kind, id, bytes } = frame;
  const program = programs.get(id);
  if (kind === FRAME.start) start(id, jsonOf(bytes) as RunRequest | FileRequest);
  else if (kind === FRAME.input) program?.input(bytes);
  else if (kind === FRAME.inputEnd) program?.inputEnd();
  else if (kind === FRAME.signal) program?.signal(bytes.toString('utf8'));
  else if (kind === FRAME.taken) program?.taken(bytes.readUInt32BE(0));
  else if (kind === FRAME.cancel) program?.end();
}

function start(id: number, request: RunRequest | FileRequest): void {
  const fail = (error: unknown): void => {
    send(encodeFrame(FRAME.failure, id, Buffer.from(error instanceof Error ? error.message : String(error))));
  };
  try {
    if (request.kind === 'run') {
      programs.set(
        id,
        runProgram(id, request, send, () => void programs.delete(id)),
      );
      return;
    }
    answer(request).then((result) => send(encodeFrame(FRAME.result, id, encodeResult(result))), fail);
  } catch (error) {
    fail(error);
  }
}

function answer(request: FileRequest): Promise<TextResult> {
  switch (request.kind) {
    case 'read':
      return readText(request);
    case 'write':
      return writeText(request);
    case 'edit':
      return editText(request);
    case 'glob':
      return findFiles(request);
    case 'grep':
      return searchText(request);
  }
}

const reader = new FrameReader();
process.stdin.on('data', (piece: Buffer) => {
  for (const frame of reader.push(piece)) take(frame);
});
process.stdin.on('end', () => {
  for (const program of programs.values()) program.end();
  process.exit();
});
// Signals of a terminal or of the container's end are for the programs.
process.on('SIGINT', () => undefined);
process.on('SIGHUP', () => undefined);
send(encodeFrame(FRAME.hello, 0));
