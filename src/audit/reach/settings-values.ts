import { foldPath, indexGlobs } from '../formats/glob.ts';
import { lazy } from '../formats/lazy.ts';
import type { Leaf } from '../formats/leaf.ts';
import { readStructure } from '../formats/structured.ts';
import { harmlessKeysOf } from '../judges/harmless-keys.ts';
import type { Look } from '../judges/rule.ts';
import { FILE_RULES } from '../rules/all.ts';

type SettingsLook = Extract<Look, { kind: 'settings' }>;

/** Every table of harmless settings, with the names of its files. */
const tables = lazy(() => {
  const all = FILE_RULES.flatMap((rule) =>
    rule.look.flatMap((one) =>
      one.kind === 'settings' ? [{ look: one as SettingsLook, files: one.files ?? rule.files }] : [],
    ),
  );
  return { looks: all.map(({ look }) => look), find: indexGlobs(all.map(({ files }) => files)) };
});

/** Whether a rule knows the plain settings of files of this name. */
export function isSettings(path: string): boolean {
  return SETTINGS_NAME.test(path) && tables().find(foldPath(path)).size > 0;
}

/** Only such names have tables; most files have none. */
const SETTINGS_NAME =
  /\.(json[c5]?|ya?ml|toml|ini|cfg|conf|xml|properties)$|(^|\/)\.[^/.]+(rc|8|yapf|style)?$|(^|\/)(Pipfile|\.[^/]*rc(\.[^/]*)?)$/i;

/**
 * The leaves of a settings file that are not plain data: they may lead to a file of the tree. Undefined where no rule
 * knows the file, or it does not parse.
 */
export function leavesThatLead(path: string, text: string): Leaf[] | undefined {
  const { looks, find } = tables();
  const fitting = [...find(foldPath(path))].map((index) => looks[index] as SettingsLook);
  const [first] = fitting;
  const structure = first === undefined ? undefined : readStructure(text, first.format, path);
  if (structure === undefined) return undefined;
  return structure.leaves.filter((leaf) => fitting.some(({ harmless }) => !harmlessKeysOf(harmless)(leaf)));
}
