import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { RunClaudeError, usageError } from '../../core/errors.ts';
import { packageRoot } from '../../core/host/package.ts';
import { jsonIn } from '../../core/text/json-in.ts';
import type { Tell } from '../../core/types/event.ts';
import { runNpm } from './npm.ts';
import { PINS_FILE, pinnedClaude } from './pins/pins-file.ts';
import type { PinnedPackage } from './pins/pins-schema.ts';

export interface ReleaseRequest {
  /** The engine's architecture: each has its own package. */
  readonly arch: string;
  /** The registry's answers are kept there. */
  readonly cacheDir: string;
  /** Ask the registry for the latest release even when it was asked a short time ago. */
  readonly refresh: boolean;
  readonly tell: Tell;
  readonly signal: AbortSignal;
}

/** For so long the latest release is not looked up again. */
const LATEST_MS = 60 * 60_000;
const REGISTRY_MS = 20_000;
const VERSION = /^\d{1,6}\.\d{1,6}\.\d{1,6}$/;

/** The registry's answers, by package: hashes by version, and the latest version with the time of the answer. */
const answersSchema = z.object({
  hashes: z.record(z.string(), z.record(z.string(), z.string())),
  latest: z.record(z.string(), z.object({ version: z.string().regex(VERSION), askedMs: z.number() })),
});
type Answers = z.infer<typeof answersSchema>;

/** @throws {RunClaudeError} USAGE when the text is neither `latest` nor a version such as 2.1.330. */
function checkClaudeVersion(wanted: string): void {
  if (wanted === 'latest' || VERSION.test(wanted)) return;
  throw usageError(`--claude-version ${wanted} is not a version`, 'Write latest, or a version such as 2.1.330.');
}

/**
 * The release of Claude Code that the user asked for, with its hash from the registry. The first hash of a version is kept:
 * a registry that later names another one is refused. While the registry does not answer, its last answer is used.
 *
 * @returns undefined for the pinned release.
 * @throws {RunClaudeError} USAGE when the text is not a version; CLAUDE_VERSION when the registry does not have it or does not
 * answer; PACKAGE_FETCH_FAILED without npm.
 */
export async function findClaudeRelease(wanted: string, request: ReleaseRequest): Promise<PinnedPackage | undefined> {
  checkClaudeVersion(wanted);
  const pinned = pinnedClaude(await readFile(join(packageRoot, PINS_FILE)), request.arch);
  // Without a package for the architecture the build says so.
  if (pinned === undefined || wanted === pinned.version) return undefined;
  const { file, name } = pinned;
  const dir = join(request.cacheDir, 'image');
  await mkdir(dir, { recursive: true, mode: 0o700 });
  const version = wanted === 'latest' ? await latestVersion(name, dir, request) : wanted;
  if (version === pinned.version) return undefined;
  const known = (await readAnswers(dir)).hashes[name]?.[version];
  return { file, name, version, integrity: known ?? (await askHash(name, version, dir, request)) };
}

async function latestVersion(name: string, dir: string, { refresh, tell, signal }: ReleaseRequest): Promise<string> {
  const before = (await readAnswers(dir)).latest[name];
  if (!refresh && before !== undefined && Math.abs(Date.now() - before.askedMs) < LATEST_MS) return before.version;
  try {
    const answer = await askRegistry(name, dir, signal);
    await keepAnswer(dir, name, answer, { version: answer.version, askedMs: Date.now() });
    return answer.version;
  } catch (error) {
    signal.throwIfAborted();
    if (before === undefined || !(error instanceof RunClaudeError)) throw error;
    const text = `${error.message}: using ${before.version}, which was the latest when the registry last answered`;
    tell({ kind: 'message', level: 'warning', text });
    return before.version;
  }
}

async function askHash(name: string, version: string, dir: string, { signal }: ReleaseRequest): Promise<string> {
  const answer = await askRegistry(`${name}@${version}`, dir, signal);
  if (answer.version !== version)
    throw new RunClaudeError('CLAUDE_VERSION', `the registry has no ${name}@${version}`, { hint: HINT });
  await keepAnswer(dir, name, answer);
  return answer.integrity;
}

const HINT = 'Check the version and npm ping, or leave --claude-version out to use the pinned release.';

/** One release, as the registry describes it. */
interface Answer {
  readonly version: string;
  readonly integrity: string;
}

async function askRegistry(spec: string, dir: string, signal: AbortSignal): Promise<Answer> {
  const argv = ['view', spec, 'version', 'dist.integrity', '--json', '--loglevel=error'];
  const asked = { cwd: dir, doing: `look up ${spec}`, timeoutMs: REGISTRY_MS, signal };
  const printed = await runNpm(argv, asked).catch((error: Error) => {
    const { code, stdout } = (error.cause ?? {}) as { readonly code?: unknown; readonly stdout?: string };
    if (signal.aborted || code === 'ENOENT') throw error;
    const isUnknown = /E404|ETARGET/.test(`${stdout} ${error.message}`);
    const what = isUnknown ? `the registry has no ${spec}` : `the registry did not answer about ${spec}`;
    throw new RunClaudeError('CLAUDE_VERSION', what, { cause: error, hint: HINT });
  });
  const answer = jsonIn(printed);
  const [version, integrity] = [text(answer, 'version'), text(answer, 'dist.integrity')];
  if (VERSION.test(version) && /^sha512-[A-Za-z0-9+/]{86}==$/.test(integrity)) return { version, integrity };
  throw new RunClaudeError('CLAUDE_VERSION', `the registry has no ${spec} with a SHA-512 hash`, { hint: HINT });
}

const answersFile = (dir: string): string => join(dir, 'claude-releases.json');

async function readAnswers(dir: string): Promise<Answers> {
  const parsed = answersSchema.safeParse(jsonIn(await readFile(answersFile(dir), 'utf8').catch(() => '')));
  return parsed.success ? parsed.data : { hashes: {}, latest: {} };
}

/** Keeps an answer: of each version the first hash, and the latest version where that was asked for. */
async function keepAnswer(
  dir: string,
  name: string,
  { version, integrity }: Answer,
  newest?: Answers['latest'][string],
): Promise<void> {
  const { hashes, latest } = await readAnswers(dir);
  const answers: Answers = {
    hashes: { ...hashes, [name]: { [version]: integrity, ...hashes[name] } },
    latest: newest === undefined ? latest : { ...latest, [name]: newest },
  };
  const next = `${answersFile(dir)}.${process.pid}`;
  await writeFile(next, `${JSON.stringify(answers, null, 2)}\n`, { mode: 0o600 });
  await rename(next, answersFile(dir));
}

function text(value: unknown, key: string): string {
  const field: unknown = typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined;
  return typeof field === 'string' ? field : '';
}
