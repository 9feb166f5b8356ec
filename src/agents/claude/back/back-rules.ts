import type { EntryKind } from '../../../core/types/entry.ts';
import type { Severity } from '../../../core/types/finding.ts';
import { isKnownName, ruleOf } from '../formats/entries.ts';
import { nestingOf } from '../formats/json-depth.ts';
import { isConversationId } from '../formats/transcript.ts';

/** How a path of the home comes back. */
export interface BackRule {
  readonly kind: 'transcript' | 'history' | 'text';
  readonly name: string;
  readonly maxBytes: number;
  /** Its path in the instance. */
  readonly target: (path: string) => string;
  /** Why the content is refused; undefined where it is accepted. */
  readonly check: (content: Buffer) => string | undefined;
}

const PLAIN_NAME = /^[A-Za-z0-9][A-Za-z0-9._ -]{0,120}$/;
const withoutDotClaude = (path: string): string => path.slice('.claude/'.length);
const acceptAny = (): undefined => undefined;

const TRANSCRIPT: BackRule = {
  kind: 'transcript',
  name: 'Transcript',
  maxBytes: 512 << 20,
  target: withoutDotClaude,
  check: acceptAny,
};
const HISTORY: BackRule = {
  kind: 'history',
  name: 'History',
  maxBytes: 64 << 20,
  target: withoutDotClaude,
  check: acceptAny,
};
const markdown = (name: string): BackRule => ({
  kind: 'text',
  name,
  maxBytes: 1 << 20,
  target: withoutDotClaude,
  check: checkText,
});
const MEMORY = markdown('Memory file');
const PLAN = markdown('Plan');
const TODO: BackRule = {
  kind: 'text',
  name: 'To-do list',
  maxBytes: 1 << 20,
  target: withoutDotClaude,
  check: checkJson,
};

/**
 * The allowlist: the rule for a path below the session's home; undefined for a path that never comes back. Matches only
 * conversation ids, plain names and the folder of this project, in this exact spelling.
 */
export function backRule(path: string): BackRule | undefined {
  const [top, first, second, third, ...rest] = withoutDotClaude(path).split('/');
  if (top === 'history.jsonl' && first === undefined) return HISTORY;
  if (rest.length > 0) return undefined;
  if (top === 'projects' && first === '-workspace') {
    if (third === undefined && second?.endsWith('.jsonl') && isConversationId(second.slice(0, -6))) return TRANSCRIPT;
    if (second === 'memory' && third !== undefined && PLAIN_NAME.test(third) && third.endsWith('.md')) return MEMORY;
    return undefined;
  }
  if (third !== undefined) return undefined;
  if (top === 'plans' && second === undefined && first?.endsWith('.md') && PLAIN_NAME.test(first)) return PLAN;
  if (top === 'todos' && second === undefined && /^[0-9a-f-]{36}-agent-[0-9a-f-]{36}\.json$/.test(first ?? ''))
    return TODO;
  if (top === 'tasks' && isConversationId(first ?? '') && /^\d{1,6}\.json$/.test(second ?? '')) return TODO;
  return undefined;
}

function checkText(content: Buffer): string | undefined {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(content);
  } catch {
    return 'it is not UTF-8 text';
  }
  return content.includes(0) ? 'it contains a NUL byte' : undefined;
}

function checkJson(content: Buffer): string | undefined {
  const text = content.toString('utf8');
  if (nestingOf(text) > 50) return 'it nests too deeply';
  try {
    JSON.parse(text);
    return undefined;
  } catch {
    return 'it is not JSON';
  }
}

/** The finding for a path that never comes back. */
export interface RefusedPath {
  readonly rule: string;
  readonly severity: Severity;
  readonly title: string;
  readonly why: string;
}

/** The finding for a path that never comes back; undefined for what Claude itself writes in any session. */
export function refusedPath(path: string, kind: EntryKind): RefusedPath | undefined {
  const inside = withoutDotClaude(path);
  const top = inside.split('/')[0] ?? '';
  if (/(^|\/)[a-z]+-hook-[^/]*\.sh$/.test(inside))
    return {
      rule: 'claude-session-env',
      severity: 'blocked',
      title: 'Script for a resumed session',
      why: 'Claude runs it before each command when this session is resumed. It never comes back.',
    };
  if (kind !== 'file' && kind !== 'dir')
    return { rule: 'claude-data-kind', severity: 'blocked', title: `A ${kind}`, why: 'Only plain files come back.' };
  if (
    inside.startsWith('plugins/store/') ||
    (top === 'projects' && /^projects\/-workspace\/[0-9a-f-]{36}\//.test(inside))
  )
    return undefined;
  if (top === 'projects')
    return {
      rule: 'claude-other-project',
      severity: 'blocked',
      title: 'Data of another project',
      why: "A session writes its own project's data only.",
    };
  const rule = ruleOf(top);
  if (rule.change === 'own' && rule.back === 'never') return undefined;
  if (!isKnownName(top))
    return {
      rule: 'claude-unknown',
      severity: 'note',
      title: 'Unknown entry',
      why: 'This version of run-claude does not know it. It does not come back.',
    };
  return {
    rule: 'claude-config',
    severity: 'blocked',
    title: "Claude's configuration written",
    why: 'Claude on the host would run, obey or trust it. It never comes back.',
  };
}
