import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Engine, EngineContainer } from '../../src/core/types/runtime.ts';
import { agentSpec } from '../../src/engines/engine/hardening/hardened.ts';
import { readSeccompProfile } from '../../src/engines/engine/hardening/seccomp.ts';
import type { Gateway } from '../../src/network/gateway/start-gateway.ts';

export interface AgentInSession {
  readonly engine: Engine;
  readonly sessionId: string;
  readonly image: string;
  readonly memoryMb?: number;
  readonly pids?: number;
  readonly tmpMb?: number;
}

/** An agent's container next to its gateway. It sleeps; tests run programs in it. */
export async function startAgentInSession(gateway: Gateway, options: AgentInSession): Promise<EngineContainer> {
  const { engine, sessionId, image, memoryMb = 2048, pids = 256, tmpMb = 256 } = options;
  const agent = await engine.create(
    agentSpec({
      sessionId,
      image,
      seccomp: await readSeccompProfile(),
      user: '1000:1000',
      argv: ['/bin/sleep', '3600'],
      forwards: gateway.forwards,
      env: { PATH: '/usr/local/bin:/usr/bin:/bin', ...gateway.env },
      workdir: '/',
      mounts: gateway.mounts,
      network: gateway.agentNetwork,
      limits: { memoryMb, cpus: 0, pids, tmpMb },
      tty: false,
      stdin: 'none',
    }),
  );
  await agent.start();
  return agent;
}

/** A company's CA made by openssl instead of run-claude, and one certificate for all names: ca.pem, cert.pem, key.pem. */
export function makeCertificates(dir: string, names: readonly string[]): void {
  const openssl = (...words: string[]): void =>
    void execFileSync('openssl', words, { cwd: dir, stdio: ['ignore', 'ignore', 'ignore'] });
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  openssl('req', '-x509', ...key, '-keyout', 'ca-key.pem', '-out', 'ca.pem', '-subj', '/CN=company', '-days', '2');
  openssl('req', ...key, '-keyout', 'key.pem', '-out', 'names.csr', '-subj', '/CN=names');
  writeFileSync(path.join(dir, 'ext'), `subjectAltName=${names.map((name) => `DNS:${name}`).join(',')}\n`);
  const signer = ['-CA', 'ca.pem', '-CAkey', 'ca-key.pem', '-CAcreateserial', '-days', '2', '-extfile', 'ext'];
  openssl('x509', '-req', '-in', 'names.csr', ...signer, '-out', 'cert.pem');
}

/** Waits until a container of servers prints 'listening'. @throws with its output when it does not. */
export async function listening(container: string): Promise<void> {
  const logs = (): string => execFileSync('docker', ['logs', container], { encoding: 'utf8' });
  for (let left = 240; !logs().includes('listening') && left > 0; left -= 1) await sleep(500);
  if (!logs().includes('listening')) throw new Error(`${container} does not listen: ${logs()}`);
}

/** Names of what a session has on the engine after its end. The removal of its network is not awaited by anyone. */
export async function leftOf(engine: Engine, sessionId: string): Promise<readonly string[]> {
  const names = async (): Promise<string[]> => (await engine.list(sessionId)).map(({ name }) => name);
  for (let tries = 0; tries < 40 && (await names()).length > 0; tries += 1) await sleep(250);
  return names();
}
