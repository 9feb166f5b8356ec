import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { userInfo } from 'node:os';
import path from 'node:path';

/**
 * OpenSSH's server on its own loopback port, with keys of its own in `dir`, and a PATH whose `ssh` uses them.
 * @param {string} dir
 */
export async function openSshServer(dir) {
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const file = (/** @type {string} */ name) => path.join(dir, name);
  for (const key of ['host', 'user']) execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', file(key)]);
  const port = await freePort();
  const write = (/** @type {string} */ name, /** @type {string[]} */ ...lines) =>
    writeFileSync(file(name), `${lines.join('\n')}\n`);
  write('known', `[127.0.0.1]:${port} ${readFileSync(file('host.pub'), 'utf8').trim()}`);
  const own = ['ListenAddress 127.0.0.1', `HostKey ${file('host')}`, `AuthorizedKeysFile ${file('user.pub')}`];
  write('server', `Port ${port}`, ...own, `PidFile ${file('pid')}`, 'StrictModes no', 'UsePAM no');
  const known = [`UserKnownHostsFile ${file('known')}`, 'GlobalKnownHostsFile /dev/null'];
  write('client', `IdentityFile ${file('user')}`, 'IdentitiesOnly yes', ...known);
  mkdirSync(file('bin'));
  write('bin/ssh', '#!/bin/sh', `exec /usr/bin/ssh -F '${file('client')}' "$@"`);
  chmodSync(file('bin/ssh'), 0o755);
  // The package's own start-up makes it.
  if (!existsSync('/run/sshd')) mkdirSync('/run/sshd', { mode: 0o755 });
  const child = spawn('/usr/sbin/sshd', ['-D', '-f', file('server')], { stdio: 'ignore' });
  const ended = once(child, 'close');
  while (!(await answers(port))) {
    if (child.exitCode !== null) throw new Error('sshd does not start');
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return {
    host: `ssh://${userInfo().username}@127.0.0.1:${port}`,
    path: `${file('bin')}:${process.env['PATH']}`,
    async close() {
      child.kill();
      await ended;
    },
  };
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  server.close();
  await once(server, 'close');
  return port;
}

/** @param {number} port @returns {Promise<boolean>} */
function answers(port) {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.on('connect', () => {
      socket.end();
      resolve(true);
    });
    socket.on('error', () => resolve(false));
  });
}
