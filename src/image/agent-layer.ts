import { createHash } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { RunClaudeError } from '../errors.ts';
import type { AgentPackage } from '../types/agent-package.ts';
import type { Engine } from '../types/engine.ts';
import { withContext } from './context.ts';
import type { EnsureImageOptions } from './ensure.ts';
import { fetchPackages } from './packages.ts';
import type { PinnedPackage } from './pins.ts';
import { nameProven, unprovenName } from './proven.ts';

const FETCHED = 'agent.tgz';

/** Adds an agent's program to an image. The engine unpacks the package, and nothing of it is run. */
const DOCKERFILE = `ARG BELOW
FROM $BELOW
USER 0
ARG PROGRAM
ADD fetched/${FETCHED} /opt/agent/
ARG ENTRY
RUN if [ ! -x "/opt/agent/package/$ENTRY" ]; then chmod 0755 "/opt/agent/package/$ENTRY"; fi \\
 && find /opt/agent -xdev -perm /6000 -exec chmod ug-s {} + \\
 && ln -sf "/opt/agent/package/$ENTRY" "/usr/local/bin/$PROGRAM"
USER agent
`;

export interface AgentLayerOptions
  extends Pick<EnsureImageOptions, 'cacheDir' | 'rebuild' | 'tell' | 'signal' | 'prove' | 'exclusive'> {
  /** The image below it, which exists on the engine. */
  readonly below: string;
  readonly agent: AgentPackage;
}

interface Layer {
  readonly pinned: PinnedPackage;
  readonly entry: string;
}

/** @throws {RunClaudeError} IMAGE_ARCH when there is no package for the engine's architecture. */
function layerFor({ program, files, entry }: AgentPackage, arch: string): Layer {
  const file = files[arch] ?? files['all'];
  const path = typeof entry === 'string' ? entry : entry[arch];
  if (file === undefined || path === undefined)
    throw new RunClaudeError('IMAGE_ARCH', `there is no ${program} for the engine's architecture ${arch}`);
  return { pinned: { file: FETCHED, ...file }, entry: path };
}

/**
 * The address of the image `below` with the agent's layer, whether it exists or not.
 *
 * @throws {RunClaudeError} IMAGE_ARCH
 */
export function addressAgentLayer(engine: Engine, below: string, agent: AgentPackage): string {
  const { pinned, entry } = layerFor(agent, engine.facts.arch);
  const hash = createHash('sha256');
  for (const part of [below, DOCKERFILE, agent.program, pinned.name, pinned.version, pinned.integrity, entry])
    hash.update(part).update('\0');
  return `run-claude:${hash.digest('hex').slice(0, 16)}`;
}

/**
 * Adds the agent's layer to the image below it, where the engine does not have the result, and has it attacked by the
 * probes before it gets its address. Of several processes that need it, one does this.
 *
 * @throws {RunClaudeError} IMAGE_ARCH, IMAGE_REFUSED, IMAGE_BUILD_FAILED, PACKAGE_FETCH_FAILED, PACKAGE_TAMPERED, DISK_FULL.
 */
export async function ensureAgentLayer(engine: Engine, options: AgentLayerOptions): Promise<string> {
  const { below, agent, tell, signal } = options;
  const tag = addressAgentLayer(engine, below, agent);
  const { pinned, entry } = layerFor(agent, engine.facts.arch);
  const isDone = async (): Promise<boolean> => !options.rebuild && (await engine.hasImage(tag));
  if (await isDone()) return tag;
  const dir = join(options.cacheDir, 'image');
  await mkdir(dir, { recursive: true, mode: 0o700 });
  await options.exclusive(join(dir, 'build.lock'), async () => {
    if (await isDone()) return;
    const fetched = await fetchPackages([pinned], dir, {
      tell,
      signal,
      what: `Downloading ${agent.program}`,
      from: 'this version of run-claude',
    });
    const file = fetched.get(FETCHED) ?? '';
    const text = `Adding ${agent.program} ${pinned.version} to the image...`;
    tell({ kind: 'message', level: 'info', text });
    const context = [
      { path: 'Dockerfile', content: DOCKERFILE },
      { path: `fetched/${FETCHED}`, content: { file } },
    ];
    const request = {
      tag: unprovenName(tag),
      args: { BELOW: below, PROGRAM: agent.program, ENTRY: entry },
      connected: false,
      fresh: options.rebuild,
      signal,
      onOutput: () => undefined,
    };
    await withContext(dir, context, (archive) => engine.buildImage(archive, request));
    await nameProven(engine, tag, options);
  });
  return tag;
}
