import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { collidingPaths, contentsOf, parseManifest } from '../../../../src/review/changeset/format.ts';

const DIGEST = 'a'.repeat(64);
const file = { kind: 'file', mode: 0o644, size: 3, digest: DIGEST };
const origin = { session: '261121-140512-k7p', tool: '0.1.0', exported: '2026-11-21T14:05:12Z' };
const set = (...changes: object[]): object => ({ format: 'run-claude change set', version: 1, origin, changes });
const made = (path: string, entry: object = file): object => ({ path, after: entry });

describe('parseManifest', () => {
  it('takes files, folders, links and deletions', () => {
    const changes = [
      made('src', { kind: 'dir', mode: 0o755, size: 0 }),
      made('src/ä b.ts'),
      made('link', { kind: 'symlink', mode: 0o777, size: 0, target: 'src/ä b.ts' }),
      { path: 'README', before: file },
      { path: 'readme', after: file },
      { path: 'secret', after: { ...file, digest: undefined }, unreadable: true },
    ];
    expect(parseManifest(set(...changes))).toMatchObject({ changes });
  });

  it.each([
    ['no change set', 'PK', /not a change set/],
    ['a later version', { ...set(), version: 2 }, /newer release .*version 2/],
    ['no list of changes', { ...set(), changes: {} }, /list of changes is damaged/],
    ['an absolute path', set(made('/etc/passwd')), /leads out/],
    ['a path that leaves the project', set(made('a/../../b')), /leads out/],
    ['an empty name', set(made('a//b')), /leads out/],
    ['a NUL', set(made('a\0b')), /leads out/],
    ['.git', set(made('.git/config')), /in a \.git/],
    ['.git in letters of HFS+', set(made('sub/.g\u0131t/../x')), /leads out/],
    ['.git by letter case', set(made('.GIT/hooks/pre-commit')), /in a \.git/],
    ['.git by its short name', set(made('GIT~1/config')), /in a \.git/],
    ['.git with a character that HFS+ ignores', set(made('.g\u200cit/config')), /control or invisible|in a \.git/],
    ['an escape sequence', set(made('a\x1b[2Jb')), /control or invisible/],
    ['a line feed', set(made('a\nb')), /control or invisible/],
    ['a bidirectional override', set(made('a\u202eb')), /control or invisible/],
    ['a byte that is not UTF-8', set(made('a\udcffb')), /control or invisible/],
    ['a name that is too long', set(made('x'.repeat(256))), /too long/],
    ['a path of very many folders', set(made(`${'a/'.repeat(2000)}x`)), /too many folders/],
    ['a device', set(made('a', { kind: 'char', mode: 0o644, size: 0 })), /damaged/],
    ['a hard link', set(made('a', { kind: 'link', mode: 0o644, size: 0, target: 'b' })), /damaged/],
    ['a file without a digest', set(made('a', { kind: 'file', mode: 0o644, size: 3 })), /content of a change/],
    ['a digest that is a path', set(made('a', { ...file, digest: '../x' })), /content of a change/],
    ['a folder with content', set(made('a', { ...file, kind: 'dir' })), /content of a change/],
    ['a link without a target', set(made('a', { kind: 'symlink', mode: 0o777, size: 0 })), /no valid target/],
    ['a file with a target', set(made('a', { ...file, target: '/etc' })), /content of a change/],
    ['a negative size', set(made('a', { ...file, size: -1 })), /size/],
    ['a size with a fraction', set(made('a', { ...file, size: 1.5 })), /size/],
    ['a huge size', set(made('a', { ...file, size: 2 ** 40 })), /size/],
    ['a mode with other bits', set(made('a', { ...file, mode: 0o100644 })), /mode/],
    ['one path twice', set(made('a'), made('a')), /two changes of one path/],
    ['names that differ in letter case', set(made('A'), made('a')), /letter case/],
    ['folders that differ in letter case', set(made('Src/a'), made('src/b')), /letter case/],
    ['names that differ in their Unicode form', set(made('e\u0301'), made('\u00e9')), /letter case/],
    ['a path below a file', set(made('a'), made('a/b')), /below a file/],
    [
      'a path below a link',
      set(made('a', { kind: 'symlink', mode: 0o777, size: 0, target: '/etc' }), made('a/b')),
      /below a file/,
    ],
    ['two sizes for one content', set(made('a'), made('b', { ...file, size: 4 })), /two sizes/],
    ['a change without sides', set({ path: 'a' }), /no content/],
    ['an origin that is text', { ...set(), origin: { ...origin, session: '\x1b]0;x\x07' } }, /origin/],
    ['a release that is text', { ...set(), origin: { ...origin, tool: 'x y' } }, /origin/],
    ['a time that is text', { ...set(), origin: { ...origin, exported: 'now' } }, /origin/],
  ])('refuses %s', (_, value, why) => {
    expect(parseManifest(value)).toEqual({ refused: expect.stringMatching(why) });
  });

  it('refuses more changes than its limit', () => {
    const many = Array.from({ length: 100_001 }, (_, at) => ({ path: `f${at}`, before: file }));
    expect(parseManifest(set(...many))).toEqual({ refused: 'it has more than 100000 changes' });
  });

  // A file of some megabytes would otherwise occupy `import` for hours: each folder of each path is opened and compared.
  it('refuses more folders than it may have changes', () => {
    const changes = Array.from({ length: 4000 }, (_, at) => made(`p${at}/${'a/'.repeat(120)}x`));
    expect(parseManifest(set(...changes))).toMatchObject({ refused: 'its paths are in too many folders' });
    expect(parseManifest(set(...changes.slice(0, 1000)))).not.toHaveProperty('refused');
  });

  it('refuses more content than its limit', () => {
    const large = Array.from({ length: 5 }, (_, at) =>
      made(`f${at}`, { ...file, size: 2 ** 31, digest: String(at).repeat(64) }),
    );
    expect(parseManifest(set(...large))).toEqual({ refused: expect.stringMatching(/take more than/) });
  });

  it('answers any JSON by a manifest of safe paths or one reason, and never throws', () => {
    const name = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('..', '.git', 'a', 'A', 'a/b', '/x', ''));
    const side = fc.record(
      {
        kind: fc.constantFrom('file', 'dir', 'symlink', 'fifo', 'link'),
        mode: fc.oneof(fc.integer(), fc.double()),
        size: fc.oneof(fc.nat(), fc.double()),
        digest: fc.oneof(fc.constant(DIGEST), fc.string()),
        target: fc.string(),
      },
      { requiredKeys: [] },
    );
    const changes = fc.array(
      fc.record({ path: name, before: side, after: side, unreadable: fc.boolean() }, { requiredKeys: [] }),
    );
    const value = fc.oneof(
      fc.jsonValue(),
      fc.record({ changes: fc.oneof(changes, fc.jsonValue()) }).map((one) => ({ ...set(), ...one })),
    );
    fc.assert(
      fc.property(value, (one) => {
        const found = parseManifest(one);
        if ('refused' in found) {
          expect(found.refused).toMatch(/^[\x20-\x7e]+$/);
          return;
        }
        for (const { path } of found.changes) {
          expect(path.split('/')).not.toContain('..');
          expect(path).not.toMatch(/^\/|(^|\/)\.git(\/|$)|[\u0000-\u001f]/i);
        }
      }),
      { numRuns: 150 },
    );
  });
});

describe('collidingPaths', () => {
  it('names every path of a collision, also through the folders above', () => {
    expect([...collidingPaths(['Src/a', 'src/b', 'other', 'src/c'])]).toEqual(['Src/a', 'src/b', 'src/c']);
    expect([...collidingPaths(['a/b', 'a/c', 'b'])]).toEqual([]);
  });
});

it('lists each new content once, in the order of its digest', () => {
  const other = { ...file, digest: '0'.repeat(64) } as const;
  const changes = [
    { path: 'b', after: file },
    { path: 'a', after: file },
    { path: 'c', before: file, after: other },
  ];
  expect(contentsOf(changes as never)).toEqual([
    { digest: other.digest, size: 3 },
    { digest: DIGEST, size: 3 },
  ]);
});
