import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { RunClaudeError } from '../../core/errors.ts';
import { spawn } from '../../core/host/programs/start-program.ts';
import { type OpenProgress, openProgress } from '../../core/progress/open-progress.ts';
import type { Tell } from '../../core/types/event.ts';
import type { ImageRuntime, Runtime } from '../../core/types/runtime.ts';
import type { ContextFile } from './files.ts';
import { readPins } from './pins/pins.ts';
import type { Pins } from './pins/pins-schema.ts';

/** Where a step of the build reports to, and the signal that ends it. */
export interface Watch {
  readonly tell: Tell;
  readonly signal: AbortSignal;
}

/** Time limit of a registry for the base; then the base is made here. */
const PULL_MS = 60_000;

/**
 * The base of the image: the pinned Debian image where a registry delivers it, otherwise one bootstrapped
 * from Debian's packages (on Debian and Ubuntu, as root) and kept as `run-claude-base:<release>-<arch>`.
 *
 * @throws RunClaudeError IMAGE_BASE when neither is possible.
 */
export async function ensureBase(engine: ImageRuntime, pins: Pins, workDir: string, watch: Watch): Promise<string> {
  const { tell, signal } = watch;
  const reference = baseReference(pins, engine.facts.arch);
  const own = ownBase(engine, pins);
  if (await engine.images.has(own)) return own;
  if (await engine.images.has(reference)) return reference;
  try {
    tell({ kind: 'message', level: 'info', text: `Fetching the base image ${reference}...` });
    using progress = openProgress(tell, 'Fetching the base image');
    await engine.images.pull(reference, PULL_MS, signal, { onOutput: progress.output });
    return reference;
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof RunClaudeError) || error.code !== 'IMAGE_PULL_FAILED') throw error;
    await bootstrap(engine, pins, own, workDir, watch, error);
    return own;
  }
}

/** The base in its registry: by digest where there is one for the architecture, by its tag otherwise. */
function baseReference({ debian: { reference, digests } }: Pins, arch: string): string {
  const digest = digests?.[arch];
  return digest === undefined ? reference : `${reference.replace(/:[^/:]*$/, '')}@${digest}`;
}

/** The name of a base that was made here. */
export function ownBase(engine: Pick<Runtime, 'facts'>, pins: Pins): string {
  return `run-claude-base:${pins.debian.release}-${engine.facts.arch}`;
}

async function bootstrap(
  engine: ImageRuntime,
  pins: Pins,
  tag: string,
  workDir: string,
  { tell, signal }: Watch,
  pull: RunClaudeError,
): Promise<void> {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) {
    throw new RunClaudeError('IMAGE_BASE', `${pull.message}, and without root the base can't be made here`, {
      cause: pull,
      hint: 'Give the engine a way to its registry, or run once as root on Debian with debootstrap installed.',
    });
  }
  tell({ kind: 'message', level: 'info', text: 'No registry: making the base image from Debian packages...' });
  using progress = openProgress(tell, 'Making the base image');
  const dir = await mkdtemp(join(workDir, 'bootstrap-'));
  try {
    const argv = ['--variant=minbase', `--arch=${engine.facts.arch}`, pins.debian.release, dir, pins.debian.mirror];
    await debootstrap(argv, progress, signal);
    await writeFile(join(dir, 'etc/apt/sources.list'), sourcesList(pins));
    progress.count({ done: STAGES.length, total: STAGES.length + 1, unit: 'steps' }, 'giving it to the engine');
    await importTree(engine, dir, tag);
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

function sourcesList({ debian: { mirror, security, release } }: Pins): string {
  return `deb ${mirror} ${release} main\ndeb ${mirror} ${release}-updates main\ndeb ${security} ${release}-security main\n`;
}

/** How the lines of debootstrap begin in each of its stages, in their order. */
const STAGES: readonly RegExp[] = [
  /^I: (?:Checking|Resolving|Target architecture|Found)/,
  /^I: (?:Retrieving|Validating) (?!InRelease|Release|Packages)/,
  /^I: (?:Extracting|Chosen extractor)/,
  /^I: (?:Installing core packages|(?:Unpacking|Configuring) required packages)/,
  /^I: (?:Unpacking|Configuring) the base system/,
];

/** The stage that a line begins; undefined for a line of the stage that runs. A stage is never left backwards. */
export function debootstrapStage(line: string, current: number): number | undefined {
  const stage = STAGES.findIndex((begins, at) => at > current && begins.test(line));
  return stage < 0 ? undefined : stage;
}

async function debootstrap(argv: readonly string[], progress: OpenProgress, signal: AbortSignal): Promise<void> {
  const child = spawn('debootstrap', argv, { cwd: '/', stdio: ['ignore', 'pipe', 'pipe'] });
  // It unmounts what it mounted: wait for its end.
  const stop = (): void => void child.kill('SIGTERM');
  signal.addEventListener('abort', stop);
  const last: string[] = [];
  let stage = -1;
  const listen = (text: string): void => {
    for (const line of text.split('\n').filter(Boolean)) {
      last.push(line);
      if (last.length > 5) last.shift();
      const next = debootstrapStage(line, stage);
      if (next !== undefined) {
        stage = next;
        progress.count({ done: stage, total: STAGES.length + 1, unit: 'steps' });
      }
    }
    progress.output(text);
  };
  child.stdout.setEncoding('utf8').on('data', listen);
  child.stderr.setEncoding('utf8').on('data', listen);
  const status = await new Promise<number | null>((resolve, reject) => {
    child.on('close', resolve);
    child.on('error', (error) =>
      reject(
        new RunClaudeError('IMAGE_BASE', 'debootstrap is needed to make the base image and was not found', {
          cause: error,
          hint: 'Install it: apt-get install debootstrap.',
        }),
      ),
    );
  });
  signal.removeEventListener('abort', stop);
  signal.throwIfAborted();
  if (status !== 0) throw new RunClaudeError('IMAGE_BASE', `debootstrap failed: ${last.join('; ')}`);
}

/** As the Dockerfile has it for the packages that it adds. Licences stay. */
const UNUSED: readonly string[] = [
  'var/cache/apt/archives/*.deb',
  'usr/share/doc/*/[!c]*',
  'usr/share/doc/*/c[!o]*',
  'usr/share/info/*',
  'usr/share/locale/*',
  'usr/share/man/man?/*',
  'usr/share/man/*/man?',
];

async function importTree(engine: ImageRuntime, dir: string, tag: string): Promise<void> {
  const excluded = UNUSED.map((pattern) => `--exclude=./${pattern}`);
  const tar = spawn('tar', ['--numeric-owner', ...excluded, '-C', dir, '-c', '.'], {
    cwd: '/',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await engine.images.import(tar.stdout, tag);
}

/** {@link ownBase} by the files of an image. */
export function ownBaseOf(engine: Pick<Runtime, 'facts'>, files: readonly ContextFile[]): string {
  return ownBase(engine, readPins(files));
}
