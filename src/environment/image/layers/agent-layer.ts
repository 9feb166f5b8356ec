import { RunClaudeError } from '../../../core/errors.ts';
import { openProgress } from '../../../core/progress/open-progress.ts';
import type { AgentPackage } from '../../../core/types/agent/agent-package.ts';
import type { ImageRuntime, Runtime } from '../../../core/types/runtime.ts';
import { withContext } from '../context.ts';
import { followBuild } from '../follow-build.ts';
import { fetchPackages } from '../packages.ts';
import type { PinnedPackage } from '../pins/pins-schema.ts';
import { addressLayer, ensureLayer, type LayerOptions } from './layer.ts';

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

export interface AgentLayerOptions extends LayerOptions {
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
export function addressAgentLayer(engine: Pick<Runtime, 'facts'>, below: string, agent: AgentPackage): string {
  const { pinned, entry } = layerFor(agent, engine.facts.arch);
  return addressLayer([below, DOCKERFILE, agent.program, pinned.name, pinned.version, pinned.integrity, entry]);
}

/**
 * Adds the agent's layer to the image below it, as {@link ensureLayer} makes a layer.
 *
 * @throws {RunClaudeError} IMAGE_ARCH, IMAGE_REFUSED, IMAGE_BUILD_FAILED, PACKAGE_FETCH_FAILED, PACKAGE_TAMPERED, DISK_FULL.
 */
export async function ensureAgentLayer(engine: ImageRuntime, options: AgentLayerOptions): Promise<string> {
  const { below, agent, tell, signal } = options;
  const tag = addressAgentLayer(engine, below, agent);
  const { pinned, entry } = layerFor(agent, engine.facts.arch);
  await ensureLayer(engine, tag, options, async ({ unproven, dir }) => {
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
    using progress = openProgress(tell, `Adding ${agent.program} to the image`);
    const request = {
      tag: unproven,
      args: { BELOW: below, PROGRAM: agent.program, ENTRY: entry },
      connected: false,
      fresh: options.rebuild,
      signal,
      onOutput: followBuild(progress),
    };
    await withContext(dir, context, (archive) => engine.images.build(archive, request));
  });
  return tag;
}
