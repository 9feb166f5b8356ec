import { decodeBytes, parentPath } from '../../core/text/path.ts';
import type { Change } from '../../core/types/entry.ts';
import { newLeaves, readStructure } from '../formats/structured.ts';
import { words } from '../formats/words.ts';
import type { Found } from '../general-rules/rule.ts';
import type { Scene } from '../input.ts';
import { hasScope, isDependency } from './dependencies.ts';
import { targetsOf } from './make-targets.ts';

/** Commands that run the program `NAME-SUBCOMMAND` of the PATH. */
const DISPATCHERS = new Set(words`
  git gh glab cargo kubectl docker npm helm terraform hg go poetry pip aws heroku rustup podman packer vagrant nix
  lein mix flutter dart deno bun yarn pnpm xcrun systemd ssh apt brew kitten tmux
`);
const EXECUTE_BITS = 0o111;

/** In these folders a second file of a name is data of a test more often than a module. */
const SAMPLES =
  /(^|\/)(tests?|__tests__|spec|fixtures|__fixtures__|testdata|examples?|playground|node_modules|vendor)\//i;

/** A module that another one of the same import hides: `stem` is the path without what the rows add. */
interface Twin {
  readonly path: RegExp;
  /** Paths of the other module, where any that exists is a twin. */
  readonly others: (stem: string) => readonly string[];
}

const JAVASCRIPT = ['js', 'jsx', 'ts', 'tsx'];
const TWINS: readonly Twin[] = [
  { path: /^(.*)\/__init__\.py$/, others: (stem) => [`${stem}.py`, `${stem}.pyw`] },
  { path: /^(.*)\.py$/, others: (stem) => [`${stem}/__init__.py`] },
  {
    path: /^(.*?)(?<!\.d)\.(?:jsx?|tsx?|node)$/,
    others: (stem) => [
      ...JAVASCRIPT.map((one) => `${stem}.${one}`),
      ...JAVASCRIPT.map((one) => `${stem}/index.${one}`),
    ],
  },
  // A bundler takes .mjs first; next to .js the two are one package for two module systems.
  { path: /^(.*)\.[cm]js$/, others: (stem) => [`${stem}.ts`, `${stem}.tsx`] },
  { path: /^(.*)\.pmc$/, others: (stem) => [`${stem}.pm`] },
  { path: /^(.*)\.plc$/, others: (stem) => [`${stem}.pl`] },
  { path: /^(.*)\.lua$/, others: (stem) => [`${stem}/init.lua`] },
  { path: /^(.*)\/init\.lua$/, others: (stem) => [`${stem}.lua`] },
  { path: /^(.*)\.elc$/, others: (stem) => [`${stem}.el`] },
];

/** Findings for new files that are loaded instead of a file, package or command of that name. */
export function shadows(scene: Scene): readonly Found[] {
  const found: Found[] = [];
  const add = (path: string, name: string | undefined, detail: string): void =>
    void found.push({ rule: 'name-shadows', path, case: name, detail });
  for (const change of scene.input.changes) {
    const { path, before, after, ignored, inGit } = change;
    if (after === undefined || ignored === true || inGit === true) continue;
    if (after.kind === 'file' && !SAMPLES.test(path))
      for (const name of takenNames(scene, change)) add(path, isPackage(path) ? 'workspace' : 'alias', name);
    if (before !== undefined) continue;
    const target = makefileAbove(scene, path);
    if (target !== undefined) add(path, 'target', target);
    if (after.kind === 'dir') continue;
    if (isSubcommand(scene, change)) found.push({ rule: 'run-subcommand', path });
    if (SAMPLES.test(path)) continue;
    const twin = twinOf(scene, path);
    if (twin !== undefined) add(path, undefined, twin);
    const module = /^(?:src\/|lib\/)?([A-Za-z_]\w*)(?:\.py|\/__init__\.py)$/.exec(path)?.[1];
    if (module !== undefined && isDependency(scene, 'python', module)) add(path, 'dependency', module);
  }
  return found;
}

function twinOf(scene: Scene, path: string): string | undefined {
  for (const { path: own, others } of TWINS) {
    const stem = own.exec(path)?.[1];
    if (stem === undefined || stem === '') continue;
    const found = others(stem).find((one) => one !== path && scene.after(one) !== undefined);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The make file that has the path as a target with commands; undefined where none has. */
function makefileAbove(scene: Scene, path: string): string | undefined {
  for (let dir = parentPath(path), depth = 0; depth < 8; depth += 1) {
    for (const name of ['Makefile', 'makefile', 'GNUmakefile']) {
      const makefile = dir === '' ? name : `${dir}/${name}`;
      const bytes = scene.after(makefile) === undefined ? undefined : scene.input.base?.read(makefile);
      if (bytes === undefined) continue;
      if (targetsOf(decodeBytes(bytes)).has(path.slice(dir === '' ? 0 : dir.length + 1))) return makefile;
    }
    if (dir === '') return undefined;
    dir = parentPath(dir);
  }
  return undefined;
}

/** Whether a command takes the file for its subcommand: a program without an ending, or with one that Windows runs. */
function isSubcommand(scene: Scene, { path, after }: Change): boolean {
  const command = /(?:^|\/)([a-z]+)-[\w-]+(?:\.(?:exe|bat|cmd|com|ps1))?$/i.exec(path)?.[1];
  if (command === undefined || !DISPATCHERS.has(command.toLowerCase())) return false;
  return ((after?.mode ?? 0) & EXECUTE_BITS) !== 0 || scene.text(after)?.startsWith('#!') === true;
}

const isPackage = (path: string): boolean => /\/package\.json$/i.test(path);

const ALIASES = /(^|\/)([tj]sconfig[^/]*|[^/]*\.tsconfig)\.json$/i;

/** Dependencies that a new or changed file gives another meaning: as the name of a package here, or as an alias. */
function takenNames(scene: Scene, { path, before, after }: Change): readonly string[] {
  // All changes are seen together here: no other content is read.
  if (!isPackage(path) && !ALIASES.test(path)) return [];
  const old = before === undefined ? undefined : scene.text(before);
  const now = scene.text(after);
  if (isPackage(path)) {
    const had = namesOfPackage(old);
    return namesOfPackage(now).filter((name) => !had.includes(name) && isDependency(scene, 'javascript', name));
  }
  return aliasesIn(path, now, old).filter((name) => dependencyOf(scene, name));
}

/** More than one where the file repeats the key: tools differ in which they take. */
const namesOfPackage = (text = ''): readonly string[] =>
  (readStructure(text, 'json', 'package.json')?.leaves ?? []).flatMap(({ key, value }) =>
    key === 'name' ? [value] : [],
  );

/** Names of modules that a new entry of `paths` leads to files, without the `/*` at the end. */
function aliasesIn(path: string, now = '', old = ''): readonly string[] {
  const [after, before] = [now, old].map((text) => readStructure(text, 'jsonc', path)?.leaves ?? []);
  return newLeaves(before ?? [], after ?? []).flatMap(
    ({ key }) => /^compilerOptions\.paths\.([^[\]]{1,200}?)(?:\/\*)?(?:\[\])*$/.exec(key)?.[1] ?? [],
  );
}

/** Whether a dependency has this name, or is of the scope that it is. */
const dependencyOf = (scene: Scene, name: string): boolean =>
  isDependency(scene, 'javascript', name) || (/^@[^/]+$/.test(name) && hasScope(scene, name));
