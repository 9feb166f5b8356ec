import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { isForeignPeer, ownersOf } from '../../../../src/network/preview/peer.ts';
import { listenOn } from '../../../support/preview-scene.ts';

const TABLES = `
  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:0BB8 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 231021 1 0000000087eee7d3
   1: 0100007F:0BB8 0100007F:D431 01 00000000:00000000 00:00000000 00000000  1000        0 231022 1 0000000087eee7d4
   2: 0100007F:D431 0100007F:0BB8 01 00000000:00000000 00:00000000 00000000  1001        0 231023 1 0000000087eee7d5
   3: 0100007F:D432 0100007F:0BB8 06 00000000:00000000 03:00000000 00000000     0        0 0 3 0000000087eee7d6
   4: 0000000000000000FFFF00000100007F:D433 0000000000000000FFFF00000100007F:0BB8 01 00000000:00000000 00:00000000 00000000  1002        0 231025 1 0000000087eee7d7
`;

it.each([
  ['the other end, not its own', 0xd431, [1001]],
  ['nobody, where its program has closed it: the kernel then says root', 0xd432, [undefined]],
  ['an end that is an IPv6 socket', 0xd433, [1002]],
  ['none', 0xd434, []],
])('finds the owner of a connection: %s', (_what, remotePort, owners) => {
  expect(ownersOf({ remotePort, localPort: 3000 }, TABLES)).toEqual(owners);
});

const CONNECT = "require('node:net').connect(Number(process.argv[1]), process.argv[2]); setTimeout(() => {}, 60_000)";

/** A connection of a program of that user. */
async function connectionOf(uid: number | undefined, address: string): Promise<Socket> {
  const server = createServer();
  const port = await listenOn(server, address);
  const child = spawn(process.execPath, ['-e', CONNECT, String(port), address], { uid, stdio: 'ignore', cwd: '/' });
  onTestFinished(() => {
    child.kill('SIGKILL');
    server.close();
  });
  const [socket] = (await once(server, 'connection')) as [Socket];
  onTestFinished(() => void socket.destroy());
  return socket;
}

it.each(['127.0.0.1', '::1'])('a program of this user may open a page at %s', async (at) => {
  expect(isForeignPeer(await connectionOf(undefined, at))).toBe(false);
});

// Only root can start a program as another user.
const OTHER = process.getuid?.() === 0 ? 65_534 : undefined;

it.each(['127.0.0.1', '::1'])('a program of another user may not open a page at %s', async (at) => {
  const isForeign = OTHER !== undefined && process.platform === 'linux';
  expect(isForeignPeer(await connectionOf(OTHER, at))).toBe(isForeign);
});
