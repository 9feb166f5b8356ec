import { auditChanges } from '../../../src/audit/audit.ts';
import { decodeBytes, type RelPath } from '../../../src/core/text/path.ts';
import type { Change, Digest, Entry } from '../../../src/core/types/entry.ts';
import { mayMove, rulesByPath } from '../variants/choice.ts';
import { type AttackFile, MUTATORS, mutate } from '../variants/variants.ts';
import type { Judged } from './judge-case.ts';

/** Variants of a session's files that no rule finds, one sentence each, and how many were tried. */
export interface JudgedVariants {
  readonly silent: readonly string[];
  readonly count: number;
}

/** Longer texts have no spelling that a mutator could change. */
const MAX_MUTATED_CHARS = 20_000;

/** Judges what the session left once more for each mutator, with every file that has a finding in that spelling. */
export function judgeVariants({ input, findings }: Judged): JudgedVariants {
  const rules = rulesByPath(findings.filter(({ rule }) => rule !== 'new-kind'));
  const texts = input.changes.flatMap((change) => {
    const text = rules.has(change.path) ? textsOf(change, input.content) : undefined;
    return text === undefined ? [] : [{ change, text, rules: rules.get(change.path) as Set<string> }];
  });
  const taken = new Set<string>([...(input.base?.paths ?? []), ...input.changes.map(({ path }) => path)]);
  const linked = new Set<string>(
    findings.filter(({ detail }) => detail?.startsWith('through ')).map(({ path }) => path),
  );
  const silent: string[] = [];
  let count = 0;
  for (const mutator of MUTATORS) {
    const variants = new Map<Change, AttackFile>();
    for (const { change, text, rules: own } of texts) {
      // Where a link gives the file a name that counts, its own name may be any.
      if (mutator.path !== undefined && (linked.has(text.path) || !mayMove(text.path, own, mutator))) continue;
      const variant = mutate(text, [mutator]);
      if (variant !== undefined && (variant.path === text.path || !taken.has(variant.path)))
        variants.set(change, variant);
    }
    if (variants.size === 0) continue;
    count += variants.size;
    const contents = new Map<Digest, Buffer>();
    const changes = input.changes.map((change) => {
      const variant = variants.get(change);
      return variant === undefined ? change : withTexts(change, variant, contents);
    });
    const content = (digest: Digest): Buffer | undefined => contents.get(digest) ?? input.content(digest);
    const found = rulesByPath(auditChanges({ ...input, changes, content }).filter(({ rule }) => rule !== 'new-kind'));
    for (const { path, after } of variants.values())
      if (!found.has(path)) silent.push(`${mutator.name}: ${path}: ${JSON.stringify(after.slice(0, 300))}`);
  }
  return { silent, count };
}

/** Both sides of a change of a text; undefined for other changes. */
function textsOf({ path, before, after }: Change, content: Judged['input']['content']): AttackFile | undefined {
  const [old, now] = [before, after].map((entry) => textOf(entry, content));
  if (
    now === undefined ||
    now.length > MAX_MUTATED_CHARS ||
    now.includes('\0') ||
    (before !== undefined && old === undefined)
  )
    return undefined;
  return { path, before: old, after: now };
}

function textOf(entry: Entry | undefined, content: Judged['input']['content']): string | undefined {
  if (entry?.kind !== 'file' || entry.digest === undefined) return undefined;
  const bytes = content(entry.digest);
  return bytes === undefined ? undefined : decodeBytes(bytes);
}

function withTexts(change: Change, { path, before, after }: AttackFile, contents: Map<Digest, Buffer>): Change {
  const file = (text: string, entry: Entry | undefined): Entry => {
    const digest = `variant ${contents.size}`;
    const bytes = Buffer.from(text);
    contents.set(digest, bytes);
    return { ...(entry ?? (change.after as Entry)), digest, size: bytes.length };
  };
  const { before: _, ...rest } = change;
  return {
    ...rest,
    path: path as RelPath,
    kind: before === undefined ? 'created' : 'modified',
    ...(before === undefined ? {} : { before: file(before, change.before) }),
    after: file(after, change.after),
  };
}
