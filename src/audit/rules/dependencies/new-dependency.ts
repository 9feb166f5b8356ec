import { readStructure } from '../../formats/structured.ts';
import type { FileRule, JudgedText } from '../../judges/rule.ts';

/** Tables of a project's direct dependencies: their names are the keys, or the values. */
const TABLES: readonly { readonly path: RegExp; readonly key: RegExp; readonly named?: 'by value' }[] = [
  { path: /(^|\/)package\.json$/i, key: /^(?:dev|peer|optional)?[dD]ependencies\.([^=]+)$/ },
  { path: /(^|\/)composer\.json$/i, key: /^require(?:-dev)?\.([^=]+)$/ },
  { path: /(^|\/)cargo\.toml$/i, key: /^(?:target\..{1,100}\.)?(?:dev-|build-)?dependencies\.([\w-]+)/ },
  { path: /(^|\/)pyproject\.toml$/i, key: /^tool\.poetry\.(?:group\.[\w-]+\.)?dependencies\.([\w-]+)/ },
  {
    path: /(^|\/)pyproject\.toml$/i,
    key: /^(?:project\.(?:optional-)?dependencies|dependency-groups)\b.*\[\]$/,
    named: 'by value',
  },
  { path: /(^|\/)pubspec\.yaml$/i, key: /^(?:dev_)?dependencies\.([\w-]+)/ },
];
/** Files with one dependency for each line: `name==1`, `gem "name"`, `name v1.2.3`. */
const LINES: readonly { readonly path: RegExp; readonly name: RegExp }[] = [
  { path: /requirements[^/]*\.(txt|in)$/i, name: /^([A-Za-z0-9][\w.-]*)/ },
  { path: /(^|\/)gemfile$/i, name: /^gem\s*\(?\s*["']([\w.-]+)/ },
  { path: /(^|\/)go\.mod$/i, name: /^(?:require\s+)?([\w.-]+\.\w+\/[\w./~-]+)\s+v\d/ },
];

export const newDependencyRules: readonly FileRule[] = [
  {
    id: 'new-dependency',
    title: 'New dependency',
    family: 'languages',
    trigger: 'installing dependencies',
    severity: 'note',
    paths: [
      'package.json',
      'composer.json',
      'Cargo.toml',
      'pyproject.toml',
      'pubspec.yaml',
      '*requirements*.{txt,in}',
      'Gemfile',
      'go.mod',
    ],
    judges: [{ kind: 'custom', see: newNames }],
    why: 'A package of that name is fetched and may run at once. The name may only look like one that you know.',
    source: 'typosquatting reports',
  },
];

function newNames({ path, before, after }: JudgedText): string[] {
  if (before === undefined) return [];
  const had = new Set(namesIn(path, before));
  return [...new Set(namesIn(path, after ?? ''))].filter((name) => !had.has(name));
}

function namesIn(path: string, text: string): string[] {
  const lines = LINES.find((one) => one.path.test(path));
  if (lines !== undefined)
    return text.split('\n').flatMap((line) => lines.name.exec(line.slice(0, 1000).trim())?.[1]?.toLowerCase() ?? []);
  const tables = TABLES.filter((one) => one.path.test(path));
  const leaves = tables.length === 0 ? [] : (readStructure(text, 'auto', path)?.leaves ?? []);
  return leaves.flatMap(({ key, value }) =>
    tables.flatMap((table) => {
      const match = table.key.exec(key);
      if (match === null) return [];
      const name = table.named === 'by value' ? /^[A-Za-z0-9][\w.-]*/.exec(value)?.[0] : match[1];
      return name === undefined ? [] : [name.toLowerCase()];
    }),
  );
}
