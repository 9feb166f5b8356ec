import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { RunClaudeError } from '../../core/errors.ts';
import { openProgress } from '../../core/progress/open-progress.ts';
import type { Tell } from '../../core/types/event.ts';
import type { ImageRuntime } from '../../core/types/runtime.ts';
import { addressFiles, type ImageVariant, imageFiles, TOOLCHAIN } from './address.ts';
import { ensureBase } from './base.ts';
import { type ContextEntry, withContext } from './context.ts';
import type { ContextFile } from './files.ts';
import { followBuild } from './follow-build.ts';
import { changedInputs, INPUTS_LABEL, imageInputs } from './inputs.ts';
import { fetchPackages, newestVersion } from './packages.ts';
import { readPins } from './pins/pins.ts';
import { PINS_FILE } from './pins/pins-file.ts';
import type { Pins } from './pins/pins-schema.ts';
import { nameProven, unprovenName } from './proven.ts';
import { fetchPublished } from './published.ts';
import { removeStaleImages } from './stale-images.ts';

export interface EnsureImageOptions extends ImageVariant {
  /** Downloads, the build's lock and its log are kept there. */
  readonly cacheDir: string;
  /** Build also when the image exists, without the engine's build cache. */
  readonly rebuild: boolean;
  readonly tell: Tell;
  /** Ends the build. No partial result stays. */
  readonly signal: AbortSignal;
  /** Attacks a container of that image. Throws when an attack was not stopped. */
  readonly prove: (image: string) => Promise<void>;
  /** Runs the body while it holds that lock file, and waits for another holder: the store's withLock. */
  readonly exclusive: (lockFile: string, body: () => Promise<void>) => Promise<void>;
}

export interface Image {
  readonly tag: string;
  readonly claudeVersion: string;
}

/**
 * The image on the engine; when it is not there, it is fetched where one with the same address is published, or else
 * built. Either way it gets its address only after the probes attacked it. Of several processes that need it, one does this.
 *
 * @throws RunClaudeError IMAGE_REFUSED when an attack was not stopped; IMAGE_BASE, IMAGE_ARCH, IMAGE_BUILD_FAILED, PACKAGE_FETCH_FAILED, PACKAGE_TAMPERED, DISK_FULL.
 */
export async function ensureImage(engine: ImageRuntime, options: EnsureImageOptions): Promise<Image> {
  const files = imageFiles(options, engine.facts.arch);
  const tag = addressFiles(engine, files, options.toolchain);
  const pins = readPins(files);
  const { claudeVersion } = pins;
  if (!options.rebuild && (await engine.images.has(tag))) return { tag, claudeVersion };
  const dir = join(options.cacheDir, 'image');
  await mkdir(dir, { recursive: true, mode: 0o700 });
  await options.exclusive(join(dir, 'build.lock'), async () => {
    // Another process may have built it while this one waited.
    if (!options.rebuild && (await engine.images.has(tag))) return;
    if (!options.rebuild && (await fetchPublished(engine, { tag, files }, options))) return;
    await build(engine, { tag, files, pins }, dir, options);
  });
  return { tag, claudeVersion };
}

interface Described {
  readonly tag: string;
  readonly files: readonly ContextFile[];
  readonly pins: Pins;
}

async function build(
  engine: ImageRuntime,
  { tag, files, pins }: Described,
  dir: string,
  options: EnsureImageOptions,
): Promise<void> {
  const { tell, signal } = options;
  const packages = pins.packages[engine.facts.arch];
  if (packages === undefined) {
    throw new RunClaudeError(
      'IMAGE_ARCH',
      `there is no Claude Code for the engine's architecture ${engine.facts.arch}`,
    );
  }
  const base = await ensureBase(engine, pins, dir, { tell, signal });
  const fetched = await fetchPackages(packages, dir, {
    tell,
    signal,
    what: 'Downloading Node and Claude Code',
    from: 'images/pins.json',
  });
  if (options.claude === undefined) await nameNewer(pins, dir, tell);
  signal.throwIfAborted();
  const log: string[] = [];
  const inputs = imageInputs(files, { arch: engine.facts.arch, toolchain: options.toolchain ? TOOLCHAIN : '' });
  const text = buildMessage(options.rebuild, await changedInputs(engine, inputs));
  tell({ kind: 'message', level: 'info', text });
  try {
    using progress = openProgress(tell, 'Building the image');
    const follow = followBuild(progress);
    const request = {
      tag: unprovenName(tag),
      args: {
        BASE: base,
        TOOLCHAIN: options.toolchain ? TOOLCHAIN : '',
        CLAUDE: pins.claudeVersion,
        ...proxyArguments(options.env),
      },
      labels: { [INPUTS_LABEL]: JSON.stringify(inputs) },
      // With a release of the user's choice only what depends on it is built.
      fresh: options.rebuild && options.claude === undefined,
      signal,
      onOutput: (text: string) => {
        log.push(text);
        follow(text);
      },
    };
    await withContext(dir, contextEntries(files, fetched), (context) => engine.images.build(context, request));
  } catch (error) {
    signal.throwIfAborted();
    const file = join(dir, 'build.log');
    await writeFile(file, log.join(''), { mode: 0o600 });
    const tail = log.join('').trimEnd().split('\n').slice(-25);
    for (const line of tail) tell({ kind: 'message', level: 'error', text: line });
    tell({ kind: 'message', level: 'error', text: `The whole log: ${file}` });
    throw error;
  }
  await nameProven(engine, tag, options);
  await removeStaleImages(engine, Date.now());
}

function buildMessage(rebuild: boolean, changed: readonly string[]): string {
  if (rebuild) return 'Building the image again, as --rebuild asks...';
  if (changed.length === 0) return 'Building the image (the first time takes some minutes)...';
  return `Building the image again. What changed: ${changed.join('; ')}...`;
}

async function nameNewer(pins: Pins, dir: string, tell: Tell): Promise<void> {
  const newest = await newestVersion('@anthropic-ai/claude-code', dir);
  if (newest === undefined || newest === pins.claudeVersion) return;
  const text = `Claude Code ${newest} is out; this version of run-claude comes with ${pins.claudeVersion} (images/pins.json).`;
  tell({ kind: 'message', level: 'info', text });
}

/** The machine's proxies, except those that only this machine reaches. */
export function proxyArguments(env: EnsureImageOptions['env']): Readonly<Record<string, string>> {
  const names = ['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY', 'http_proxy', 'https_proxy', 'no_proxy'];
  const values = names.map((name) => [name, env[name] ?? ''] as const);
  return Object.fromEntries(values.filter(([, value]) => value !== '' && !/\/\/(127\.|localhost|\[::1\])/.test(value)));
}

function contextEntries(files: readonly ContextFile[], fetched: ReadonlyMap<string, string>): ContextEntry[] {
  return [
    // The pins are not part of it: a new release of Claude Code does not build the programs in images/ again.
    ...files.filter(({ path }) => path !== PINS_FILE),
    // COPY needs the folder, also on a machine without certificates of its own.
    { path: 'ca/none.txt', content: 'Certificate authorities of the host, if any.\n' },
    ...[...fetched].map(([name, file]) => ({ path: `fetched/${name}`, content: { file } })),
  ];
}
