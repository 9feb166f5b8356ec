import { rules } from '@secretlint/secretlint-rule-preset-recommend';
import type { SecretLintRuleContext, SecretLintSourceCode } from '@secretlint/types';
import { lazy } from './lazy.ts';

/** A secret in a text: what kind, and where it begins. Never the secret itself. */
export interface FoundSecret {
  readonly kind: string;
  readonly index: number;
}

type Report = (kind: string, from: number, to: number) => void;
/** Two rules of the set do not detect text: one reads comments that disable others, one opens files by their path. */
const LEFT_OUT = /-(filter-comments|gcp)$/;

/** The detectors of secretlint's recommended set, built once; each reports to `hearer`. */
const detectors = lazy(() => {
  const hearer: { report: Report } = { report: () => undefined };
  const handlers = rules
    .filter((rule) => !LEFT_OUT.test(rule.meta.id))
    .map((rule) => {
      const kind = rule.meta.id.replace(/^.*secretlint-rule-/, '');
      const context = {
        createTranslator: () => (messageId: string) => ({ messageId, message: messageId }),
        report: ({ range: [from, to] }: { readonly range: readonly [number, number] }) => hearer.report(kind, from, to),
        ignore: () => undefined,
        sharedOptions: {},
      };
      return rule.create(context as unknown as SecretLintRuleContext, {});
    });
  return { hearer, handlers };
});

/**
 * What the maintained rules of secretlint find in a text, of a file of that name. Pure: they are given no path that they
 * could open, and those kept answer at once.
 */
export function maintainedSecrets(text: string, name: string): readonly (FoundSecret & { readonly match: string })[] {
  const { hearer, handlers } = detectors();
  const found: (FoundSecret & { readonly match: string })[] = [];
  hearer.report = (kind, from, to) => void found.push({ kind, index: from, match: text.slice(from, to) });
  const source = {
    content: text,
    filePath: name,
    ext: /\.[^.]*$/.exec(name)?.[0] ?? '',
    contentType: 'text',
    hasBOM: false,
  } as unknown as SecretLintSourceCode;
  for (const handler of handlers) void handler.file?.(source);
  return found;
}
