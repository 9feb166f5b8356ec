import { findingsOf, unjudged, unjudgedTogether } from '../../audit/findings.ts';
import type { Hit } from '../../audit/hit.ts';
import type { AuditInput, BaseReader } from '../../audit/input.ts';
import { RunClaudeError } from '../../core/errors.ts';
import type { Change, Digest } from '../../core/types/entry.ts';
import type { Tell } from '../../core/types/event.ts';
import type { Finding } from '../../core/types/finding.ts';
import { AuditProgress } from './audit-progress.ts';
import { JudgeDied, JudgeProcess } from './judge-process.ts';
import type { AuditSettings, BasePlace, FromJudge, ToJudge } from './protocol.ts';

/** Content that this process has, and the base, where there is one. */
export interface OwnContent {
  readonly content: (digest: Digest) => Buffer | undefined;
  readonly base?: BaseReader;
}

/** Frozen content of a session: the judge reads it by itself. */
export interface FrozenContent {
  readonly store: string;
  readonly base: BasePlace;
}

export interface JudgeRequest extends AuditSettings, Pick<AuditInput, 'severities'> {
  readonly changes: readonly Change[];
  readonly signal?: AbortSignal | undefined;
  /** Gets the progress of an audit that takes long. */
  readonly tell?: Tell | undefined;
}

/** Changes of one message, and of one answer. */
const MESSAGE_CHANGES = 500;
const BATCH = 64;
/** Paths of one message: they are written while an agent uses the terminal. */
const MESSAGE_PATHS = 2000;
/** So often a new process is started: after that, what is not judged is blocked. */
const MAX_DEATHS = 16;

/**
 * Judges changes in its own process: what a session wrote can end that process, and nothing else. The changes that it
 * had not finished are judged again one at a time in a new process, and the one that ends it again is blocked.
 */
export class ChangeJudge implements Disposable {
  readonly #source: OwnContent | FrozenContent;
  #process: Promise<JudgeProcess> | undefined;
  #current: JudgeProcess | undefined;
  #turn: Promise<void> = Promise.resolve();

  constructor(source: OwnContent | FrozenContent) {
    this.#source = source;
  }

  /** Starts the process, which an audit would wait for otherwise. What fails here fails again in the audit. */
  start(): void {
    this.#open().catch(() => undefined);
  }

  /** The process id, once it runs. */
  get pid(): number | undefined {
    return this.#current?.pid;
  }

  /**
   * Reads the base and builds tables for this long. Returns whether nothing is left to do.
   *
   * @throws {JudgeDied | RunClaudeError}
   */
  warm(sliceMs: number): Promise<boolean> {
    return this.#inTurn(async () => {
      const judge = await this.#open();
      await judge.send({ kind: 'warm', sliceMs });
      const answer = await this.#answer(judge);
      return answer.kind === 'warmed' && answer.isDone;
    });
  }

  /**
   * The findings for the changes, as auditChanges gives them.
   *
   * @throws {RunClaudeError} JUDGE_UNAVAILABLE, JUDGE_FAILED for an error of the system; the signal's reason.
   */
  async audit(request: JudgeRequest): Promise<Finding[]> {
    const { signal, changes, severities, tell = () => undefined } = request;
    if (changes.every(({ ignored }) => ignored === true)) return findingsOf([], severities, []);
    signal?.throwIfAborted();
    const abort = (): void => this.#drop(signal?.reason as Error);
    signal?.addEventListener('abort', abort);
    try {
      return await this.#inTurn(async () => {
        signal?.throwIfAborted();
        using progress = new AuditProgress(tell, changes.length);
        return findingsOf(await new Run(request, this, progress).judgeAll(), severities, changes);
      });
    } finally {
      signal?.removeEventListener('abort', abort);
    }
  }

  [Symbol.dispose](): void {
    this.#drop();
  }

  /** A process that has these changes. Internal to an audit. */
  async begin(settings: AuditSettings, changes: readonly Change[]): Promise<JudgeProcess> {
    const judge = await this.#open();
    await judge.send({ kind: 'audit', settings });
    for (let at = 0; at < changes.length; at += MESSAGE_CHANGES)
      await judge.send({ kind: 'changes', changes: changes.slice(at, at + MESSAGE_CHANGES) });
    return judge;
  }

  /** Sends a request and hands its answers on until `take` returns true. Internal to an audit. */
  async ask(judge: JudgeProcess, message: ToJudge, take: (answer: FromJudge) => boolean): Promise<void> {
    await judge.send(message);
    while (!take(await this.#answer(judge)));
  }

  /** Ends the process; the next request starts another one. Internal to an audit. */
  drop(): void {
    this.#drop();
  }

  async #answer(judge: JudgeProcess): Promise<FromJudge> {
    for (;;) {
      const { message } = await judge.receive();
      if (message.kind === 'ask' || message.kind === 'ask-base') {
        const bytes = this.#own(message);
        await judge.send({ kind: 'content', isMissing: bytes === undefined }, bytes);
      } else if (message.kind === 'failed') {
        throw new RunClaudeError('JUDGE_FAILED', `the changes cannot be audited: ${message.message}`, {
          hint: 'Look at the disk, then start the audit again with: run-claude diff',
        });
      } else return message;
    }
  }

  #own(message: Extract<FromJudge, { kind: 'ask' | 'ask-base' }>): Buffer | undefined {
    if ('store' in this.#source) return undefined;
    return message.kind === 'ask' ? this.#source.content(message.digest) : this.#source.base?.read(message.path);
  }

  /** The process answers one request at a time: an audit begins where a piece of work ahead ends. */
  async #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const { promise, resolve } = newTurn();
    const before = this.#turn;
    this.#turn = promise;
    await before;
    try {
      return await work();
    } finally {
      resolve();
    }
  }

  #open(): Promise<JudgeProcess> {
    this.#process ??= this.#spawn();
    return this.#process;
  }

  async #spawn(): Promise<JudgeProcess> {
    const judge = new JudgeProcess();
    this.#current = judge;
    await judge.ready();
    const source = this.#source;
    if ('store' in source) {
      await judge.send({ kind: 'open', source: { kind: 'frozen', ...source } });
      return judge;
    }
    await judge.send({ kind: 'open', source: { kind: 'asked', hasBase: source.base !== undefined } });
    await sendPaths(judge, source.base);
    return judge;
  }

  #drop(error?: Error): void {
    this.#current?.kill(error);
    this.#current = undefined;
    this.#process = undefined;
  }
}

function newTurn(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve = (): void => undefined;
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}

async function sendPaths(judge: JudgeProcess, base: BaseReader | undefined): Promise<void> {
  const paths = [...(base?.paths ?? [])];
  for (let at = 0; at < paths.length; at += MESSAGE_PATHS) {
    const some = paths.slice(at, at + MESSAGE_PATHS);
    const links = some.flatMap((path): [string, string][] => {
      const target = base?.linkTarget?.(path);
      return target === undefined ? [] : [[path, target]];
    });
    const executables = some.filter((path) => base?.executables?.has(path));
    await judge.send({ kind: 'paths', paths: some, executables, links });
  }
}

/** One audit, over as many processes as it takes. */
class Run {
  readonly #settings: AuditSettings;
  readonly #changes: Change[];
  readonly #judge: ChangeJudge;
  readonly #progress: AuditProgress;
  readonly #hits: Hit[] = [];
  /** Changes before this one are judged. */
  #done = 0;
  /** Changes before this one are judged one at a time. */
  #carefulTo = 0;
  #deaths = 0;

  constructor(request: JudgeRequest, judge: ChangeJudge, progress: AuditProgress) {
    const { changes, severities: _, signal: _signal, tell: _tell, ...settings } = request;
    this.#settings = settings;
    this.#changes = [...changes];
    this.#judge = judge;
    this.#progress = progress;
  }

  async judgeAll(): Promise<readonly Hit[]> {
    while (this.#done < this.#changes.length && this.#deaths <= MAX_DEATHS)
      await this.#untilDeath(() => this.#judgeOn());
    for (; this.#done < this.#changes.length; this.#done += 1) this.#block(this.#done, TOO_MANY);
    this.#progress.judgesTogether();
    let isDone = false;
    let why = TOO_MANY;
    for (let isCareful = false; !isDone && this.#deaths <= MAX_DEATHS; isCareful = true) {
      let at: string | undefined;
      const death = await this.#untilDeath(async () => {
        const judge = await this.#judge.begin(this.#settings, this.#changes);
        await this.#judge.ask(judge, { kind: 'together', isCareful }, (answer) => {
          if (answer.kind === 'at') at = answer.path;
          if (answer.kind === 'together') this.#add(answer.hits);
          return answer.kind === 'together';
        });
        isDone = true;
      });
      if (death === undefined) continue;
      why = death.message;
      const blamed = at === undefined ? -1 : this.#changes.findIndex(({ path }) => path === at);
      if (isCareful && (blamed < 0 || this.#changes[blamed]?.problem !== undefined)) break;
      if (isCareful) this.#block(blamed, why);
    }
    if (!isDone) this.#add(unjudgedTogether(this.#changes, why));
    return this.#hits;
  }

  /** From the first change that is not judged; in the careful part, one change for each answer. */
  async #judgeOn(): Promise<void> {
    const judge = await this.#judge.begin(this.#settings, this.#changes);
    while (this.#done < this.#changes.length) {
      const isCareful = this.#done < this.#carefulTo;
      const to = isCareful ? this.#carefulTo : this.#changes.length;
      const batch = isCareful ? 1 : BATCH;
      await this.#judge.ask(judge, { kind: 'judge', from: this.#done, to, batch }, (answer) => {
        if (answer.kind === 'hits') {
          this.#add(answer.hits);
          this.#done = answer.to;
          this.#progress.judged(this.#done);
        }
        return this.#done >= to;
      });
    }
  }

  /** Does it; returns how the process died. The change that was judged alone then is blocked. */
  async #untilDeath(work: () => Promise<void>): Promise<JudgeDied | undefined> {
    try {
      await work();
      return undefined;
    } catch (error) {
      if (!(error instanceof JudgeDied)) throw error;
      this.#judge.drop();
      this.#deaths += 1;
      if (this.#done < this.#carefulTo) {
        this.#block(this.#done, error.message);
        this.#done += 1;
      } else this.#carefulTo = Math.min(this.#done + BATCH, this.#changes.length);
      return error;
    }
  }

  /** Blocks a change, and keeps it out of what judges all changes together. */
  #block(at: number, why: string): void {
    const change = this.#changes[at] as Change;
    if (change.ignored !== true) this.#hits.push(unjudged(change.path, why));
    this.#changes[at] = { ...change, problem: why };
  }

  #add(hits: readonly Hit[]): void {
    for (const hit of hits) this.#hits.push(hit);
  }
}

const TOO_MANY = 'too many changes ended the process that judges';
