import { describe, expect, it } from 'vitest';
import {
  countOf,
  encodeCount,
  encodeFrame,
  encodeJson,
  FRAME,
  type Frame,
  FrameReader,
  MAX_FRAME_BYTES,
} from '../../../../src/session/kept/frames.ts';

const read = (pieces: readonly Buffer[]): Frame[] => {
  const reader = new FrameReader();
  return pieces.flatMap((piece) => [...reader.push(piece)]);
};

describe('frames', () => {
  const sent = Buffer.concat([
    encodeFrame(FRAME.stdout, 1, Buffer.from('some output')),
    encodeFrame(FRAME.inputEnd, 4_000_000_000),
    encodeJson(FRAME.exit, 2, { status: 3 }),
    encodeCount(FRAME.taken, 3, 65_536),
  ]);

  it.each([1, 7, 9, 1000])('arrive whole in pieces of %i bytes', (size) => {
    const pieces = Array.from({ length: Math.ceil(sent.length / size) }, (_, at) =>
      sent.subarray(at * size, at * size + size),
    );
    const frames = read(pieces);
    expect(frames.map(({ kind, id }) => [kind, id])).toEqual([
      [FRAME.stdout, 1],
      [FRAME.inputEnd, 4_000_000_000],
      [FRAME.exit, 2],
      [FRAME.taken, 3],
    ]);
    expect(frames.map(({ bytes }) => bytes.toString('latin1')).slice(0, 3)).toEqual([
      'some output',
      '',
      '{"status":3}',
    ]);
    expect(countOf(frames[3] as Frame)).toBe(65_536);
  });

  it('are refused before their content arrives, when they are longer than any frame', () => {
    const frame = encodeFrame(FRAME.stdout, 1);
    frame.writeUInt32BE(MAX_FRAME_BYTES + 1, 0);
    expect(() => read([frame])).toThrow('not a frame');
  });

  it('are refused when their kind is unknown', () => {
    const frame = encodeFrame(FRAME.stdout, 1);
    frame.writeUInt8(99, 4);
    expect(() => read([frame])).toThrow('not a frame');
  });

  it('hold no number when they have not its length', () => {
    expect(countOf({ kind: FRAME.taken, id: 1, bytes: Buffer.from('abcde') })).toBe(0);
  });
});
