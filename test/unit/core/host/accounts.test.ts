import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { idsInFiles, idsInSources } from '../../../../src/core/host/accounts.ts';
import { skipUnless } from '../../../support/requirement.ts';

let etc: string;
beforeAll(() => {
  etc = mkdtempSync(path.join(tmpdir(), 'run-claude-accounts-'));
  writeFileSync(
    path.join(etc, 'passwd'),
    'root:x:0:0:root:/root:/bin/sh\nada:x:61100:100::/home/ada:/bin/sh\n+@net::::::\n',
  );
  writeFileSync(path.join(etc, 'group'), 'root:x:0:\nadas:x:61102:ada\n');
  writeFileSync(path.join(etc, 'subuid'), 'ada:61104:2\n');
  writeFileSync(path.join(etc, 'subgid'), 'ada:61108:1\nbroken\n');
});
afterAll(() => rmSync(etc, { recursive: true, force: true }));

const IDS = Array.from({ length: 10 }, (_, index) => 61_100 + index);

it('finds users, groups and the ranges that users may map in the files of the system', () => {
  expect([...idsInFiles(IDS, { etc })]).toEqual([61_100, 61_102, 61_104, 61_105, 61_108]);
});

it('finds none where there are no such files', () => {
  expect([...idsInFiles(IDS, { etc: path.join(etc, 'none') })]).toEqual([]);
});

it('asks the other sources by an absolute path, with every number, and takes a partial answer', () => {
  const getent = path.join(etc, 'getent');
  const script =
    '#!/bin/sh\n[ $# = 11 ] || exit 1\n[ "$1" = passwd ] && echo "bea:*:61101:100::/:/bin/sh"\n[ "$1" = group ] && echo "beas:*:61103:"\nexit 2\n';
  writeFileSync(getent, script);
  chmodSync(getent, 0o755);
  expect([...idsInSources(IDS, { getent })]).toEqual([61_101, 61_103]);
  expect([...idsInSources(IDS, { getent: path.join(etc, 'none') })]).toEqual([]);
});

it('finds root in both on this machine', (context) => {
  skipUnless(process.platform === 'linux', 'needs Linux, which alone has getent', context);
  expect([...idsInFiles([0, 61_183])]).toContain(0);
  expect([...idsInSources([0, 61_183])]).toContain(0);
});
