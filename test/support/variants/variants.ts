import { JSON_MUTATORS } from './json.ts';
import { LINE_MUTATORS } from './lines.ts';
import type { Mutator } from './mutator.ts';
import { NESTING_MUTATORS } from './nesting.ts';
import { PATH_MUTATORS } from './paths.ts';
import { TOML_MUTATORS } from './toml.ts';
import { XML_MUTATORS } from './xml.ts';
import { YAML_MUTATORS } from './yaml.ts';

export const MUTATORS: readonly Mutator[] = [
  ...JSON_MUTATORS,
  ...YAML_MUTATORS,
  ...TOML_MUTATORS,
  ...XML_MUTATORS,
  ...LINE_MUTATORS,
  ...PATH_MUTATORS,
  ...NESTING_MUTATORS,
];

/** A file of an attack: text before the session (undefined: it is new) and after it. */
export interface AttackFile {
  readonly path: string;
  readonly before: string | undefined;
  readonly after: string;
}

/** The file as a mutator writes it; undefined where that changes nothing. Both sides are mutated, so that only the attack differs. */
export function mutate(file: AttackFile, mutators: readonly Mutator[]): AttackFile | undefined {
  let { path, before, after } = file;
  for (const one of mutators) {
    const lower = path.toLowerCase();
    if (one.text !== undefined) {
      const written = one.text(after, lower);
      if (written === undefined) return undefined;
      after = written;
      before = before === undefined ? one.empty : (one.text(before, lower) ?? one.empty ?? before);
    }
    if (one.path !== undefined) {
      const other = one.path(path);
      if (other === undefined) return undefined;
      path = other;
    }
  }
  return after === file.after && path === file.path ? undefined : { path, before, after };
}
