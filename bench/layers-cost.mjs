// node bench/layers-cost.mjs: what the layers of the agent's container cost compared with plain `docker run --rm` of the
// same image. Medians of RUN_CLAUDE_BENCH_ROUNDS (15) runs of `true`, one of each kind in turn. Needs an engine.
import { execFileSync } from 'node:child_process';
import { homedir } from 'node:os';
import { loadSource } from './load-source.mjs';
import { main } from './scene.mjs';
import { median } from './session.mjs';

const ROUNDS = Number(process.env['RUN_CLAUDE_BENCH_ROUNDS'] ?? 15);
const [{ connectEngine }, { agentSpec }, { readSeccompProfile }] = await loadSource(
  'engines/engine/connect.ts',
  'engines/engine/hardening/hardened.ts',
  'engines/engine/hardening/seccomp.ts',
);

const { env, platform } = process;
const engine = await connectEngine({ choice: 'auto', env, home: homedir(), platform, owner: 'bench' });
const image = execFileSync(process.execPath, [main, 'build'], { encoding: 'utf8' }).trim();
const seccomp = await readSeccompProfile();

/** @param {string} network */
const plain = (network) => execFileSync('docker', ['run', '--rm', '--network', network, image, 'true']);

/** The agent's container as a session makes it: created, compared with the engine's record, started, awaited, removed. */
async function hardened() {
  const container = await engine.create(
    agentSpec({
      sessionId: `bench-${process.pid}`,
      image,
      seccomp,
      user: '1000:1000',
      argv: ['true'],
      forwards: [],
      env: { PATH: '/usr/bin:/bin' },
      workdir: '/tmp',
      mounts: [],
      network: 'none',
      limits: { memoryMb: 8192, cpus: 0, pids: 4096, tmpMb: 512 },
      tty: false,
      stdin: 'none',
    }),
  );
  await container.start();
  await container.wait();
  await container.remove();
}

/** @type {Record<string, () => unknown>} */
const kinds = {
  'docker run --rm, no network': () => plain('none'),
  'docker run --rm, as it is': () => plain('bridge'),
  'the agent’s container, every layer': hardened,
};
/** @type {Record<string, number[]>} */
const times = Object.fromEntries(Object.keys(kinds).map((name) => [name, []]));
for (let round = 0; round <= ROUNDS; round += 1) {
  for (const [name, run] of Object.entries(kinds)) {
    const start = performance.now();
    await run();
    // The first run of each is the warm-up.
    if (round > 0) times[name]?.push(performance.now() - start);
  }
}
await engine.close();
console.log('| kind | median | fastest | slowest |\n|---|---|---|---|');
for (const [name, all] of Object.entries(times)) {
  const sorted = all.sort((a, b) => a - b).map((one) => Math.round(one));
  console.log(`| ${name} | ${median(sorted)} ms | ${sorted[0]} ms | ${sorted.at(-1)} ms |`);
}
