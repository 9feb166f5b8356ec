import { readSync, writeSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import { type Audit, openAudit } from '../../audit/audit.ts';
import type { Hit } from '../../audit/hit.ts';
import type { AuditInput, BaseReader } from '../../audit/input.ts';
import { warmUp } from '../../audit/warm-up.ts';
import type { Change, Digest } from '../../core/types/entry.ts';
import { bodyLength, decodeFrame, encodeFrame, type Frame, HEADER_BYTES } from './frames.ts';
import { type AuditSettings, type FromJudge, PROTOCOL, type Source, type ToJudge } from './protocol.ts';
import { readBase } from './read-base.ts';
import { frozenContent } from './read-frozen.ts';

// The process that judges: it reads messages from stdin and answers on stdout, one at a time and without an event loop.
// Its start is in judge-process.ts. It ends where nobody reads what it writes.

/** Hits are handed on at least this often. */
const REPORT_MS = 100;
const [STDIN, STDOUT] = [0, 1];
/** How long it may compute on after the process that started it was killed. */
const ORPHAN_MS = 500;
/** In a thread: a judge that computes looks at no pipe, and has no event loop for a timer. */
const END_WITH_PARENT = `setInterval(() => {
  if (process.ppid !== ${process.ppid}) process.kill(process.pid, 'SIGKILL');
}, ${ORPHAN_MS})`;

function receive(): Frame {
  const header = readBytes(HEADER_BYTES);
  return decodeFrame(header, readBytes(bodyLength(header)));
}

function readBytes(length: number): Buffer {
  const bytes = Buffer.allocUnsafe(length);
  for (let at = 0; at < length; ) {
    const count = readSync(STDIN, bytes, at, length - at, null);
    if (count === 0) process.exit(0);
    at += count;
  }
  return bytes;
}

function send(message: FromJudge): void {
  const frame = encodeFrame(message);
  for (let at = 0; at < frame.length; ) at += writeSync(STDOUT, frame, at);
}

/** Content that the process that started this one has. */
function ask(message: FromJudge): Buffer | undefined {
  send(message);
  const { message: answer, bytes } = receive();
  return (answer as { readonly isMissing: boolean }).isMissing ? undefined : bytes;
}

/** What was opened; the base is complete before anything is judged. */
class OpenedAudit {
  readonly #source: Source;
  readonly #paths = new Set<string>();
  readonly #executables = new Set<string>();
  readonly #links = new Map<string, string>();
  #reading: Generator<void, BaseReader> | undefined;
  #base: BaseReader | undefined;
  #warming: Generator<void> | undefined;
  #changes: Change[] = [];
  #settings: AuditSettings = {};
  #audit: Audit | undefined;
  #looksAt: ((path: string) => void) | undefined;

  constructor(source: Source) {
    this.#source = source;
    if (source.kind === 'frozen') this.#reading = readBase(source.base);
    else if (source.hasBase)
      this.#base = {
        paths: this.#paths,
        executables: this.#executables,
        linkTarget: (path) => this.#links.get(path),
        read: (path) => ask({ kind: 'ask-base', path }),
      };
  }

  addPaths({ paths, executables, links }: Extract<ToJudge, { kind: 'paths' }>): void {
    for (const path of paths) this.#paths.add(path);
    for (const path of executables) this.#executables.add(path);
    for (const [link, target] of links) this.#links.set(link, target);
  }

  /** Works ahead for a slice of time; returns whether nothing is left to do. */
  warm(sliceMs: number): boolean {
    const end = performance.now() + sliceMs;
    while (performance.now() < end) {
      if (this.#reading !== undefined) {
        this.#readOn();
        continue;
      }
      this.#warming ??= warmUp(this.#base ?? { paths: [], read: () => undefined });
      if (this.#warming.next().done === true) return true;
    }
    return false;
  }

  begin(settings: AuditSettings): void {
    this.#settings = settings;
    this.#changes = [];
    this.#audit = undefined;
  }

  addChanges(changes: readonly Change[]): void {
    for (const change of changes) this.#changes.push(change);
  }

  judge(from: number, to: number, batch: number): void {
    let hits: Hit[] = [];
    let [last, lastMs] = [from, performance.now()];
    for (let at = from; at < to; at += 1) {
      for (const hit of this.#opened().judge(this.#changes[at] as Change)) hits.push(hit);
      if (at + 1 < to && at + 1 - last < batch && performance.now() - lastMs < REPORT_MS) continue;
      send({ kind: 'hits', to: at + 1, hits });
      [hits, last, lastMs] = [[], at + 1, performance.now()];
    }
  }

  together(isCareful: boolean): void {
    this.#looksAt = isCareful ? (path) => send({ kind: 'at', path }) : undefined;
    send({ kind: 'together', hits: this.#opened().judgeTogether() });
  }

  #opened(): Audit {
    while (this.#reading !== undefined) this.#readOn();
    this.#audit ??= openAudit(this.#input());
    return this.#audit;
  }

  #readOn(): void {
    const step = this.#reading?.next();
    if (step?.done !== true) return;
    this.#base = step.value;
    this.#reading = undefined;
  }

  #input(): AuditInput {
    const content =
      this.#source.kind === 'frozen'
        ? frozenContent(this.#source.store, this.#changes)
        : (digest: Digest) => ask({ kind: 'ask', digest });
    return {
      ...this.#settings,
      changes: this.#changes,
      content,
      ...(this.#base === undefined ? {} : { base: this.#base }),
      looksAt: (path) => this.#looksAt?.(path),
    };
  }
}

function answer(opened: OpenedAudit, message: ToJudge): void {
  if (message.kind === 'paths') opened.addPaths(message);
  else if (message.kind === 'warm') send({ kind: 'warmed', isDone: opened.warm(message.sliceMs) });
  else if (message.kind === 'audit') opened.begin(message.settings);
  else if (message.kind === 'changes') opened.addChanges(message.changes);
  else if (message.kind === 'judge') opened.judge(message.from, message.to, message.batch);
  else if (message.kind === 'together') opened.together(message.isCareful);
}

// Without own streams, the thread would make those of this process non-blocking: a long answer would be cut.
new Worker(END_WITH_PARENT, { eval: true, stdout: true, stderr: true });
send({ kind: 'hello', protocol: PROTOCOL });
let opened: OpenedAudit | undefined;
for (;;) {
  const message = receive().message as ToJudge;
  try {
    if (message.kind === 'open') opened = new OpenedAudit(message.source);
    else if (opened !== undefined) answer(opened, message);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EPIPE') process.exit(0);
    send({ kind: 'failed', message: error instanceof Error ? error.message : String(error) });
  }
}
