/** The longest path that a call of the system takes, in bytes, with the NUL that ends it. */
const PATH_MAX: Partial<Record<NodeJS.Platform, number>> = { linux: 4096, darwin: 1024 };
const PATH_MAX_ELSEWHERE = 1024;

/** How many bytes an entry's path may have below each of these directories, so that the system takes the whole path. */
export function maxPathBytes(dirs: readonly string[], platform: NodeJS.Platform = process.platform): number {
  const longest = Math.max(...dirs.map((dir) => Buffer.byteLength(dir)));
  return (PATH_MAX[platform] ?? PATH_MAX_ELSEWHERE) - longest - '/\0'.length;
}
