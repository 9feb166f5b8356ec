/**
 * The first screen: options and commands that `run-claude --help` names, and the example that the help of each command starts
 * with. A test compares both with the grammar.
 */

/** Command lines of real use, with what they are for. */
export const FIRST_EXAMPLES: readonly (readonly [command: string, purpose: string])[] = [
  ['run-claude', 'start Claude in this folder'],
  ["run-claude --copy -p 'fix the tests'", 'unattended, on a copy, until your yes'],
  ["run-claude --auto-apply -p 'fix lint'", 'in CI: apply what is clean'],
];

export const FIRST_OPTIONS: readonly string[] = [
  'copy-workspace',
  'bind',
  'auto-apply',
  'agent',
  'allow-host',
  'env',
  'timeout',
  'max-cost',
];

/** Every command, in the order of a day. */
export const COMMAND_GROUPS = {
  Work: ['exec', 'batch', 'up', 'down', 'shell', 'resume', 'attach', 'wait', 'stop', 'ports'],
  Review: ['diff', 'apply', 'discard', 'undo', 'commits', 'audit', 'rehearse'],
  Sessions: ['sessions', 'top', 'status', 'log', 'network', 'note', 'explore', 'export', 'import', 'projects'],
  Setup: ['doctor', 'build', 'config', 'cache', 'gc', 'mcp', 'plugin', 'completion', 'help', 'version'],
} as const;

type CommandName = (typeof COMMAND_GROUPS)[keyof typeof COMMAND_GROUPS][number];

/** A command line of real use for each command. */
export const EXAMPLE_OF_COMMAND: Readonly<Record<CommandName, string>> = {
  exec: 'run-claude exec -- npm test',
  batch: 'run-claude batch --jobs 4 tasks.txt',
  up: 'run-claude up --cache npm',
  down: 'run-claude down --auto-apply',
  shell: 'run-claude shell',
  resume: "run-claude resume -- -p 'now the documentation'",
  attach: 'run-claude attach',
  wait: 'run-claude wait --any',
  stop: 'run-claude stop',
  ports: 'run-claude ports 3000',
  status: 'run-claude status --report report.md',
  diff: 'run-claude diff --stat',
  apply: "run-claude apply --only 'src/**'",
  discard: 'run-claude discard',
  undo: 'run-claude undo --dry-run',
  commits: 'run-claude commits --import',
  audit: 'run-claude audit --base origin/main',
  explore: 'run-claude explore',
  rehearse: 'run-claude rehearse',
  note: "run-claude note 'waits for the review of the API'",
  sessions: 'run-claude sessions .',
  top: 'run-claude top',
  log: 'run-claude log --follow',
  network: 'run-claude network --suggest',
  projects: 'run-claude projects',
  config: 'run-claude config set memory 12g',
  completion: 'run-claude completion bash',
  doctor: 'run-claude doctor --probe',
  help: 'run-claude help apply',
  version: 'run-claude version',
  build: 'run-claude build --toolchain',
  cache: 'run-claude cache rm npm',
  gc: 'run-claude gc --dry-run',
  mcp: 'run-claude mcp add docs --url https://mcp.example.com/mcp --oauth',
  plugin: 'run-claude plugin passthrough',
  export: 'run-claude export changes.tgz',
  import: 'run-claude import changes.tgz',
};
