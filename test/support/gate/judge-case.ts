import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { auditChanges } from '../../../src/audit/audit.ts';
import type { AuditInput } from '../../../src/audit/input.ts';
import type { ContentStore } from '../../../src/core/store/content.ts';
import { EVERYTHING } from '../../../src/core/text/selection.ts';
import type { Collected } from '../../../src/core/types/entry.ts';
import type { Finding } from '../../../src/core/types/finding.ts';
import type { Review } from '../../../src/core/types/review.ts';
import { buildReview } from '../../../src/review/choices/build-review.ts';
import { chooseClean } from '../../../src/review/choices/policy.ts';
import { matchRenames } from '../../../src/review/choices/renames/match-renames.ts';
import { readTree } from '../../../src/review/judging/read-base.ts';
import type { BaseTree } from '../../../src/workspace/base/base-tree.ts';
import { lackingPaths } from '../../../src/workspace/scan/lacking.ts';
import { rowsOf } from '../../../src/workspace/scan/packed-directory.ts';
import { walkTree } from '../../../src/workspace/scan/walk.ts';
import { collectChanges } from '../../../src/workspace/view/collect/collect.ts';
import { COMMIT, type GateCase, PRELUDE, PROJECT } from './cases.ts';
import { collectorOf, type ListedTree, listTree } from './listed-tree.ts';

/** The gate's findings for one script in one project, and what `--auto-apply` would have applied. */
export interface Judged {
  readonly input: AuditInput;
  readonly findings: readonly Finding[];
  readonly review: Review;
  readonly applied: readonly string[];
}

/**
 * Runs scripts as sessions, in copies of a case's project and without a container: the real copy of git's files, collection,
 * audit, review and choice. The scripts only write files; they find `$OUT` and an empty home next to the project.
 */
export class GateProjects implements Disposable {
  readonly #root = realpathSync(mkdtempSync(path.join(tmpdir(), 'run-claude-gate-')));
  readonly #templates = new Map<string, Promise<string>>();
  #sessions = 0;

  [Symbol.dispose](): void {
    rmSync(this.#root, { recursive: true, force: true });
  }

  async judge({ project = '', includeIgnored = false }: GateCase, script: string): Promise<Judged> {
    const template = await this.#templateOf(project);
    const place = path.join(this.#root, `session-${++this.#sessions}`);
    const workspace = path.join(place, 'workspace');
    try {
      copy(path.join(template, 'copy'), workspace);
      for (const folder of ['home', 'out']) mkdirSync(path.join(place, folder));
      const base = listTree(workspace);
      await bash(PRELUDE + script, place, 'workspace');
      return await judgeTrees(base, listTree(workspace), path.join(template, 'host', '.git'), includeIgnored);
    } finally {
      rmSync(place, { recursive: true, force: true });
    }
  }

  /** A directory with the project as the host has it, and as a session's copy begins. */
  #templateOf(script: string): Promise<string> {
    const known = this.#templates.get(script);
    if (known !== undefined) return known;
    const making = this.#makeTemplate(script, this.#templates.size);
    this.#templates.set(script, making);
    return making;
  }

  async #makeTemplate(script: string, index: number): Promise<string> {
    const place = path.join(this.#root, `project-${index}`);
    const host = path.join(place, 'host');
    for (const folder of ['home', 'out']) mkdirSync(path.join(place, folder), { recursive: true });
    if (script === '') {
      mkdirSync(host);
      await bash(PRELUDE + PROJECT + COMMIT, place, 'host');
    } else {
      copy(path.join(await this.#templateOf(''), 'host'), host);
      await bash(`${PRELUDE}${script}\n${COMMIT}`, place, 'host');
    }
    await copyAsSessionsDo(host, path.join(place, 'copy'));
    return place;
  }
}

function copy(from: string, to: string): void {
  cpSync(from, to, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true });
}

/** The copy has everything of the project, with the git files that the base rewrites. */
async function copyAsSessionsDo(host: string, to: string): Promise<void> {
  copy(host, to);
  const walked = await walkTree({ root: host, selection: EVERYTHING });
  for (const [dir, section] of walked.snapshot)
    for (const { name, kind } of rowsOf(section)) {
      const own = dir === '' ? name : `${dir}/${name}`;
      if (kind === 'g')
        writeFileSync(path.join(to, own), walked.rewrite(own, readFileSync(path.join(host, own))).bytes);
    }
}

const start = promisify(execFile);

async function bash(script: string, place: string, folder: string): Promise<void> {
  const env = {
    PATH: process.env['PATH'] ?? '/usr/bin:/bin',
    LANG: 'C.UTF-8',
    HOME: path.join(place, 'home'),
    OUT: path.join(place, 'out'),
    GIT_CONFIG_NOSYSTEM: '1',
  };
  await start('bash', ['-c', script], { cwd: path.join(place, folder), env });
}

async function judgeTrees(
  base: ListedTree,
  session: ListedTree,
  gitCommonDir: string,
  includeIgnored: boolean,
): Promise<Judged> {
  const contents = new Map<string, Buffer>();
  const baseEntries = [...base.values()].filter(({ entry }) => !/(^|\/)\.git(\/|$)/.test(entry.path));
  const collected: Collected = await collectChanges({
    ...collectorOf(base, session),
    store: storeOf(contents),
    frozen: { content: (_root, _entry, freeze) => freeze(), save: () => undefined },
    lacking: lackingPaths(EVERYTHING, []),
    includeIgnored,
    baseEntries: baseEntries.length,
    sparseBytes: 1 << 30,
    room: async () => 1e12,
    match: matchRenames,
    tell: () => undefined,
  });
  const tree: BaseTree = {
    entries: () => baseEntries.map(({ entry }) => entry as never),
    rootMode: () => 0o755,
    read: (file) => base.get(file)?.bytes,
    target: (link) => base.get(link)?.entry.target,
  };
  const reading = readTree(tree, path.join(gitCommonDir, 'config'));
  let read = reading.next();
  while (read.done !== true) read = reading.next();
  const input: AuditInput = {
    changes: collected.changes,
    content: (digest) => contents.get(digest),
    base: read.value,
    newKinds: 'ask',
    endedNs: String(BigInt(Date.now()) * 1_000_000n),
  };
  const findings = auditChanges(input);
  const review = buildReview({ collected, findings, allowSuspect: [], includeIgnored });
  return { input, findings, review, applied: chooseClean(review).chosen.map(({ change }) => change.path) };
}

function storeOf(contents: Map<string, Buffer>): ContentStore {
  return {
    async put(chunks) {
      const parts: Uint8Array[] = [];
      for await (const chunk of chunks) parts.push(chunk);
      const content = Buffer.concat(parts);
      const digest = createHash('sha256').update(content).digest('hex');
      contents.set(digest, content);
      return { digest, size: content.length };
    },
    has: async (digest) => contents.has(digest),
    flush: async () => undefined,
    read: async (digest) => contents.get(digest) ?? Buffer.alloc(0),
    pieces: (digest) => [contents.get(digest) ?? Buffer.alloc(0)],
  };
}

/** What of an attack is not held back, one sentence each; empty when it is caught whole. */
export function missesOf({ held }: GateCase, { findings, review, applied }: Judged): string[] {
  const serious = findings.filter(({ severity }) => severity !== 'note');
  const changed = review.items.map(({ change }) => change.path as string);
  const withheld = review.withheld.map(({ directory }) => directory);
  const all = changed.filter((one) => !changed.some((other) => other.startsWith(`${one}/`)));
  const wanted = held ?? all;
  if (wanted.length === 0) return ['the session changed nothing'];
  return wanted.flatMap((target) => {
    const isAt = (one: string): boolean => one === target || one.startsWith(`${target}/`);
    const isNear = (one: string): boolean => isAt(one) || target.startsWith(`${one}/`);
    // Ignored output is not judged: it stays out whatever it holds.
    const output = review.items.filter(({ change }) => isAt(change.path));
    const isOutput = output.length > 0 ? output.every(({ state }) => state === 'withheld') : withheld.some(isNear);
    const made = changed.some(isAt) || isOutput;
    const reached = applied.filter(isAt);
    if (!made) return [`${target}: the session did not change it`];
    if (reached.length > 0) return [`${target}: applied`];
    return isOutput || serious.some((one) => isNear(one.path)) ? [] : [`${target}: no finding`];
  });
}

/** The findings about ordinary work that the user would have to answer. */
export function alarmsOf({ findings }: Judged): string[] {
  return findings
    .filter(({ severity }) => severity !== 'note')
    .map(
      ({ severity, rule, path: at, detail }) =>
        `${severity} ${rule} ${at}${detail === undefined ? '' : ` (${detail})`}`,
    );
}
