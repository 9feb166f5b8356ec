import { asObject, type JsonObject } from '../../../core/text/json-in.ts';
import { ownValue } from '../../../core/text/own-value.ts';
import { nestingOf } from './json-depth.ts';

const MAX_DEPTH = 200;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** Whether a text is the id of a conversation, as Claude makes them. */
export function isConversationId(text: string): boolean {
  return UUID.test(text);
}

/** How the records of a transcript are rebuilt. */
export interface TranscriptFrame {
  readonly sessionId: string;
  /** Maps the cwd of a record; a path outside the project becomes the project's root. */
  readonly mapCwd: (cwd: string) => string;
  /** The session that wrote the records; undefined for transcripts of the host. */
  readonly madeIn?: string;
}

/** Kinds of records that only repeat the conversation. About 40 others act when it is resumed on the host. */
type Rebuild = (record: JsonObject, frame: TranscriptFrame) => JsonObject | undefined;
const KINDS: Readonly<Record<string, Rebuild>> = {
  user: (record, frame) => turn(record, frame, 'user'),
  assistant: (record, frame) => turn(record, frame, 'assistant'),
  system: systemText,
  summary: (record) => strings(record, ['summary', 'leafUuid']),
  'custom-title': (record) => strings(record, ['customTitle']),
  'ai-title': (record) => strings(record, ['aiTitle']),
};

/** Content blocks with text, pictures, or input and output of tools: showing them again executes nothing. */
const BLOCKS = new Set(['text', 'thinking', 'redacted_thinking', 'tool_use', 'tool_result', 'image', 'document']);
const SYSTEM_KINDS = new Set(['compact_boundary', 'informational', 'local_command', 'turn_duration', 'api_error']);

/**
 * Filters a transcript line by line. Keeps records that only repeat the conversation, rebuilt from known fields, with
 * mapped paths and with parents that skip dropped records. Counts dropped records by kind.
 */
export class TranscriptFilter {
  readonly dropped = new Map<string, number>();
  kept = 0;
  /** The user's turns among the kept records. */
  userTurns = 0;
  readonly #frame: TranscriptFrame;
  readonly #parents = new Map<string, string | null>();
  readonly #seen = new Set<string>();

  constructor(frame: TranscriptFrame) {
    this.#frame = frame;
  }

  /** The line to keep, without its end; undefined when it is dropped. */
  line(text: string): string | undefined {
    if (text.trim() === '') return undefined;
    const record = parseLine(text);
    if (record === undefined) return this.#drop('invalid');
    const kind = typeof record['type'] === 'string' ? record['type'] : 'invalid';
    const uuid = uuidOf(record['uuid']);
    const parent = uuidOf(record['parentUuid']) ?? null;
    const rebuild = ownValue(KINDS, kind);
    const rebuilt =
      record['sessionId'] === this.#frame.sessionId || kind === 'summary' ? rebuild?.(record, this.#frame) : undefined;
    if (rebuilt === undefined || (uuid !== undefined && this.#seen.has(uuid))) {
      if (uuid !== undefined && !this.#seen.has(uuid)) this.#parents.set(uuid, parent);
      return this.#drop(Object.hasOwn(KINDS, kind) && kind !== 'invalid' ? `${kind} (not well-formed)` : kind);
    }
    if (uuid !== undefined) this.#seen.add(uuid);
    if ('parentUuid' in rebuilt) rebuilt['parentUuid'] = this.#keptAncestor(parent);
    this.kept += 1;
    if (kind === 'user' && typeof asObject(record['message'])?.['content'] === 'string') this.userTurns += 1;
    const marked = this.#frame.madeIn === undefined ? rebuilt : { ...rebuilt, madeInSandbox: this.#frame.madeIn };
    return JSON.stringify({ type: kind, ...marked });
  }

  /** The nearest ancestor that was kept, so that the conversation stays connected. */
  #keptAncestor(parent: string | null): string | null {
    let at = parent;
    for (let steps = 0; at !== null && steps < 100_000; steps += 1) {
      const above = this.#parents.get(at);
      if (above === undefined || this.#seen.has(at)) return at;
      at = above;
    }
    return null;
  }

  #drop(kind: string): undefined {
    const name = /^[a-z0-9 ()-]{1,60}$/i.test(kind) ? kind : 'invalid';
    this.dropped.set(name, (this.dropped.get(name) ?? 0) + 1);
    return undefined;
  }
}

function parseLine(text: string): JsonObject | undefined {
  if (nestingOf(text) > MAX_DEPTH || text.includes('\0')) return undefined;
  try {
    return asObject(JSON.parse(text, (key, value: unknown) => (key === '__proto__' ? undefined : value)));
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function uuidOf(value: unknown): string | undefined {
  return typeof value === 'string' && UUID.test(value) ? value : undefined;
}

function strings(record: JsonObject, names: readonly string[]): JsonObject | undefined {
  const out: JsonObject = {};
  for (const name of ['sessionId', ...names]) {
    const value = record[name];
    if (typeof value === 'string' && value.length < 10_000) out[name] = value;
    else if (name !== 'sessionId') return undefined;
  }
  return out;
}

/** The fields of every record of a turn. */
function common(record: JsonObject, frame: TranscriptFrame): JsonObject | undefined {
  const uuid = uuidOf(record['uuid']);
  const timestamp = record['timestamp'];
  if (uuid === undefined || typeof timestamp !== 'string' || !/^[\d:.TZ+-]{10,40}$/.test(timestamp)) return undefined;
  const cwd = typeof record['cwd'] === 'string' ? record['cwd'] : '/';
  const out: JsonObject = {
    parentUuid: null,
    isSidechain: record['isSidechain'] === true,
    uuid,
    timestamp,
    userType: 'external',
    cwd: frame.mapCwd(cwd),
    sessionId: frame.sessionId,
  };
  for (const name of ['version', 'gitBranch', 'requestId']) {
    const value = record[name];
    if (typeof value === 'string' && /^[\w./@+-]{1,200}$/.test(value)) out[name] = value;
  }
  const entrypoint = record['entrypoint'];
  // Claude's --continue and its list of conversations skip those that a program drove. The user started the conversation
  // of a `-p` session, and may continue it.
  if (
    typeof entrypoint === 'string' &&
    /^[\w-]{1,60}$/.test(entrypoint) &&
    (entrypoint !== 'sdk-cli' || frame.madeIn === undefined)
  )
    out['entrypoint'] = entrypoint;
  for (const name of ['isMeta', 'isCompactSummary', 'isVisibleInTranscriptOnly', 'isApiErrorMessage'])
    if (record[name] === true) out[name] = true;
  return out;
}

function turn(record: JsonObject, frame: TranscriptFrame, role: 'user' | 'assistant'): JsonObject | undefined {
  const out = common(record, frame);
  const message = asObject(record['message']);
  const content = contentOf(message?.['content']);
  if (out === undefined || message?.['role'] !== role || content === undefined) return undefined;
  if (role === 'user') return { ...out, message: { role, content } };
  const kept: JsonObject = { role, type: 'message', content };
  for (const name of ['id', 'model', 'stop_reason', 'stop_sequence']) {
    const value = message[name];
    if (value === null || (typeof value === 'string' && value.length < 200)) kept[name] = value;
  }
  kept['usage'] = numbers(message['usage']);
  return { ...out, message: kept };
}

function contentOf(content: unknown): unknown {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return undefined;
  const blocks = content.filter((block) => BLOCKS.has(String(asObject(block)?.['type'])));
  return blocks.length === 0 ? undefined : blocks;
}

function numbers(usage: unknown): JsonObject {
  const out: JsonObject = {};
  for (const [name, value] of Object.entries(asObject(usage) ?? {}))
    if (typeof value === 'number' && /^[a-z_]{1,60}$/.test(name)) out[name] = value;
  return { input_tokens: 0, output_tokens: 0, ...out };
}

function systemText(record: JsonObject, frame: TranscriptFrame): JsonObject | undefined {
  const out = common(record, frame);
  const { subtype, content } = record;
  if (out === undefined || typeof subtype !== 'string' || !SYSTEM_KINDS.has(subtype)) return undefined;
  if (content !== undefined && typeof content !== 'string') return undefined;
  const logical = uuidOf(record['logicalParentUuid']);
  return {
    ...out,
    subtype,
    ...(content === undefined ? {} : { content }),
    ...(logical === undefined ? {} : { logicalParentUuid: logical }),
    ...(subtype === 'compact_boundary' ? { compactMetadata: numbersAndTrigger(record['compactMetadata']) } : {}),
  };
}

function numbersAndTrigger(metadata: unknown): JsonObject {
  const trigger = asObject(metadata)?.['trigger'];
  const tokens = asObject(metadata)?.['preTokens'];
  return { trigger: trigger === 'manual' ? 'manual' : 'auto', preTokens: typeof tokens === 'number' ? tokens : 0 };
}
