import {
  existsSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { dropShortLinks, makeShortLinks } from '../../../../src/workspace/layer/short-links.ts';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(path.join(tmpdir(), 'run-claude-links-'));
});
afterEach(() => {
  dropShortLinks(dir);
  rmSync(dir, { recursive: true });
});

it('gives long paths short names, which the command after a killed one replaces', () => {
  const links = makeShortLinks(dir, { b: '/a,b:c\\d', u: '/upper' });
  expect(links).toMatch(/^\/tmp\/rc-\w{6}$/);
  expect(lstatSync(links).mode & 0o777).toBe(0o700);
  expect(readdirSync(links)).toEqual(['b', 'u']);
  expect(readlinkSync(path.join(links, 'b'))).toBe('/a,b:c\\d');

  const again = makeShortLinks(dir, { b: '/other' });
  expect([existsSync(links), existsSync(again)]).toEqual([false, true]);
  dropShortLinks(dir);
  expect([existsSync(again), readdirSync(dir)]).toEqual([false, []]);
});

it('their location is recorded before they are created', () => {
  const links = makeShortLinks(dir, {});
  rmSync(links, { recursive: true });
  expect(readFileSync(path.join(dir, 'links'), 'utf8')).toBe(links);
  dropShortLinks(dir);
  expect(readdirSync(dir)).toEqual([]);
});

it('removes nothing else, whatever the record contains', () => {
  const kept = mkdtempSync('/tmp/rc-kept-');
  try {
    for (const text of [kept, `${dir}/../${path.basename(kept)}`, '/tmp/rc-', '']) {
      writeFileSync(path.join(dir, 'links'), text);
      dropShortLinks(dir);
      expect(existsSync(kept), text).toBe(true);
    }
  } finally {
    rmSync(kept, { recursive: true });
  }
});
