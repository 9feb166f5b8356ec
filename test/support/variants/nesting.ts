import { parse as parseToml, stringify as tomlOf } from 'smol-toml';
import { parseAllDocuments, stringify as yamlOf } from 'yaml';
import { parseJson } from './json.ts';
import { beside, type Mutator, nameOf } from './mutator.ts';
import { INI_NESTING } from './nesting-ini.ts';

type Table = Readonly<Record<string, unknown>>;

const isTable = (value: unknown): value is Table =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date);
const jsonOf = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;

function yamlValue(text: string): unknown {
  if (/![\w!<]|\{%|\{\{|<</.test(text)) return undefined;
  const documents = parseAllDocuments(text, { logLevel: 'error' });
  const [only, more] = Array.isArray(documents) ? documents : [];
  return only === undefined || more !== undefined || only.errors.length > 0 ? undefined : only.toJS();
}

function tomlValue(text: string): Table | undefined {
  try {
    return parseToml(text);
  } catch {
    return undefined;
  }
}

const namedJson = (name: string, files: RegExp, rewrite: (value: Table) => Table | undefined): Mutator => ({
  name: `nested ${name}`,
  text(text, path) {
    const value = files.test(path) ? parseJson(text) : undefined;
    const other = isTable(value) ? rewrite(value) : undefined;
    return other === undefined ? undefined : jsonOf(other);
  },
});

/** Settings of a file as a section of package.json, which the same tool reads. */
const IN_PACKAGE: readonly (readonly [files: RegExp, section: string])[] = [
  [/^\.eslintrc(\.json|\.ya?ml)?$/, 'eslintConfig'],
  [/^\.prettierrc(\.json|\.ya?ml)?$/, 'prettier'],
  [/^\.mocharc\.(json|ya?ml)$/, 'mocha'],
  [/^\.babelrc(\.json)?$/, 'babel'],
  [/^jest\.config\.json$/, 'jest'],
  [/^\.stylelintrc(\.json|\.ya?ml)?$/, 'stylelint'],
  [/^\.lintstagedrc(\.json|\.ya?ml)?$/, 'lint-staged'],
  [/^\.commitlintrc(\.json|\.ya?ml)?$/, 'commitlint'],
  [/^\.nycrc(\.json)?$/, 'nyc'],
  [/^\.c8rc(\.json)?$/, 'c8'],
  [/^\.huskyrc(\.json)?$/, 'husky'],
  [/^\.releaserc(\.json|\.ya?ml)?$/, 'release'],
  [/^\.postcssrc(\.json|\.ya?ml)?$/, 'postcss'],
  [/^\.remarkrc(\.json|\.ya?ml)?$/, 'remarkConfig'],
  [/^nodemon\.json$/, 'nodemonConfig'],
  [/^\.release-it\.json$/, 'release-it'],
  [/^\.simple-git-hooks\.json$/, 'simple-git-hooks'],
  [/^(\.?cspell)\.json$/, 'cspell'],
  [/^electron-builder\.(json|ya?ml)$/, 'build'],
  [/^(\.?renovate|\.renovaterc)\.json$/, 'renovate'],
  [/^pnpm-workspace\.yaml$/, 'pnpm'],
];

/** Of pnpm only these have a place in package.json. */
const PNPM_KEYS = ['overrides', 'packageExtensions', 'patchedDependencies', 'onlyBuiltDependencies'];

const inPackage: Mutator = {
  name: 'nested in package.json',
  empty: jsonOf({ name: 'x' }),
  text(text, path) {
    const section = IN_PACKAGE.find(([files]) => files.test(nameOf(path)))?.[1];
    if (section === undefined) return undefined;
    const value = parseJson(text) ?? yamlValue(text);
    if (!isTable(value) || (section === 'pnpm' && !Object.keys(value).every((key) => PNPM_KEYS.includes(key))))
      return undefined;
    return jsonOf({ name: 'x', [section]: value });
  },
  path: beside('package.json'),
};

const namedToml = (name: string, files: RegExp, rewrite: (value: Table) => Table | undefined): Mutator => ({
  name: `nested ${name}`,
  text(text, path) {
    const value = files.test(path) ? tomlValue(text) : undefined;
    const other = value === undefined ? undefined : rewrite(value);
    return other === undefined ? undefined : tomlOf(other);
  },
});

/** The table with some of its keys under another one; undefined without one of them. */
function moved(table: Table, keys: readonly string[], under: (part: Table) => Table): Table | undefined {
  const part = Object.fromEntries(Object.entries(table).filter(([key]) => keys.includes(key)));
  if (Object.keys(part).length === 0) return undefined;
  const rest = Object.entries(table).filter(([key]) => !keys.includes(key));
  return { ...Object.fromEntries(rest), ...under(part) };
}

const toolToml = (file: RegExp, tool: string): Mutator => ({
  name: `nested in pyproject.toml as ${tool}`,
  empty: '[project]\nname = "x"\n',
  text(text, path) {
    const value = file.test(nameOf(path)) ? tomlValue(text) : undefined;
    return value === undefined ? undefined : tomlOf({ project: { name: 'x' }, tool: { [tool]: value } });
  },
  path: beside('pyproject.toml'),
});

const namedYaml = (name: string, files: RegExp, rewrite: (value: unknown) => unknown): Mutator => ({
  name: `nested ${name}`,
  text(text, path) {
    const value = files.test(path) ? yamlValue(text) : undefined;
    const other = value === undefined || value === null ? undefined : rewrite(value);
    return other === undefined ? undefined : yamlOf(other);
  },
});

const isList = (value: unknown): value is readonly Table[] => Array.isArray(value) && value.every(isTable);

/** Tasks of Ansible, of a role or of each play, in a block. */
function inBlock(value: unknown): unknown {
  if (!isList(value) || value.length === 0) return undefined;
  if (!value.some(({ hosts }) => hosts !== undefined)) return [{ block: value }];
  return value.map((play) => (isList(play['tasks']) ? { ...play, tasks: [{ block: play['tasks'] }] } : play));
}

/** Keys of a tree as Spring reads them: joined with dots. */
function dotted(table: Table, above = ''): Table {
  return Object.fromEntries(
    Object.entries(table).flatMap(([key, value]) =>
      isTable(value) && Object.keys(value).length > 0
        ? Object.entries(dotted(value, `${above}${key}.`))
        : [[`${above}${key}`, value]],
    ),
  );
}

/** `a.b.c` of VS Code as `a` with `b.c` in it. */
function split(table: Table): Table | undefined {
  const out: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(table)) {
    const at = key.indexOf('.');
    if (at < 1) out[key] = value;
    else out[key.slice(0, at)] = { ...(out[key.slice(0, at)] as object), [key.slice(at + 1)]: value };
  }
  return jsonOf(out) === jsonOf(table) ? undefined : out;
}

/** An entry point of a package under one more condition. */
const conditional = (value: unknown): unknown =>
  typeof value === 'string'
    ? { node: { default: value } }
    : isTable(value)
      ? Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, conditional(inner)]))
      : value;

/** The elements of a text of XML that are directly in its root, between what precedes and follows them; undefined for other texts. */
function elementsOf(text: string): readonly [head: string, elements: readonly string[], tail: string] | undefined {
  const root = /^([\s\S]*?<(?:project|Project)\b[^<>]*>)([\s\S]*)(<\/(?:project|Project)>\s*)$/.exec(text);
  if (root === null || /<!|<\?(?!xml)/.test(text) || root[1]?.endsWith('/>')) return undefined;
  const elements: string[] = [];
  let [depth, start] = [0, 0];
  const inner = root[2] as string;
  for (const match of inner.matchAll(/<(\/?)[\w:.-]+[^<>]*?(\/?)>/g)) {
    if (depth === 0) start = match.index;
    depth += match[1] === '/' ? -1 : match[2] === '/' ? 0 : 1;
    if (depth === 0) elements.push(inner.slice(start, match.index + match[0].length));
  }
  return depth === 0 ? [root[1] as string, elements, root[3] as string] : undefined;
}

const namedXml = (name: string, files: RegExp, which: RegExp, wrap: (inner: string) => string): Mutator => ({
  name: `nested ${name}`,
  text(text, path) {
    const parts = files.test(path) ? elementsOf(text) : undefined;
    if (parts === undefined) return undefined;
    const [head, elements, tail] = parts;
    const inside = elements.filter((one) => which.test(one));
    if (inside.length === 0) return undefined;
    return `${head}${elements.filter((one) => !which.test(one)).join('')}${wrap(inside.join(''))}${tail}`;
  },
});

const FOR_FILES = /(^|\/)\.(eslintrc|stylelintrc)(\.json)?$/;
const WORKSPACE = /(^|\/)\.vscode\/(settings|tasks|launch|extensions)\.json$/;

/** The same settings one level deeper, or in a section of another file, where the same tool finds them. */
export const NESTING_MUTATORS: readonly Mutator[] = [
  inPackage,
  namedJson('in overrides for all files', FOR_FILES, (value) => ({ overrides: [{ files: ['*'], ...value }] })),
  namedJson('in overrides of prettier', /(^|\/)\.prettierrc(\.json)?$/, ({ overrides, ...options }) =>
    overrides === undefined ? { overrides: [{ files: '*', options }] } : undefined,
  ),
  namedJson('in an environment of babel', /(^|\/)(\.babelrc|babel\.config\.json|\.babelrc\.json)$/, (value) => ({
    env: { development: value },
  })),
  namedJson('in a project of jest', /(^|\/)jest\.config\.json$/, (value) => ({ projects: [value] })),
  namedJson('in a rule of renovate', /(^|\/)(\.?renovate|\.renovaterc)\.json$/, (value) => ({
    packageRules: [{ matchPackageNames: ['*'], ...value }],
  })),
  namedJson('overrides of npm', /(^|\/)package\.json$/, ({ overrides, ...rest }) =>
    isTable(overrides) ? { ...rest, overrides: { 'y@1': overrides } } : undefined,
  ),
  namedJson('entry points in conditions', /(^|\/)package\.json$/, ({ exports, imports, ...rest }) =>
    exports === undefined && imports === undefined
      ? undefined
      : {
          ...rest,
          ...(exports === undefined ? {} : { exports: conditional(exports) }),
          ...(imports === undefined ? {} : { imports: conditional(imports) }),
        },
  ),
  namedJson('as optional dependencies', /(^|\/)package\.json$/, (value) =>
    moved(value, ['dependencies'], ({ dependencies }) => ({ optionalDependencies: dependencies })),
  ),
  namedJson('settings of VS Code', /(^|\/)\.vscode\/settings\.json$/, split),
  {
    name: 'nested in a workspace of VS Code',
    empty: jsonOf({ folders: [{ path: '.' }] }),
    text(text, path) {
      const key = WORKSPACE.exec(path)?.[2];
      const value = key === undefined ? undefined : parseJson(text);
      return key === undefined || value === undefined ? undefined : jsonOf({ folders: [{ path: '.' }], [key]: value });
    },
    path: (path) => path.replace(/\.vscode\/[^/]*$/, 'x.code-workspace'),
  },
  ...INI_NESTING,
  toolToml(/^\.?ruff\.toml$/, 'ruff'),
  toolToml(/^uv\.toml$/, 'uv'),
  toolToml(/^hatch\.toml$/, 'hatch'),
  toolToml(/^pixi\.toml$/, 'pixi'),
  namedToml('under a target of cargo', /(^|\/)cargo\.toml$/, (value) =>
    moved(value, ['dependencies', 'build-dependencies', 'dev-dependencies'], (part) => ({
      target: { ...(value['target'] as object), 'cfg(all())': part },
    })),
  ),
  namedToml('in a feature of pixi', /(^|\/)pixi\.toml$/, (value) =>
    moved(value, ['tasks', 'activation', 'dependencies', 'pypi-dependencies'], (part) => ({ feature: { x: part } })),
  ),
  namedToml('in a group of dependencies', /(^|\/)pyproject\.toml$/, (value) => {
    const project = value['project'];
    if (!isTable(project) || !Array.isArray(project['dependencies'])) return undefined;
    const { dependencies, ...rest } = project;
    return {
      ...value,
      project: rest,
      'dependency-groups': { ...(value['dependency-groups'] as object), x: dependencies },
    };
  }),
  namedYaml(
    'in a block of Ansible',
    /(^|\/)(roles\/[^/]+\/(tasks|handlers)\/|playbooks?\/|(site|playbook)\.)[^/]*$/,
    inBlock,
  ),
  namedYaml('in a list of Kubernetes', /\.ya?ml$/, (value) =>
    isTable(value) && 'kind' in value && 'apiVersion' in value && /^[A-Z]/.test(String(value['kind']))
      ? { apiVersion: 'v1', kind: 'List', items: [value] }
      : undefined,
  ),
  namedYaml('with joined keys', /(^|\/)(application|bootstrap)(-\w+)?\.ya?ml$/, (value) =>
    isTable(value) ? dotted(value) : undefined,
  ),
  namedYaml('plugins as a mapping', /(^|\/)mkdocs\.ya?ml$/, (value) => {
    if (!isTable(value) || !Array.isArray(value['plugins'])) return undefined;
    const list = value['plugins'] as readonly unknown[];
    const plugins = list.map((one) => (isTable(one) ? one : { [String(one)]: {} }));
    return { ...value, plugins: Object.assign({}, ...plugins) as Table };
  }),
  namedXml(
    'in a profile of Maven',
    /(^|\/)pom\.xml$/,
    /^<(properties|build|dependencies|dependencyManagement|repositories|pluginRepositories|modules|reporting)\b/,
    (inner) =>
      `<profiles><profile><id>x</id><activation><activeByDefault>true</activeByDefault></activation>${inner}</profile></profiles>`,
  ),
  namedXml(
    'in a choice of MSBuild',
    /\.(csproj|fsproj|vbproj|props|targets)$/,
    /^<(PropertyGroup|ItemGroup)\b/,
    (inner) => `<Choose><When Condition="true">${inner}</When></Choose>`,
  ),
];
