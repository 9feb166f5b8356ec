import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createTerminalFilter } from '../../../../src/terminal/attach/filter.ts';

function pass(...chunks: (string | Uint8Array)[]): { out: string; dropped: Readonly<Record<string, number>> } {
  const filter = createTerminalFilter();
  const out = Buffer.concat(chunks.map((chunk) => filter.write(Buffer.from(chunk))));
  return { out: out.toString('utf8'), dropped: filter.dropped() };
}

/** What the terminal must be sent to be whole again after this output. */
function restored(output: string): string {
  const filter = createTerminalFilter();
  filter.write(Buffer.from(output));
  return filter.end().toString();
}

describe('the filter of the attached terminal', () => {
  it.each([
    ['text', 'plain, naïve, 漢字, 👩‍💻\r\n\t\b'],
    ['colours', '\x1b[1;38;2;255;100;0mhot\x1b[0m \x1b[4:3mcurly\x1b[m'],
    ['cursor and erase', '\x1b[2J\x1b[H\x1b[10;20H\x1b[K\x1b[3A\x1b7\x1b8\x1b[?25l\x1b[?25h'],
    ['the other screen', '\x1b[?1049h\x1b[?2004h\x1b[?1000;1006h\x1b[?2026h\x1b[?2026l'],
    ['keyboard protocols', '\x1b[>1u\x1b[<u\x1b[>4;2m\x1b[=1;1u'],
    ['line drawing', '\x1b(0lqk\x1b(B'],
    ['a title', '\x1b]0;✳ Working\x07'],
    ['a web link', '\x1b]8;id=1;https://example.com/a?b=c\x07here\x1b]8;;\x07'],
  ])('passes %s unchanged', (_name, text) => {
    expect(pass(text)).toEqual({ out: text, dropped: {} });
  });

  it.each([
    ['clipboard write', 'clipboard', '\x1b]52;c;dG91Y2g=\x07'],
    ['clipboard write longer than any buffer', 'clipboard', `\x1b]52;c;${'A'.repeat(100_000)}\x07`],
    ['clipboard write ended by ST', 'clipboard', '\x1b]52;c;dG91Y2g=\x1b\\'],
    ['cursor position report', 'query', '\x1b[6n'],
    ['device attributes', 'query', '\x1b[c'],
    ['second device attributes', 'query', '\x1b[>0c'],
    ['DECID', 'query', '\x1bZ'],
    ['answer-back', 'query', '\x05'],
    ['terminal version', 'query', '\x1b[>q'],
    ['mode request', 'query', '\x1b[?2004$p'],
    ['keyboard flags query', 'query', '\x1b[?u'],
    ['background colour query', 'query', '\x1b]11;?\x07'],
    ['rectangle checksum', 'query', '\x1b[1;1;1;1;10;10*y'],
    ['title report', 'window', '\x1b[21t'],
    ['window resize', 'window', '\x1b[8;1;1t'],
    ['printing', 'printing', '\x1b[5i'],
    ['DECRQSS', 'device control', '\x1bP$qm\x1b\\'],
    ['tmux passthrough', 'clipboard', '\x1bPtmux;\x1b\x1b]52;c;QQ==\x07\x1b\\'],
    ['APC', 'device control', '\x1b_Gf=100;AAAA\x1b\\'],
    ['file transfer', 'other', '\x1b]1337;File=:QQ==\x07'],
    ['notification', 'other', '\x1b]777;notify;a;b\x07'],
    ['palette change', 'other', '\x1b]4;1;rgb:00/00/00\x07'],
    ['file link', 'link', '\x1b]8;;file:///etc/passwd\x07'],
    ['app link', 'link', '\x1b]8;;vscode://x\x07'],
    ['link with a control in it', 'link', '\x1b]8;;https://a/\x01b\x07'],
    ['8-bit CSI in UTF-8', 'other', '\u009b'],
    ['xterm highlight tracking', 'other', '\x1b[1;2;3;4;5T'],
    ['132 columns', 'other', '\x1b[?3h'],
    ['8-bit answers', 'other', '\x1b G'],
    ['endless CSI', 'other', `\x1b[${'1;'.repeat(400)}m`],
  ])('drops and counts %s', (_name, reason, text) => {
    const { out, dropped } = pass(`<${text}>`);
    expect(out.replace(/^<|>$/g, '')).not.toMatch(/[\x05\x1b\u0080-\u009f]/);
    expect(out.startsWith('<') && out.endsWith('>')).toBe(true);
    expect(dropped[reason]).toBeGreaterThan(0);
  });

  it('replaces bytes that are not valid UTF-8, 8-bit controls included', () => {
    expect(pass(Buffer.from([0x41, 0x9b, 0x42, 0xff, 0xe2, 0x82, 0x43])).out).toBe('A\ufffdB\ufffd\ufffdC');
  });

  it('passes the known modes of a list that also has an unknown one', () => {
    expect(pass('\x1b[?25;3;1049h').out).toBe('\x1b[?25;1049h');
  });

  it('gives the same output for chunks of any size', () => {
    const piece = fc.constantFrom(
      ...[
        '\x1b',
        '[',
        ']',
        'P',
        '\\',
        '?',
        '52;c;',
        '8;;https://a',
        '6n',
        'm',
        'h',
        '1049',
        ';',
        '\x07',
        '\x18',
        'é',
        '\x9c',
      ],
      ...['漢', 'text', '\x00', '\x1b]0;t\x07', '\x1b[31m', '\r\n', '👍', '\x1b[?25l'],
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), fc.array(fc.nat(60), { maxLength: 20 }), (pieces, cuts) => {
        const bytes = Buffer.from(pieces.join(''));
        const chunks: Uint8Array[] = [];
        let at = 0;
        for (const cut of cuts) {
          chunks.push(bytes.subarray(at, at + cut));
          at += cut;
        }
        chunks.push(bytes.subarray(at));
        expect(pass(...chunks)).toEqual(pass(bytes));
      }),
      { numRuns: 500 },
    );
  });

  it('gives output for random bytes that a second filter would not change', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 400 }), (bytes) => {
        const once = pass(bytes).out;
        expect(pass(once).out).toBe(once);
      }),
      { numRuns: 500 },
    );
  });

  it('buffers a bounded amount', () => {
    const filter = createTerminalFilter();
    filter.write(Buffer.from('\x1b]0;'));
    const before = process.memoryUsage().heapUsed;
    for (let i = 0; i < 200; i += 1) filter.write(Buffer.alloc(65_536, 0x41));
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(32 * 1024 * 1024);
  });

  it('restores exactly what the output changed', () => {
    // Text moves nothing: a terminal that knows no sequences gets none. A shift to other characters is undone.
    expect(restored('hello\r\n\x07')).toBe('');
    expect(restored('\x0ehello')).toContain('\x0f');
    expect(restored('\x1b[31mhello')).toContain('\x1b[0m');
    expect(restored('\x1b[31mhello')).not.toMatch(/1049|1000|2004|\x1b\[r/);
    const undone = restored(
      '\x1b[?1049h\x1b[?1003;1006h\x1b[?2004h\x1b[>1u\x1b[?25l\x1b[1;5r\x1b[5 q\x1b]0;x\x07\x1b[?7l',
    );
    for (const part of ['?1049l', '?1003l', '?1006l', '?2004l', '<1u', '?25h', '[r', '[0 q', ']2;', '?7h']) {
      expect(undone).toContain(part);
    }
    expect(restored('\x1b[?1003h\x1b[?1003l')).not.toContain('1003');
  });
});
