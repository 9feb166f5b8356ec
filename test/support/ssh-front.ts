import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import { userInfo } from 'node:os';
import path from 'node:path';

export interface SshFront {
  readonly host: string;
  /** This process's PATH with an `ssh` first in it that reads the test's own configuration. */
  readonly path: string;
  /** Where the client looks for the server's key. */
  readonly knownHosts: string;
  /** The client's configuration. */
  readonly config: string;
  readonly port: number;
  /** The client's key. */
  readonly identity: string;
  /** The server's public key. */
  readonly hostKey: string;
  /** The number of connections to the engine, which share logins. */
  connections(): number;
  /** The number of logins. */
  logins(): number;
  close(): Promise<void>;
}

const QUIET = { stdio: 'ignore' } as const;

/**
 * OpenSSH's server on its own loopback port, with keys of its own in `dir`: an engine that is elsewhere. The client
 * is the system's; a configuration replaces the user's `~/.ssh/config`, which ssh finds by the password file.
 */
export async function openSshFront(
  dir: string,
  /** Variables of the programs that it starts. */
  { variables = {} }: { readonly variables?: Readonly<Record<string, string>> } = {},
): Promise<SshFront> {
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const file = (name: string): string => path.join(dir, name);
  for (const key of ['host', 'person']) {
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', file(key)], QUIET);
  }
  const port = await freePort();
  writeFileSync(file('known'), `[127.0.0.1]:${port} ${readFileSync(file('host.pub'), 'utf8')}`);
  writeFileSync(file('authorized'), readFileSync(file('person.pub')), { mode: 0o600 });
  const server = [
    `Port ${port}`,
    'ListenAddress 127.0.0.1',
    `HostKey ${file('host')}`,
    `AuthorizedKeysFile ${file('authorized')}`,
    `PidFile ${file('pid')}`,
    'PasswordAuthentication no',
    'PermitRootLogin prohibit-password',
    'StrictModes no',
    'UsePAM no',
    'MaxStartups 100',
    // The start-up files of this machine's user may take seconds for each login, one after the other (`pyenv init`).
    // One line: sshd takes the first SetEnv alone.
    `SetEnv ${Object.entries({ HOME: file('home'), ...variables })
      .map(([name, value]) => `${name}=${value}`)
      .join(' ')}`,
  ];
  writeFileSync(file('sshd_config'), `${server.join('\n')}\n`);
  const client = [
    `IdentityFile ${file('person')}`,
    'IdentitiesOnly yes',
    `UserKnownHostsFile ${file('known')}`,
    'GlobalKnownHostsFile /dev/null',
    'StrictHostKeyChecking yes',
  ];
  writeFileSync(file('config'), `${client.join('\n')}\n`);
  mkdirSync(file('bin'));
  mkdirSync(file('home'));
  const counted = `case "$*" in *dial-stdio) echo >> '${file('calls')}' ;; esac`;
  writeFileSync(file('calls'), '');
  writeFileSync(file('bin/ssh'), `#!/bin/sh\n${counted}\nexec /usr/bin/ssh -F '${file('config')}' "$@"\n`);
  chmodSync(file('bin/ssh'), 0o755);
  // The package's own start-up makes it.
  if (process.getuid?.() === 0 && !existsSync('/run/sshd')) mkdirSync('/run/sshd', { mode: 0o755 });
  const child = spawn('/usr/sbin/sshd', ['-D', '-e', '-f', file('sshd_config')], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let output = '';
  child.stderr.on('data', (chunk: Buffer) => {
    output += chunk.toString('utf8');
  });
  const ended = once(child, 'close');
  for (let tries = 0; !(await answers(port)); tries += 1) {
    if (child.exitCode !== null || tries === 600) throw new Error(`sshd does not answer: ${output}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return {
    host: `ssh://${userInfo().username}@127.0.0.1:${port}`,
    path: `${file('bin')}:${process.env['PATH']}`,
    knownHosts: file('known'),
    config: file('config'),
    port,
    identity: file('person'),
    hostKey: readFileSync(file('host.pub'), 'utf8').trim(),
    connections: () => readFileSync(file('calls'), 'utf8').length,
    logins: () => output.match(/^Accepted publickey /gm)?.length ?? 0,
    async close() {
      child.kill();
      await ended;
    },
  };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.on('connect', () => resolve(true));
    socket.on('error', () => resolve(false));
    socket.on('close', () => socket.destroy());
    socket.on('connect', () => socket.end());
  });
}
