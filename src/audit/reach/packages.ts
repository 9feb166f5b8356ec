import { nameOfPath, parentPath } from '../../core/text/path.ts';
import { readStructure } from '../formats/structured.ts';

/** A package of the project: what a tool loads or runs when another file names it. */
export interface OwnPackage {
  readonly name: string;
  /** Its folder; '' at the top. */
  readonly dir: string;
  /** What its name alone stands for, from its folder. */
  readonly entries: readonly string[];
  /** Paths of its own that have another name outside: `./x` of `exports`, `#x` of `imports`. */
  readonly paths: readonly (readonly [name: string, target: string])[];
  /** Commands and their programs. */
  readonly commands: readonly (readonly [name: string, target: string])[];
}

/** The package that a package.json describes; undefined where it does not parse or has no name. */
export function packageOf(path: string, text: string): OwnPackage | undefined {
  const leaves = readStructure(text, 'jsonc', path)?.leaves;
  if (leaves === undefined) return undefined;
  const name = leaves.find(({ key }) => key === 'name')?.value ?? '';
  const entries: string[] = [];
  const paths: [string, string][] = [];
  const commands: [string, string][] = [];
  for (const { key, value } of leaves) {
    if (
      /^(main|module|browser|exports|jsnext:main)$/.test(key) ||
      (/^exports\.(\.|[a-z-]{1,30}$)/.test(key) && !key.startsWith('exports../'))
    )
      entries.push(value);
    const inner =
      /^(?:exports|imports)\.(\.\/[^[]{1,200}?|#[^[.]{1,200}?)(?:\.(?:import|require|default|node|types|browser|module)){0,3}(?:\[\])?$/.exec(
        key,
      );
    if (inner?.[1] !== undefined) paths.push([inner[1], value]);
    if (key === 'bin') commands.push([nameOfPath(name), value]);
    else if (key.startsWith('bin.')) commands.push([key.slice(4), value]);
  }
  return { name, dir: parentPath(path), entries: [...new Set([...entries, 'index'])], paths, commands };
}

/** The files that a package at the top is imported by. */
export const entriesOf = (one: OwnPackage | undefined): ReadonlySet<string> =>
  new Set((one?.entries ?? []).map((target) => target.replace(/^\.\//, '')));

const placed = (dir: string, target: string): string => (dir === '' ? target : `${dir}/${target}`);

/**
 * The files, from the top, that a bare word stands for: a package of the project, a path within one, one of its
 * commands, or the short name of a plugin or a shared configuration.
 */
export function filesOfWord(
  packages: ReadonlyMap<string, readonly OwnPackage[]>,
  word: string,
  dirs: readonly string[],
): string[] {
  const out: string[] = [];
  const parts = /^(@[\w.-]+\/[\w.-]+|@?[\w.-]+)(?:\/(.+))?$/.exec(word);
  const [, name = '', rest] = parts ?? [];
  for (const one of longNames(name).flatMap((long) => packages.get(long) ?? [])) {
    const own = rest === undefined ? one.entries : targetsOf(one, `./${rest}`, rest);
    for (const target of own) out.push(placed(one.dir, target));
  }
  if (word.startsWith('#'))
    for (const one of [...packages.values()].flat())
      if (dirs.includes(one.dir)) for (const target of targetsOf(one, word)) out.push(placed(one.dir, target));
  return out;
}

/** The entry points, from the top, of the packages in some folders. */
export function filesOfFolders(
  packages: ReadonlyMap<string, readonly OwnPackage[]>,
  folders: readonly string[],
): string[] {
  return folders.flatMap((folder) =>
    (packages.get(`dir ${folder}`) ?? []).flatMap(({ dir, entries }) => entries.map((target) => placed(dir, target))),
  );
}

/** The programs, from the top, of a command that a package of the project has. */
export function filesOfCommand(packages: ReadonlyMap<string, readonly OwnPackage[]>, word: string): string[] {
  return (packages.get(`bin ${word}`) ?? []).flatMap(({ dir, commands }) =>
    commands.filter(([name]) => name === word).map(([, target]) => placed(dir, target)),
  );
}

function targetsOf(one: OwnPackage, name: string, ...otherwise: readonly string[]): string[] {
  const found = one.paths
    .filter(([pattern]) => pattern === name || (pattern.endsWith('*') && name.startsWith(pattern.slice(0, -1))))
    .map(([pattern, target]) => target.replace('*', name.slice(pattern.replace(/\*$/, '').length)));
  return found.length > 0 ? found : [...otherwise];
}

/** eslint, babel, stylelint and others leave a part of a name out. */
function longNames(name: string): string[] {
  if (name === '') return [];
  const [scope, rest] = name.startsWith('@') ? name.split('/') : [undefined, name];
  const kinds = [
    'eslint-config',
    'eslint-plugin',
    'stylelint-config',
    'babel-preset',
    'babel-plugin',
    'commitlint-config',
  ];
  const long = kinds.map((kind) =>
    scope === undefined ? `${kind}-${rest}` : rest === undefined ? `${scope}/${kind}` : `${scope}/${kind}-${rest}`,
  );
  return [name, ...long];
}

/** Packages by their name, and by `bin NAME` for each command. */
export function indexPackages(all: readonly OwnPackage[]): Map<string, OwnPackage[]> {
  const out = new Map<string, OwnPackage[]>();
  const put = (key: string, one: OwnPackage): void => {
    const others = out.get(key);
    if (others === undefined) out.set(key, [one]);
    else if (!others.includes(one)) others.push(one);
  };
  for (const one of all) {
    if (one.name !== '') put(one.name, one);
    put(`dir ${one.dir}`, one);
    for (const [name] of one.commands) put(`bin ${name}`, one);
  }
  return out;
}
