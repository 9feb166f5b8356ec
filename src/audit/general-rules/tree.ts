import { isDotGitName } from '../../core/git/names.ts';
import type { Scene } from '../input.ts';
import { reached } from '../reach/reached.ts';
import { hiddenByIgnore } from '../tree/ignore-files.ts';
import { newKindsOf } from '../tree/new-kinds.ts';
import { pluginParts } from '../tree/plugins.ts';
import { settingsThatRun } from '../tree/settings-that-run.ts';
import { EVERY, type Found, type GeneralRule, type SeeingLook } from './rule.ts';

const IGNORE_FILES: SeeingLook<'together'> = { kind: 'together', see: hiddenByIgnore };

/** Rules on what only the whole set of changes, or the project around it, shows. */
export const TREE_RULES: readonly GeneralRule[] = [
  {
    id: 'ignore-hides',
    title: 'Rule that hides a file of this session',
    family: 'tree',
    when: 'git status, search',
    severity: 'suspect',
    files: EVERY,
    look: [IGNORE_FILES],
    about: 'new lines of ignore files',
    cases: {
      endless: {
        title: 'Ignore rules that take too long',
        why: 'The files that they hide are unknown: tools that read the rules would hang too.',
      },
    },
    why: 'Git and search tools no longer show it.',
    source: 'gitignore(5)',
  },
  {
    id: 'ignore-uncovers',
    title: 'Rule that kept secrets out was removed',
    family: 'tree',
    when: 'the next commit or package',
    severity: 'suspect',
    files: EVERY,
    look: [IGNORE_FILES],
    about: 'lines of ignore files that name secrets',
    why: 'The next commit or package may contain them.',
    source: 'gitignore(5)',
  },
  {
    id: 'reached',
    title: 'File that the project runs by name',
    family: 'tree',
    when: 'the build, hook, CI or agent file that names it',
    severity: 'suspect',
    files: EVERY,
    look: [{ kind: 'together', see: reached }],
    about:
      'files, folders, patterns, modules and packages that a build, hook, CI, editor or agent file names, or a program that one of them runs',
    why: 'A build, hook, CI or agent file of the project runs or includes it.',
    source: 'manuals of the tools',
  },
  {
    id: 'setting-runs',
    title: 'Setting that runs or loads something',
    family: 'tree',
    when: 'the tool that reads the settings',
    severity: 'suspect',
    files: EVERY,
    look: [{ kind: 'together', see: settingsThatRun }],
    about:
      'new values of JSON, YAML, TOML, INI and XML that no rule knows: a program or module of the project, a command line, or an address of what is loaded, under a key such as `command`, `hooks`, `plugin` or `on_start_callback`',
    why: 'The tool that the settings belong to runs or loads the value.',
    source: 'docs/audit.md',
  },
  {
    id: 'agent-plugin',
    title: 'Part of a plugin of an assistant',
    family: 'tree',
    when: 'the next session of an assistant that has the plugin',
    severity: 'suspect',
    files: EVERY,
    look: [{ kind: 'together', see: pluginParts }],
    about: 'hooks, monitors, commands, agents, skills and servers next to a `.claude-plugin` folder',
    why: 'Where the plugin is installed from this folder, the assistant runs its hooks and commands outside the sandbox.',
    source: 'Claude Code plugins reference',
  },
  {
    id: 'new-kind',
    title: 'New kind of file',
    family: 'tree',
    when: 'the tool that the file is for',
    severity: 'suspect',
    files: EVERY,
    look: [{ kind: 'together', see: newKindsOf }],
    about:
      'the first files of an ending, name or hidden folder, of an ending in their folder, and executable ones there; without `--auto-apply` a note, where a tool may run or obey them',
    cases: { noted: { severity: 'note' } },
    why: 'The project had no file of this kind, so nobody is used to what its tools do with it.',
    source: 'docs/audit.md',
  },
  {
    id: 'many-changes',
    title: 'Very many changes',
    family: 'tree',
    when: 'reviewing',
    severity: 'note',
    files: EVERY,
    look: [{ kind: 'together', see: manyChanges }],
    about: '2,000 and more',
    why: 'Few users review that many: the findings above come first.',
    source: 'docs/audit.md',
  },
];

const MANY = 2000;

function manyChanges(scene: Scene): readonly Found[] {
  const live = scene.input.changes.filter(
    (change) => change.ignored !== true && !change.path.split('/').some(isDotGitName),
  );
  return live.length < MANY ? [] : [{ path: '.', detail: `${live.length} entries` }];
}
