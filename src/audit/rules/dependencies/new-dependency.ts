import { type Format, readStructure } from '../../formats/structured.ts';
import type { JudgedText, Rule } from '../../judges/rule.ts';

/** Tables of a project's direct dependencies: their names are the keys, or `named` finds each in the values. */
const TABLES: readonly {
  readonly path: RegExp;
  readonly key: RegExp;
  readonly named?: RegExp;
  readonly format?: Format;
}[] = [
  { path: /(^|\/)package\.json$/i, key: /^(?:dev|peer|optional)?[dD]ependencies\.([^=]+)$/ },
  { path: /(^|\/)composer\.json$/i, key: /^require(?:-dev)?\.([^=]+)$/ },
  { path: /(^|\/)cargo\.toml$/i, key: /^(?:target\..{1,100}\.)?(?:dev-|build-)?dependencies\.([\w-]+)/ },
  { path: /(^|\/)pyproject\.toml$/i, key: /^tool\.poetry\.(?:group\.[\w-]+\.)?dependencies\.([\w-]+)/ },
  {
    path: /(^|\/)pyproject\.toml$/i,
    key: /^(?:project\.(?:optional-)?dependencies|dependency-groups)\b.*\[\]$/,
    named: /^[A-Za-z0-9][\w.-]*/g,
  },
  { path: /(^|\/)pubspec\.yaml$/i, key: /^(?:dev_)?dependencies\.([\w-]+)/ },
  {
    path: /(^|\/)description$/i,
    key: /^(?:Imports|Depends|Suggests|Enhances|LinkingTo)$/i,
    // Not R itself, of which some version is needed.
    named: /(?<=^|,\s{0,20})(?!R(?:[\s(,]|$))[A-Za-z][\w.]{0,200}/g,
    format: 'control-fields',
  },
  {
    path: /(^|\/)pom\.xml$/i,
    key: /^project\.(?:profiles\.profile\.)?(?:dependencyManagement\.)?dependencies\.dependency\.artifactId$/,
    named: /^[\w.-]{1,200}$/g,
    format: 'xml',
  },
  {
    path: /(^|\/)stack\.yaml$/i,
    key: /^extra-deps\[\]$/,
    named: /^[A-Za-z][A-Za-z\d]{0,100}(?:-[A-Za-z][A-Za-z\d]{0,100}){0,20}(?=-\d)/g,
  },
];
/** Files with one dependency for each line: `name==1`, `gem "name"`, `name v1.2.3`. */
const LINES: readonly { readonly path: RegExp; readonly name: RegExp }[] = [
  { path: /requirements[^/]*\.(txt|in)$/i, name: /^([A-Za-z0-9][\w.-]*)/ },
  { path: /(^|\/)gemfile$/i, name: /^gem\s*(?:\(\s*)?["']([\w.-]+)/ },
  { path: /(^|\/)go\.mod$/i, name: /^(?:require\s+)?([\w.-]+\.\w+\/[\w./~-]+)\s+v\d/ },
];

export const newDependencyRules: readonly Rule[] = [
  {
    id: 'new-dependency',
    title: 'New dependency',
    family: 'languages',
    when: 'installing dependencies',
    severity: 'note',
    files: [
      'package.json',
      'composer.json',
      'Cargo.toml',
      'pyproject.toml',
      'pubspec.yaml',
      'DESCRIPTION',
      'stack.yaml',
      'pom.xml',
      '*requirements*.{txt,in}',
      'Gemfile',
      'go.mod',
    ],
    look: [{ kind: 'custom', see: newNames }],
    why: 'A package of that name is fetched and may run at once. The name may only look like one that you know.',
    source: 'typosquatting reports',
  },
  {
    id: 'extension-release',
    title: 'Another release of an extension',
    family: 'languages',
    when: 'every command of Maven',
    severity: 'note',
    files: ['.mvn/extensions.xml'],
    look: [{ kind: 'custom', see: newReleases }],
    why: 'Maven fetches the extension and runs it in each command.',
    source: 'Maven documentation',
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
  return tables.flatMap(({ key, named, format = 'auto' }) =>
    (readStructure(text, format, path)?.leaves ?? []).flatMap((leaf) => {
      const match = key.exec(leaf.key);
      if (match === null) return [];
      const names = named === undefined ? [match[1]] : (leaf.value.match(named) ?? []);
      return names.flatMap((name) => name?.toLowerCase() ?? []);
    }),
  );
}

/** Extensions of Maven with the versions that the old file did not have. */
function newReleases({ before, after }: JudgedText): string[] {
  if (before === undefined) return [];
  const had = new Set(releasesIn(before));
  return [...new Set(releasesIn(after ?? ''))].filter((release) => !had.has(release));
}

function releasesIn(text: string): string[] {
  return text.split('</extension>').flatMap((extension) => {
    const name = /<artifactId>([^<>]{1,200})</.exec(extension)?.[1]?.trim() ?? 'an extension';
    return [...extension.matchAll(/<version>([^<>]{1,200})</g)].map(([, version = '']) => `${name} ${version.trim()}`);
  });
}
