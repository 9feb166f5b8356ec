import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { compileShim } from './compile.ts';

/**
 * Runs a command as root under a Linux kernel of its own (User Mode Linux, a program like any other), which has file
 * systems, quotas and NFS that this machine's may lack. It sees this machine's files; /mnt and /run are its own, in
 * memory. `folder` is for its start script. Gives what its console showed.
 */
export function runInOwnKernel(folder: string, modules: readonly string[], command: string): string {
  const init = path.join(folder, 'init.sh');
  const script = `#!/bin/sh
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root
mount -t proc proc /proc && mount -t sysfs sys /sys && mount -t tmpfs tmp /mnt && mount -t tmpfs tmp /run
mkdir -p /run/modules/lib && ln -s /usr/lib/uml/modules /run/modules/lib/modules
for name in ${modules.join(' ')}; do modprobe -d /run/modules "$name"; done
ip link set lo up
${command}
halt -f -p
`;
  writeFileSync(init, script, { mode: 0o755 });
  const args = ['mem=1200M', 'root=/dev/root', 'rootfstype=hostfs', 'rootflags=/', 'rw', `init=${init}`];
  const console = ['con=null', 'con0=null,fd:1', 'ssl=null', 'quiet'];
  const shim = path.join(folder, 'xstate.so');
  compileShim(shim, 'xstate.c');
  const env = { ...process.env, LD_PRELOAD: shim };
  const ran = spawnSync('linux.uml', [...args, ...console], {
    encoding: 'utf8',
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  if (ran.error !== undefined) throw ran.error;
  return ran.stdout;
}
