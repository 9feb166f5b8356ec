import type { GeneralRule } from './rule.ts';

/** Rules on what only the whole set of changes, or the project around it, shows. */
export const TREE_RULES = {
  reached: {
    severity: 'suspect',
    title: 'File that the project runs by name',
    why: 'A build, hook, CI or agent file of the project runs or includes it.',
    matches:
      'what a build, hook, CI or agent file of the project runs or includes, and the shell scripts reached in this way',
    trigger: 'the build, hook, CI or agent file that names it',
    source: 'manuals of the tools',
  },
  'ignore-hides': {
    severity: 'suspect',
    title: 'Rule that hides a file of this session',
    why: 'Git and search tools no longer show it.',
    matches: 'new lines of ignore files',
    trigger: 'git status, search',
    source: 'gitignore(5)',
    cases: {
      endless: {
        title: 'Ignore rules that take too long',
        why: 'The files that they hide are unknown: tools that read the rules would hang too.',
      },
    },
  },
  'ignore-uncovers': {
    severity: 'suspect',
    title: 'Rule that kept secrets out was removed',
    why: 'The next commit or package may contain them.',
    matches: 'lines of ignore files that name secrets',
    trigger: 'the next commit or package',
    source: 'gitignore(5)',
  },
  'agent-plugin': {
    severity: 'suspect',
    title: 'Part of a plugin of an assistant',
    why: 'Where the plugin is installed from this folder, the assistant runs its hooks and commands outside the sandbox.',
    matches: 'hooks, monitors, commands, agents, skills and servers beside a `.claude-plugin` folder',
    trigger: 'the next session of an assistant that has the plugin',
    source: 'Claude Code plugins reference',
  },
  'new-kind': {
    severity: 'suspect',
    title: 'New kind of file',
    why: 'The project had no file of this kind, so nobody is used to what its tools do with it.',
    matches:
      'the first files of an ending, a name without an ending or a hidden folder, the first ones of an ending in their folder, and the first executable ones there; without `--auto-apply` a note, where a tool may run or obey them',
    trigger: 'the tool that the file is for',
    source: 'docs/audit.md',
    cases: { noted: { severity: 'note' } },
  },
  'many-changes': {
    severity: 'note',
    title: 'Very many changes',
    why: 'Few users review that many: the findings above come first.',
    matches: '2,000 and more',
    trigger: 'reviewing',
    source: 'docs/audit.md',
  },
} as const satisfies Readonly<Record<string, GeneralRule>>;
