import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { cpSync, existsSync, lstatSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { type ContentStore, openContentStore } from '../../../src/core/store/content.ts';
import type { RelPath } from '../../../src/core/text/path.ts';
import type { Change, Entry, LeftMember } from '../../../src/core/types/entry.ts';
import { applyChanges } from '../../../src/review/apply/apply-changes.ts';
import type { ApplyRequest } from '../../../src/review/apply/apply-request.ts';
import { undoApply } from '../../../src/review/apply/undo.ts';
import { buildReview } from '../../../src/review/choices/build-review.ts';
import { possibleMembers } from '../../../src/review/choices/file-sets.ts';
import { chooseClean } from '../../../src/review/choices/policy.ts';
import { verdictTexts } from './lay.ts';

/** A project, the copy that a session began with, and what it left: folders of real files, also binary ones. */
export class BinaryScene {
  readonly project: string;
  readonly session: string;
  private readonly base: string;
  private readonly sessionDir: string;

  constructor(root: string) {
    this.project = path.join(root, 'project');
    this.session = path.join(root, 'session');
    this.base = path.join(root, 'base');
    this.sessionDir = path.join(root, 'state', 'sessions', '1');
    mkdirSync(this.project, { recursive: true });
  }

  /** The session begins: it gets a copy of the project as it is. */
  begin(): void {
    for (const to of [this.base, this.session]) cpSync(this.project, to, { recursive: true, preserveTimestamps: true });
  }

  /** Applies everything that is clean, as `apply --yes` does. */
  async apply(more: Partial<ApplyRequest> = {}) {
    const store = openContentStore(path.join(this.sessionDir, 'store'));
    const changes = await this.changes(store);
    const collected = { changes, problems: [], withheld: [], baseEntries: 100 };
    const review = buildReview({ collected, findings: [], allowSuspect: [], includeIgnored: false });
    const leftMembers = await this.leftMembers(changes, store);
    return verdictTexts(
      applyChanges({
        ...this.common(store),
        choice: chooseClean(review),
        leftMembers,
        conflict: 'keep',
        audit: () => [],
        acceptMerge: async () => true,
        ...more,
      }),
    );
  }

  undo() {
    return verdictTexts(undoApply(this.common(openContentStore(path.join(this.sessionDir, 'store')))));
  }

  names(): string[] {
    return readdirSync(this.project).sort();
  }

  private common(store: ContentStore) {
    return { project: this.project, sessionDir: this.sessionDir, store, tell: () => undefined, dryRun: false };
  }

  private async changes(store: ContentStore): Promise<Change[]> {
    const names = [...new Set([...filesBelow(this.base), ...filesBelow(this.session)])].sort();
    const found: Change[] = [];
    for (const name of names) {
      const before = await entryAt(this.base, name, store);
      const after = await entryAt(this.session, name, store);
      const sides = { ...(before && { before }), ...(after && { after }) };
      const kind = before === undefined ? 'created' : after === undefined ? 'deleted' : 'modified';
      if (before?.digest !== after?.digest || before?.kind !== after?.kind)
        found.push({ path: name as RelPath, kind, ...sides });
    }
    return found;
  }

  private async leftMembers(changes: readonly Change[], store: ContentStore): Promise<LeftMember[]> {
    const left: LeftMember[] = [];
    for (const name of possibleMembers(changes.map((one) => one.path))) {
      const entry = await entryAt(this.base, name, store);
      left.push({ path: name as RelPath, ...(entry && { entry }) });
    }
    return left;
  }
}

function filesBelow(root: string): string[] {
  return readdirSync(root, { recursive: true, encoding: 'utf8' });
}

async function entryAt(root: string, name: string, store: ContentStore): Promise<Entry | undefined> {
  const full = path.join(root, name);
  if (!existsSync(full)) return undefined;
  const stats = lstatSync(full, { bigint: true });
  const mode = Number(stats.mode) & 0o7777;
  if (stats.isDirectory()) return { kind: 'dir', mode, size: 0, mtimeNs: '0' };
  const { digest, size } = await store.put([readFileSync(full)]);
  return { kind: 'file', mode, size, mtimeNs: String(stats.mtimeNs), digest };
}

const DATABASE = `
import sqlite3, sys
c = sqlite3.connect(sys.argv[1], isolation_level=None)
for line in sys.stdin:
  if line.strip() == 'close': c.close()
  else: print(repr(c.execute(line).fetchall()), flush=True)
`;

/** An open connection to a SQLite database, in its own process. */
export class OpenDatabase {
  private readonly child: ChildProcess;
  private readonly answers: AsyncIterator<string>;

  constructor(file: string) {
    this.child = spawn('python3', ['-u', '-c', DATABASE, file], { stdio: ['pipe', 'pipe', 'inherit'] });
    const { stdout } = this.child;
    if (stdout === null) throw new Error('python3 has no output');
    this.answers = createInterface({ input: stdout })[Symbol.asyncIterator]();
  }

  async run(sql: string): Promise<string> {
    this.child.stdin?.write(`${sql}\n`);
    return (await this.answers.next()).value as string;
  }

  /** Closes the connection, as a program that ends does: the last one moves the log into the database. */
  async close(): Promise<void> {
    const ended = new Promise((resolve) => this.child.once('exit', resolve));
    this.child.stdin?.end('close\n');
    await ended;
  }

  /** Ends the process without closing the connection. */
  async kill(): Promise<void> {
    const ended = new Promise((resolve) => this.child.once('exit', resolve));
    this.child.kill('SIGKILL');
    await ended;
  }
}

/** Answers of a database that is opened and closed for it. */
export function queryDatabase(file: string, ...statements: string[]): string[] {
  const run = spawnSync('python3', ['-c', DATABASE, file], {
    input: `${statements.join('\n')}\nclose\n`,
    encoding: 'utf8',
  });
  return run.stdout.trim().split('\n');
}
