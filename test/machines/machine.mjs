/** One guest while it runs, reached over ssh. */
import { spawn, spawnSync } from 'node:child_process';
import { closeSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { log } from './cache.mjs';

const START_LIMIT_MS = 20 * 60_000;
const RUN_LIMIT_MS = 10 * 60_000;
const SSH = [
  ...['-o', 'StrictHostKeyChecking=no', '-o', 'UserKnownHostsFile=/dev/null', '-o', 'LogLevel=ERROR'],
  ...['-o', 'ConnectTimeout=60', '-o', 'ServerAliveInterval=60', '-o', 'ServerAliveCountMax=10'],
];

/**
 * @typedef {object} Result
 * @property {number | null} status null when the time limit ended the script
 * @property {string} output both streams
 */

/**
 * Starts the guest and waits until it accepts commands.
 * @param {import('./guest-command.mjs').GuestCommand} guest
 * @param {string} key the private key that opens its accounts
 * @param {string} dir for its console
 */
export async function startMachine(guest, key, dir) {
  const console = path.join(dir, 'console.log');
  // The name of a socket has at most 104 bytes, and ssh adds 17.
  const sockets = mkdtempSync(path.join(tmpdir(), 'rc-lab-'));
  const output = openSync(console, 'w');
  const started = Date.now();
  const [program = '', ...words] = guest.command;
  const child = spawn(program, words, { stdio: ['ignore', output, output], detached: true });
  closeSync(output);
  const stopped = new Promise((resolve) => child.once('close', resolve));
  const isRunning = () => child.exitCode === null && child.signalCode === null;
  const sshWords = (/** @type {string} */ user, /** @type {readonly string[]} */ options = []) => [
    ...[...guest.ssh, 'ssh', ...SSH, '-i', key, '-p', String(guest.port), '-S', path.join(sockets, user)],
    ...[...options, `${user}@${guest.address}`],
  ];

  /** One connection for each user that all commands share: a handshake takes seconds. @param {string} user */
  const isConnected = async (user) => {
    const socket = path.join(sockets, user);
    rmSync(socket, { force: true });
    const [program = '', ...words] = sshWords(user, ['-M', '-N']);
    const master = spawn(program, words, { stdio: 'ignore' });
    while (master.exitCode === null && isRunning() && !existsSync(socket)) await sleep(500);
    return existsSync(socket);
  };

  const machine = {
    /**
     * Runs a shell script in the guest.
     * @param {string} script
     * @param {{ user?: string, timeoutMs?: number, input?: string | number }} [options] `input`: text, or a descriptor
     * @returns {Result}
     */
    run(script, { user = 'dev', timeoutMs = RUN_LIMIT_MS, input = '' } = {}) {
      const [program = '', ...words] = [...sshWords(user), `bash -c ${quote(script)}`];
      const result = spawnSync(program, words, {
        timeout: timeoutMs,
        encoding: 'utf8',
        maxBuffer: 1 << 28,
        ...(typeof input === 'string' ? { input } : { stdio: [input, 'pipe', 'pipe'] }),
      });
      return { status: result.status, output: `${result.stdout ?? ''}${result.stderr ?? ''}` };
    },

    /** The program and arguments that run a script on a terminal of the guest. @param {string} script */
    onTerminal(script) {
      return [...sshWords('dev', ['-tt']), `stty cols 100 rows 40; bash -c ${quote(script)}`];
    },

    /** Ends the guest at once, as a machine that loses its power. */
    powerOff() {
      // User Mode Linux is one process for each of the guest's: all are in the group.
      if (child.pid !== undefined && isRunning()) process.kill(-child.pid, 'SIGKILL');
    },

    async stop() {
      if (isRunning()) machine.run('sync', { user: 'root', timeoutMs: 60_000 });
      machine.powerOff();
      await stopped;
      rmSync(sockets, { recursive: true, force: true });
      guest.end();
    },
  };
  const until = Date.now() + START_LIMIT_MS;
  while (Date.now() < until && isRunning()) {
    if ((await isConnected('root')) && (await isConnected('dev'))) {
      log(`The guest answers after ${Math.round((Date.now() - started) / 1000)} s`);
      return machine;
    }
    await sleep(3_000);
  }
  await machine.stop();
  throw new Error(`The guest did not start. Its console:\n${readFileSync(console, 'utf8').slice(-2_000)}`);
}

/** @param {string} text */
function quote(text) {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
