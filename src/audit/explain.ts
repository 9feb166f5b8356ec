import { visible } from '../core/text/visible.ts';
import type { Change } from '../core/types/entry.ts';
import type { Finding } from '../core/types/finding.ts';
import { auditChanges } from './audit.ts';
import { fileRulesOf } from './files.ts';
import { foldPath } from './formats/glob.ts';
import { type AuditInput, type Scene, sceneOf } from './input.ts';
import { explainJudge, type JudgeExplanation, PLAIN_ONLY } from './judges/explain-judge.ts';
import { isHarmlessChange } from './judges/harmless-change.ts';
import { closerLooks, type Rule, reportsAny } from './judges/rule.ts';
import { aliasesOf } from './links.ts';
import { reachChain } from './reach/reached.ts';

/** What the audit says of one change, and what each rule that looked at it took as plain. Texts are cleaned. */
export interface Explanation {
  readonly path: string;
  readonly kind: Change['kind'];
  readonly findings: readonly Finding[];
  /** The files that lead to this one, each named by the next. Empty where nothing names it. */
  readonly reach: readonly string[];
  /** The rules for files of this name. The rules for every file (names, entries, content) speak only by their findings. */
  readonly rules: readonly RuleExplanation[];
}

export interface RuleExplanation {
  readonly rule: string;
  /** Whether the rule reports any change, whatever is in the file. */
  readonly always: boolean;
  readonly judges: readonly JudgeExplanation[];
}

/** Explains the audit of one change of the input. The input's other changes are judged with it, as in an audit. Pure. */
export function explainChange(input: AuditInput, change: Change): Explanation {
  const { path, kind, after, before } = change;
  const scene = sceneOf(input);
  const aliases = aliasesOf(scene);
  const names = [path, ...aliases.judged(path)];
  const isFile = (after ?? before)?.kind === 'file';
  return {
    path: visible(path),
    kind,
    reach: reachChain(scene, aliases.run, path).map(visible),
    findings: auditChanges(input).filter((finding) => finding.path === path || path.startsWith(`${finding.path}/`)),
    rules: isFile
      ? fileRulesOf(names)
          .filter(isForNames)
          .map((rule) => explainRule(scene, change, rule, names.length > 1))
      : [],
  };
}

const isForNames = ({ files }: Rule): boolean => !files.includes('*');

function explainRule(scene: Scene, change: Change, rule: Rule, hasOtherNames: boolean): RuleExplanation {
  const text = {
    path: foldPath(change.path),
    before: scene.text(change.before),
    after: scene.text(change.after),
    change,
    added: () => scene.added(change),
    deleted: () => scene.deleted(change),
  };
  const always = reportsAny(rule);
  if (!hasOtherNames && isHarmlessChange(rule, text)) return { rule: rule.id, always, judges: [PLAIN_ONLY] };
  const judges = closerLooks(rule).map((one) => explainJudge(one, text));
  return { rule: rule.id, always, judges: judges.map(cleaned) };
}

function cleaned({ looksFor, counts, plain }: JudgeExplanation): JudgeExplanation {
  return {
    looksFor,
    counts: counts.map(visible),
    plain: plain.map(({ what, why }) => ({ what: visible(what), why: visible(why) })),
  };
}
