import { parentPath } from '../../core/text/path.ts';
import { readStructure } from '../formats/structured.ts';
import { type Name, named, placed } from './names.ts';

/** What a Cargo.toml says of a package, and of the packages that it needs. */
export interface Crate {
  readonly path: string;
  readonly name: string;
  /** The folder of its source. */
  readonly source: string;
  /** Whether the compiler runs it while another package is built. */
  readonly isMacro: boolean;
  /** Names of the packages that it needs, and of those that its build script needs. */
  readonly needs: readonly string[];
  readonly builds: readonly string[];
  /** Folders of packages by name, also for other members of the workspace. */
  readonly folders: readonly (readonly [name: string, dir: string])[];
}

const NEEDED = /(?:^|\.)(build[-_])?dependencies\.([^.]{1,100})(?:\.(path|package))?/;

/** Reads a Cargo.toml; undefined where it does not parse. */
export function readCrate(path: string, text: string): Crate | undefined {
  const leaves = readStructure(text, 'toml', path)?.leaves;
  if (leaves === undefined) return undefined;
  const dir = parentPath(path);
  const isMacro = leaves.some(
    ({ key, value }) =>
      (/^lib\.proc[-_]macro$/.test(key) && value === 'true') ||
      (/^lib\.crate[-_]type(\[\])?$/.test(key) && value === 'proc-macro'),
  );
  const library = leaves.find(({ key }) => key === 'lib.path')?.value;
  const source = library === undefined ? 'src' : parentPath(library);
  const [needs, builds] = [new Set<string>(), new Set<string>()];
  const folders: [string, string][] = [];
  for (const { key, value } of leaves) {
    const [, isBuild, name = '', detail] = NEEDED.exec(key) ?? [];
    if (name === '') continue;
    const folder = detail === 'path' ? placed(dir, value) : undefined;
    if (folder !== undefined) folders.push([name, folder]);
    if (!key.startsWith('workspace.')) (isBuild === undefined ? needs : builds).add(name);
    if (detail === 'package') (isBuild === undefined ? needs : builds).add(value);
  }
  return {
    path,
    name: leaves.find(({ key }) => key === 'package.name')?.value ?? '',
    source: source === '' ? dir : (placed(dir, source) ?? dir),
    isMacro,
    needs: [...needs],
    builds: [...builds],
    folders,
  };
}

/**
 * The folders of source that run while the project is built or while one of its own tools runs: of procedural macros, of
 * what build scripts need, of packages that a command runs, and of what all of these need, at any depth. Each is named by
 * the manifest, or by the file, that needs it. `run`: names of packages that files run.
 */
export function treesOfCrates(
  crates: readonly Crate[],
  run: readonly (readonly [by: string, name: string])[],
): (readonly [by: string, Name[]])[] {
  const byName = new Map(crates.filter(({ name }) => name !== '').map((one) => [one.name, one]));
  const byFolder = new Map(crates.map((one) => [parentPath(one.path), one]));
  const folders = new Map(crates.flatMap((one) => one.folders));
  const found: [string, Name[]][] = [];
  const seen = new Set<Crate>();
  const left: [by: string, crate: Crate][] = [];
  const need = (by: string, name: string): void => {
    const folder = folders.get(name);
    const crate = (folder === undefined ? undefined : byFolder.get(folder)) ?? byName.get(name);
    if (crate !== undefined) left.push([by, crate]);
    else if (folder !== undefined) found.push([by, named('tree', [`${folder}/src`])]);
  };
  for (const one of crates) {
    if (one.isMacro) left.push([one.path, one]);
    for (const name of one.builds) need(one.path, name);
  }
  for (const [by, name] of run) need(by, name);
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    const [by, crate] = next;
    if (seen.has(crate)) continue;
    seen.add(crate);
    if (crate.source !== '') found.push([by, named('tree', [crate.source])]);
    for (const name of crate.needs) need(crate.path, name);
  }
  return found;
}
