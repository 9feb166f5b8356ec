import { shadows } from '../tree/shadows.ts';
import { EVERY, type GeneralRule, type SeeingLook } from './rule.ts';

const SHADOWS: SeeingLook<'together'> = { kind: 'together', see: shadows };

/** Rules on new files that are loaded instead of others. */
export const SHADOW_RULES: readonly GeneralRule[] = [
  {
    id: 'name-shadows',
    title: 'File that is loaded instead of another',
    family: 'names',
    when: 'the next import, install or make',
    severity: 'suspect',
    files: EVERY,
    look: [SHADOWS],
    about:
      'a second module for one import, a module with the name of a dependency, a workspace package or an alias of tsconfig.json with the name of a dependency, a file with the name of a make target',
    cases: {
      dependency: {
        title: 'Module with the name of a dependency',
        why: 'An import of the dependency takes this file, where this folder is searched first.',
      },
      workspace: {
        title: 'Package with the name of a dependency',
        why: 'The package manager links it instead of fetching the dependency.',
      },
      alias: {
        title: 'Alias with the name of a dependency',
        why: 'An import of the dependency takes a file of the project, in builds, tests and servers.',
      },
      target: {
        title: 'File with the name of a make target',
        why: 'make takes the target for done and skips its commands, or uses the file as its result.',
      },
    },
    why: 'An import or command that meant the other file takes this one.',
    source: 'documentation of Python, Node, Perl, Lua and make',
  },
  {
    id: 'run-subcommand',
    title: 'Program with the name of a subcommand',
    family: 'names',
    when: 'typing that subcommand where the folder is on the PATH',
    severity: 'suspect',
    files: EVERY,
    look: [SHADOWS],
    about: 'new programs called `git-*`, `gh-*`, `cargo-*`, `kubectl-*`, `docker-*`, `npm-*` and others',
    why: 'The command runs the program that is called after it and the subcommand.',
    source: 'git(1); cargo and kubectl documentation, plugins',
  },
];
