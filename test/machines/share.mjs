/** A directory of this machine that a guest mounts, as virtual machines mount folders of a Mac or of Windows. */
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';

const PORT = 5640;
/** Names for the server, which looks up its client and the user that owns everything. */
const FILES = (/** @type {string} */ guest) => ({
  hosts: `127.0.0.1 localhost\n${guest} guest\n`,
  passwd: 'root:x:0:0::/:/bin/sh\nnobody:x:65534:65534::/:/bin/sh\ndev:x:1000:1000::/:/bin/sh\n',
  group: 'root:x:0:\nnogroup:x:65534:\ndev:x:1000:\n',
});
/** These mounts are seen by the server alone: `ip netns exec` makes a mount namespace. */
const SERVE = `cd "$1"; for file in hosts passwd group; do mount --bind "$file" "/etc/$file"; done; mount --bind "$3" /mnt
exec diod -f -n -S -U dev -l "$2" -e /mnt -L stderr -c /dev/null`;

/**
 * Serves the directory over 9p, in the namespaces of `inSpace`: whoever writes inside, the file belongs to uid 1000.
 * @param {{ dir: string, share: string, inSpace: readonly string[], address: string, guest: string }} options `dir`: for
 *   its files. `address`: where it listens. `guest`: the guest's address
 * @returns {() => void} ends it
 */
export function serveShare({ dir, share, inSpace: [program = '', ...words], address, guest }) {
  for (const [name, text] of Object.entries(FILES(guest))) writeFileSync(path.join(dir, name), text);
  const server = spawn(program, [...words, 'sh', '-euc', SERVE, 'sh', dir, `${address}:${PORT}`, share], {
    stdio: 'ignore',
  });
  return () => void server.kill();
}

/** Mounts the directory in the guest, as root. @param {string} target */
export function mountShare(target) {
  const options = `trans=tcp,port=${PORT},version=9p2000.L,access=any,aname=/mnt`;
  return `modprobe -a 9p 9pnet_fd; mkdir -p ${target}; mount -t 9p -o ${options} 10.0.2.2 ${target}`;
}
