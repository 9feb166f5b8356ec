import { statfsSync } from 'node:fs';
import { execFileSync } from '../../core/host/programs/start-program.ts';

/** What doctor has to know of the file system of a directory. */
export interface FileSystem {
  /** As a user knows it, of those that are reached over a network: 'NFS'. */
  readonly network?: string;
  /** Of those on which overlayfs has no upper directory. Linux only: elsewhere the engine keeps the layers. */
  readonly withoutUpper?: string;
  readonly isInMemory?: true;
}

/** The file system of a directory that exists. */
export type FileSystemOf = (dir: string) => FileSystem;

// Magic numbers of statfs(2), linux/magic.h. On macOS the same field counts drivers in the order of their loading.
const LINUX: ReadonlyMap<number, FileSystem> = new Map<number, FileSystem>([
  ...[
    [0x6969, 'NFS'] as const,
    [0xff534d42, 'CIFS'] as const,
    [0xfe534d42, 'SMB'] as const,
    [0x517b, 'SMB'] as const,
    [0x01021997, '9p'] as const,
    [0x65735546, 'FUSE'] as const,
    [0x5346414f, 'AFS'] as const,
    [0x00c36400, 'Ceph'] as const,
  ].map(([type, name]): [number, FileSystem] => [type, { network: name, withoutUpper: name }]),
  [0x794c7630, { withoutUpper: 'overlay' }],
  [0xf15f, { withoutUpper: 'eCryptfs' }],
  [0x4d44, { withoutUpper: 'FAT' }],
  [0x01021994, { isInMemory: true }],
  [0x858458f6, { isInMemory: true }],
]);

/** Names of types, as mount(8) of macOS prints them. */
const MACOS: ReadonlyMap<string, FileSystem> = new Map([
  ['nfs', { network: 'NFS' }],
  ['smbfs', { network: 'SMB' }],
  ['afpfs', { network: 'AFP' }],
  ['webdav', { network: 'WebDAV' }],
  ['macfuse', { network: 'FUSE' }],
  ['osxfuse', { network: 'FUSE' }],
  ['tmpfs', { isInMemory: true }],
]);

/** How to find the file systems of this machine. What is unknown counts as a local disk. */
export function fileSystems(platform: NodeJS.Platform, env: NodeJS.ProcessEnv): FileSystemOf {
  if (platform === 'linux') return (dir) => LINUX.get(statfsSync(dir).type >>> 0) ?? {};
  const mounts = readMounts(env);
  return (dir) => {
    const holding = mounts.filter(({ point }) => dir === point || dir.startsWith(point === '/' ? '/' : `${point}/`));
    holding.sort((a, b) => b.point.length - a.point.length);
    return MACOS.get(holding[0]?.type ?? '') ?? {};
  };
}

/** From lines like `//me@server/share on /Volumes/share (smbfs, nodev, nosuid, mounted by me)`. */
function readMounts(env: NodeJS.ProcessEnv): readonly { readonly point: string; readonly type: string }[] {
  try {
    const lines = execFileSync('mount', { cwd: '/', encoding: 'utf8', env, stdio: ['ignore', 'pipe', 'ignore'] }).split(
      '\n',
    );
    return lines.flatMap((line) => {
      const [, point, type] = / on (\/.*) \(([\w.-]+)[^()]*\)$/.exec(line) ?? [];
      return point === undefined || type === undefined ? [] : [{ point, type }];
    });
  } catch {
    return [];
  }
}
