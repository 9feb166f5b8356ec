import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import path from 'node:path';

/** The image's root without what no test runs, as one layer in a directory: the layer's file. */
export function imageLayer(image: string, dir: string, without: readonly string[]): string {
  const [rootfs, layer] = [path.join(dir, 'rootfs'), path.join(dir, 'layer.tar')];
  mkdirSync(rootfs);
  const id = execFileSync('docker', ['create', '--network', 'none', image, 'true'], { encoding: 'utf8' }).trim();
  try {
    const excluded = ['usr/share', 'usr/lib/python3*', ...without].map((name) => `--exclude=${name}`);
    const script = 'id=$1 dir=$2; shift 2; docker export "$id" | tar -x -p -C "$dir" "$@"';
    execFileSync('bash', ['-o', 'pipefail', '-c', script, 'unpack', id, rootfs, ...excluded]);
    execFileSync('tar', ['-c', '-C', rootfs, '-f', layer, '.']);
  } finally {
    execFileSync('docker', ['rm', id]);
    rmSync(rootfs, { recursive: true });
  }
  return layer;
}
