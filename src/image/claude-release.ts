import { execFile } from 'node:child_process';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { z } from 'zod';
import { RunClaudeError, usageError } from '../errors.ts';
import { packageRoot } from '../host/package.ts';
import type { Tell } from '../types/event.ts';
import type { PinnedPackage } from './pins.ts';
import { PINS_FILE, pinnedClaude } from './pins-file.ts';

export interface ReleaseRequest {
  /** The engine's architecture: each has a package of its own. */
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
 * answer.
 */
export async function findClaudeRelease(wanted: string, request: ReleaseRequest): Promise<PinnedPackage | undefined> {
  checkClaudeVersion(wanted);
  const pinned = pinnedClaude(await readFile(join(packageRoot, PINS_FILE)), request.arch);
  // Without a package for the architecture the build says so.
  if (pinned === undefined || wanted === pinned.version) return undefined;
  const dir = join(request.cacheDir, 'image');
  await mkdir(dir, { recursive: true, mode: 0o700 });
  const file = join(dir, 'claude-releases.json');
  const kept = await readAnswers(file);
  const version = wanted === 'latest' ? await latestVersion(pinned.name, { dir, file, kept }, request) : wanted;
  if (version === pinned.version) return undefined;
  const first = kept.hashes[pinned.name]?.[version];
  const integrity = first ?? (await askHash(pinned.name, version, dir, request));
  if (first === undefined) {
    const { hashes, latest } = await readAnswers(file);
    const ofPackage = { ...hashes[pinned.name], [version]: integrity };
    await writeAnswers(file, { hashes: { ...hashes, [pinned.name]: ofPackage }, latest });
  }
  return { file: pinned.file, name: pinned.name, version, integrity };
}

async function latestVersion(
  name: string,
  { dir, file, kept }: { readonly dir: string; readonly file: string; readonly kept: Answers },
  { refresh, tell, signal }: ReleaseRequest,
): Promise<string> {
  const before = kept.latest[name];
  if (!refresh && before !== undefined && Math.abs(Date.now() - before.askedMs) < LATEST_MS) return before.version;
  try {
    const { version } = await askRegistry(name, dir, signal);
    await writeAnswers(file, { ...kept, latest: { ...kept.latest, [name]: { version, askedMs: Date.now() } } });
    return version;
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
  if (answer.version === version) return answer.integrity;
  throw new RunClaudeError('CLAUDE_VERSION', `the registry has no ${name}@${version}`, { hint: HINT });
}

const HINT = 'Check the version and npm ping, or leave --claude-version out to use the pinned release.';

/** The user's npm asks: its registry, proxy and certificates count. `dir` has no .npmrc of a project. */
async function askRegistry(
  spec: string,
  dir: string,
  signal: AbortSignal,
): Promise<{ readonly version: string; readonly integrity: string }> {
  const argv = ['view', spec, 'version', 'dist.integrity', '--json', '--loglevel=error'];
  let out: string;
  try {
    ({ stdout: out } = await promisify(execFile)('npm', argv, { cwd: dir, timeout: REGISTRY_MS, signal }));
  } catch (error) {
    signal.throwIfAborted();
    const isUnknown = /E404|ETARGET/.test(String((error as { readonly stdout?: string }).stdout) + String(error));
    const what = isUnknown ? `the registry has no ${spec}` : `the registry did not answer about ${spec}`;
    throw new RunClaudeError('CLAUDE_VERSION', what, { cause: error, hint: HINT });
  }
  const answer = parseJson(out);
  const [version, integrity] = [text(answer, 'version'), text(answer, 'dist.integrity')];
  if (VERSION.test(version) && /^sha512-[A-Za-z0-9+/]{86}==$/.test(integrity)) return { version, integrity };
  throw new RunClaudeError('CLAUDE_VERSION', `the registry has no ${spec} with a SHA-512 hash`, { hint: HINT });
}

async function readAnswers(file: string): Promise<Answers> {
  const parsed = answersSchema.safeParse(parseJson(await readFile(file, 'utf8').catch(() => '')));
  return parsed.success ? parsed.data : { hashes: {}, latest: {} };
}

async function writeAnswers(file: string, answers: Answers): Promise<void> {
  const next = `${file}.${process.pid}`;
  await writeFile(next, `${JSON.stringify(answers, null, 2)}\n`, { mode: 0o600 });
  await rename(next, file);
}

function parseJson(source: string): unknown {
  try {
    return JSON.parse(source);
  } catch {
    // No answer, or a damaged file of earlier answers: both count as no answer.
    return undefined;
  }
}

function text(value: unknown, key: string): string {
  const field: unknown = typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined;
  return typeof field === 'string' ? field : '';
}
