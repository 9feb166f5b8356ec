import type { Severity } from '../core/types/finding.ts';
import type { Found, GeneralRule } from './general-rules/rule.ts';

/** One finding, before the configuration's severities. */
export interface Hit {
  readonly rule: string;
  readonly severity: Severity;
  readonly path: string;
  readonly title: string;
  readonly why: string;
  readonly detail?: string;
  readonly line?: number;
}

/**
 * What a look found as a finding, in the words of its rule.
 * `words`: another rule, whose words say better what it is.
 * @throws {TypeError} for a case that the rule does not have.
 */
export function hitOf(rule: GeneralRule, path: string, found: Found = {}, words = rule): Hit {
  const { case: name, detail, line } = found;
  const own = name === undefined ? {} : words.cases?.[name];
  if (own === undefined) throw new TypeError(`the rule ${words.id} has no case ${name}`);
  const { severity, title, why } = { severity: words.severity, title: words.title, why: words.why, ...own };
  const isNoted = found.isRemoval === true && severity === 'blocked';
  return {
    rule: rule.id,
    severity: isNoted ? 'note' : (found.severity ?? severity),
    title: isNoted ? `${title} (removed)` : title,
    why,
    path: found.path ?? path,
    ...(detail === undefined ? {} : { detail }),
    ...(line === undefined ? {} : { line }),
  };
}
