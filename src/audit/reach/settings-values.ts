import { foldPath, indexGlobs } from '../formats/glob.ts';
import { lazy } from '../formats/lazy.ts';
import { readStructure } from '../formats/structured.ts';
import { plainKeysOf } from '../judges/judge.ts';
import type { Judge } from '../judges/rule.ts';
import { FILE_RULES } from '../rules/all.ts';

type SettingsJudge = Extract<Judge, { kind: 'settings' }>;

/** Every table of plain settings, with the names of its files. */
const tables = lazy(() => {
  const all = FILE_RULES.flatMap((rule) =>
    rule.judges.flatMap((one) =>
      one.kind === 'settings' ? [{ judge: one as SettingsJudge, paths: one.paths ?? rule.paths }] : [],
    ),
  );
  return { judges: all.map(({ judge }) => judge), find: indexGlobs(all.map(({ paths }) => paths)) };
});

/** Whether a rule knows the plain settings of files of this name. */
export function isSettings(path: string): boolean {
  return SETTINGS_NAME.test(path) && tables().find(foldPath(path)).size > 0;
}

/** Only such names have tables; most files have none. */
const SETTINGS_NAME =
  /\.(json[c5]?|ya?ml|toml|ini|cfg|conf|xml|properties)$|(^|\/)\.[^/.]+(rc|8|yapf|style)?$|(^|\/)(Pipfile|\.[^/]*rc(\.[^/]*)?)$/i;

/**
 * The values of a settings file that are not plain data: they may lead to a file of the tree. Undefined where no rule
 * knows the file, or it does not parse.
 */
export function valuesThatLead(path: string, text: string): string[] | undefined {
  const { judges, find } = tables();
  const fitting = [...find(foldPath(path))].map((index) => judges[index] as SettingsJudge);
  const [first] = fitting;
  const structure = first === undefined ? undefined : readStructure(text, first.format, path);
  if (structure === undefined) return undefined;
  return structure.leaves
    .filter((leaf) =>
      fitting.some(({ plain, safe }) => !plainKeysOf(plain)(leaf) && safe?.test(`${leaf.key}=${leaf.value}`) !== true),
    )
    .flatMap(({ value }) => value.split('\n'));
}
