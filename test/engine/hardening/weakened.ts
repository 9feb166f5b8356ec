import { randomBytes } from 'node:crypto';
import type { ContainerSpec } from '../../../src/core/types/engine.ts';
import type { Engine } from '../../../src/core/types/runtime.ts';
import { containerBody } from '../../../src/engines/engine/body.ts';
import { ownerOf } from '../../../src/engines/engine/connect.ts';
import { agentSpec } from '../../../src/engines/engine/hardening/hardened.ts';
import { PROBES, type ProbeRow, readProbes } from '../../../src/engines/engine/hardening/probes.ts';
import { withProof } from '../../../src/engines/engine/hardening/proof.ts';
import { readSeccompProfile } from '../../../src/engines/engine/hardening/seccomp.ts';
import { runToEnd } from '../../support/engine.ts';
import { requestEngine } from '../../support/raw-engine.ts';

/** The body of a container, from which a test removes a layer. */
export interface Body {
  Env: string[];
  User: string;
  Entrypoint: string[];
  Cmd: string[];
  Hostname?: string;
  HostConfig: Record<string, unknown>;
}

export type Weaken = (body: Body) => void;

/** A container like the agent's, small, so that bombs go off quickly. */
export async function agentLike(image: string, argv: readonly string[], user = '1000:1000'): Promise<ContainerSpec> {
  return agentSpec({
    sessionId: `test-${randomBytes(4).toString('hex')}`,
    image,
    seccomp: await readSeccompProfile(),
    user,
    argv,
    forwards: [],
    env: { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: '/tmp', LANG: 'C.UTF-8' },
    workdir: '/tmp',
    mounts: [],
    network: 'none',
    limits: { memoryMb: 96, cpus: 0, pids: 128, tmpMb: 32 },
    tty: false,
    stdin: 'none',
  });
}

/** Containers like the agent's, each without some of its layers, made without run-claude's own checks. */
export class Weakened implements AsyncDisposable {
  static readonly owner: string = ownerOf(`test ${process.pid}`);
  readonly #engine: Engine;
  readonly #spec: ContainerSpec;
  #count = 0;

  private constructor(engine: Engine, spec: ContainerSpec) {
    this.#engine = engine;
    this.#spec = spec;
  }

  static async open(engine: Engine, image: string): Promise<Weakened> {
    const spec = await agentLike(image, ['true']);
    return new Weakened(engine, spec);
  }

  /** Of a container with its own name, nothing taken away. */
  spec(argv: readonly string[]): ContainerSpec {
    this.#count += 1;
    const init = this.#spec.argv[0] ?? '';
    return { ...this.#spec, name: `${this.#spec.name}-${this.#count}`, argv: [init, '--', ...argv] };
  }

  /**
   * Runs a program; gives what it printed to stdout and stderr, and its status. `proved`: init looks first, as in every
   * container that our own code makes.
   */
  async run(
    argv: readonly string[],
    weaken: Weaken = () => undefined,
    { proved = false } = {},
  ): Promise<{ said: string; status: number }> {
    const plain = this.spec(argv);
    const spec = proved ? withProof(plain) : plain;
    const body = structuredClone(containerBody(spec, Weakened.owner));
    weaken(body as unknown as Body);
    await requestEngine('POST', `/containers/create?name=${spec.name}`, body);
    const container = await this.#engine.running.find(spec.name);
    if (container === undefined) throw new Error(`${spec.name} is gone`);
    return runToEnd(container);
  }

  /** Runs the probes of these layers (none: all). */
  async probe(layers: readonly string[], weaken?: Weaken): Promise<ReadonlyMap<string, ProbeRow>> {
    const { said } = await this.run([PROBES, ...layers], weaken);
    return new Map(readProbes(said).map((row) => [row.name, row]));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const found of await this.#engine.list(this.#spec.sessionId)) {
      if (found.kind === 'container') await (await this.#engine.running.find(found.name))?.remove();
    }
  }
}
