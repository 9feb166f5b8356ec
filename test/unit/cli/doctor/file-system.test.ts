import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { fileSystems } from '../../../../src/cli/doctor/file-system.ts';
import { hostChecks } from '../../../../src/cli/doctor/host-checks.ts';

// What mount(8) of macOS prints, for a stand-in on PATH.
const MOUNTS = `/dev/disk3s1s1 on / (apfs, sealed, local, read-only, journaled)
/dev/disk3s5 on /System/Volumes/Data (apfs, local, journaled, nobrowse, protect, root data)
map auto_home on /System/Volumes/Data/home (autofs, automounted, nobrowse)
//me@server/share on /Volumes/share (x) (smbfs, nodev, nosuid, mounted by me)
server:/export/home on /Network/homes (nfs, nodev, nosuid, automounted)
tmpfs on /Volumes/ram (tmpfs, local)
`;

let dir: string;
beforeAll(() => {
  dir = mkdtempSync(path.join(tmpdir(), 'run-claude-mounts-'));
  writeFileSync(path.join(dir, 'mount'), `#!/bin/sh\ncat <<'END'\n${MOUNTS}END\n`);
  chmodSync(path.join(dir, 'mount'), 0o755);
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const onMac = (bin = dir) => fileSystems('darwin', { PATH: `${bin}:/usr/bin:/bin` });

it('of macOS are recognised by the names of their types', () => {
  const fileSystem = onMac();
  for (const [place, expected] of [
    ['/Users/me', {}],
    ['/System/Volumes/Data/x', {}],
    ['/Network/homes/me', { network: 'NFS' }],
    ['/Network/homes2', {}],
    ['/Volumes/share (x)', { network: 'SMB' }],
    ['/Volumes/ram/tmp', { isInMemory: true }],
  ] as const)
    expect(fileSystem(place), place).toEqual(expected);
});

it('of macOS that cannot be read are local disks', () => {
  expect(fileSystems('darwin', { PATH: '/nowhere' })('/Network/homes')).toEqual({});
});

it('of Linux are recognised by their numbers', () => {
  expect(fileSystems('linux', {})('/dev/shm')).toEqual({ isInMemory: true });
});

it('are named in the warning of a home directory on a network', () => {
  const places = { home: '/', stateDir: '/state', cacheDir: '/cache', dataDir: '/data', configDir: '/config' };
  const home = hostChecks(
    { places },
    () => 100_000,
    () => ({ network: 'SMB' }),
  ).find(({ name }) => name === 'home');
  expect(home).toMatchObject({ result: 'warning', text: '/ is on a network file system (SMB)' });
});
