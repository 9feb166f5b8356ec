import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Engine } from '../../../src/core/types/runtime.ts';
import { connectForTest } from '../engine.ts';
import { testImage } from '../image.ts';
import { openSshFront } from '../ssh-front.ts';
import { openTlsFront } from '../tls-front.ts';
import type { WatchedSocket } from '../watched-socket.ts';

/** Where the engine is: on this machine's socket, or apparently on another machine. */
export type Where = 'here' | 'tcp' | 'ssh';

export interface Engines {
  readonly image: string;
  at(where: Where): Engine;
  /** What the one behind TLS was asked for. */
  readonly watched: WatchedSocket;
  close(): Promise<void>;
}

/** The engine of the test run, by each way. */
export async function openEngines(): Promise<Engines> {
  const dir = mkdtempSync(path.join(tmpdir(), 'rc-fronts-'));
  const path0 = process.env['PATH'];
  const here = await connectForTest();
  const image = await testImage(here);
  const tls = await openTlsFront(path.join(dir, 'tls'));
  const ssh = await openSshFront(path.join(dir, 'ssh'));
  process.env['PATH'] = ssh.path;
  const certificates = { DOCKER_TLS_VERIFY: '1', DOCKER_CERT_PATH: tls.certPath };
  const engines: Record<Where, Engine> = {
    here,
    tcp: await connectForTest(undefined, { DOCKER_HOST: tls.host, ...certificates }),
    ssh: await connectForTest(undefined, { DOCKER_HOST: ssh.host }),
  };
  return {
    image,
    at: (where) => engines[where],
    watched: tls.watched,
    async close() {
      for (const engine of Object.values(engines)) await engine.close();
      tls.close();
      await ssh.close();
      process.env['PATH'] = path0;
      rmSync(dir, { recursive: true });
    },
  };
}
