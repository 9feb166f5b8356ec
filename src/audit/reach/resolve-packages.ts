import { treesOfCrates } from './crates.ts';
import { type Name, named } from './names.ts';
import { filesOfCommand, filesOfFolders, filesOfWord, indexPackages } from './packages.ts';
import type { Names } from './referrers.ts';

/** The packages of a project. */
export interface Project {
  /** Names of packages, of their commands and of their folders, as names of what they stand for. */
  resolve(names: readonly Name[]): Name[];
  /** What Cargo compiles and runs while it builds, each with the file that needs it. */
  crates(): (readonly [by: string, Name[]])[];
}

/** The packages that the files of a project describe. */
export function indexProject(all: readonly (readonly [string, Names])[]): Project {
  const packages = indexPackages(all.flatMap(([, { own }]) => (own === undefined ? [] : [own])));
  const modules = all.flatMap(([, { goModule }]) => (goModule === undefined ? [] : [goModule]));
  const crates = all.flatMap(([, { crate }]) => (crate === undefined ? [] : [crate]));
  const filesOf = ({ kind, text, from }: Name): string[] => {
    if (kind === 'package') return filesOfWord(packages, text, from);
    if (kind === 'command') return filesOfCommand(packages, text);
    return kind === 'entry' ? filesOfFolders(packages, [text]) : [];
  };
  const goFolders = ({ kind, text }: Name): string[] =>
    kind !== 'package'
      ? []
      : modules.flatMap(({ name, dir }) => {
          if (text !== name && !text.startsWith(`${name}/`)) return [];
          const rest = text.slice(name.length + 1);
          return [[dir, rest].filter((part) => part !== '').join('/')];
        });
  return {
    resolve: (names) => {
      const files = packages.size === 0 ? [] : names.flatMap(filesOf);
      const folders = modules.length === 0 ? [] : names.flatMap(goFolders);
      return [...named('file', files), ...named('module', files), ...named('folder', folders)];
    },
    crates: () => {
      const run = all.flatMap(([path, { names }]) =>
        names.flatMap(({ kind, text }) => (kind === 'crate' ? [[path, text] as const] : [])),
      );
      return crates.length === 0 ? [] : treesOfCrates(crates, run);
    },
  };
}
