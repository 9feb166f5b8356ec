import { ANY_CHANGE, type Rule } from '../../judges/rule.ts';
import { nixLines } from './nix-lines.ts';

export const environmentRules: readonly Rule[] = [
  {
    id: 'shell-tool-manager',
    family: 'shell',
    when: 'entering the folder with mise activated',
    severity: 'suspect',
    files: [
      '{.,}mise{,.*}.toml',
      '.mise/**',
      '.config/mise/**',
      '.config/mise.toml',
      '.rtx.toml',
      'mise/**/*.toml',
      '{.,}aqua.y{,a}ml',
      'aqua/*.y{,a}ml',
      'aqua-policy.yaml',
      '{.,}pkgx.y{,a}ml',
      'hermit.hcl',
      '{.,}proto{tools,.toml}',
    ],
    look: [
      {
        kind: 'keys',
        format: 'toml',
        danger: /^(?!tools\.[a-z0-9-]+$|min_version$)/i,
        value: /\{\{|exec\(|[$`;|/\\]|^(path|ref|git)[:+]/,
      },
    ],
    why: 'mise runs its hooks, templates and tasks when you enter the folder.',
    source: 'mise trust documentation; GHSA-436v-8fw5-4mj8',
  },
  {
    id: 'shell-tasks',
    family: 'shell',
    when: 'mise run',
    severity: 'suspect',
    files: ['{.,}mise-tasks/**', '{.,}mise/tasks/**', '.config/mise/tasks/**', '!*.md'],
    look: [ANY_CHANGE],
    harmless: ['deletion', 'comments'],
    why: 'mise runs every file of the folder as a task, and its templates when it lists them.',
    source: 'mise documentation, file tasks',
  },
  {
    id: 'shell-version-file',
    family: 'shell',
    when: 'entering the folder with a version manager',
    severity: 'suspect',
    files: [
      '.nvmrc',
      '.node-version',
      '.python-version',
      '.ruby-version',
      '.java-version',
      '.go-version',
      '.php-version',
      '.terraform-version',
      '.swift-version',
      '.sdkmanrc',
      '.prototools',
      '.vfox.toml',
      '.ruby-gemset',
      '.perl-version',
      '.opentofu-version',
      '.crystal-version',
      '.deno-version',
      '.bun-version',
      '.zig-version',
      '.elixir-version',
    ],
    look: [{ kind: 'lines', danger: /./, harmless: /^(?!.*\.\.)["']?[A-Za-z0-9][A-Za-z0-9._@+=*~^<> "'-]{0,60}$|^#/ }],
    why: 'Version managers turn the version into a path or a download.',
    source: 'CVE-2022-35861',
  },
  {
    id: 'shell-tool-versions',
    family: 'shell',
    when: 'running a tool through asdf or mise',
    severity: 'suspect',
    files: ['.tool-versions', '.tools-versions'],
    look: [
      { kind: 'lines', danger: /\b(path|ref|prefix):|[/$`;|\\]/ },
      {
        kind: 'custom',
        see: ({ before, after }) => {
          const names = (text = ''): string[] => text.split('\n').map((line) => line.trim().split(/\s/)[0] ?? '');
          const had = new Set(names(before));
          return names(after)
            .filter((name) => before !== undefined && /^[a-z]/i.test(name) && !had.has(name))
            .map((name) => `new tool ${name}`);
        },
      },
    ],
    why: 'A path or a new plugin decides which program runs under a known name.',
    source: 'asdf documentation',
  },
  {
    id: 'shell-nix',
    family: 'shell',
    when: 'nix develop, nix-shell, direnv with use flake',
    severity: 'suspect',
    files: ['*.nix'],
    look: [{ kind: 'custom', see: nixLines }],
    why: 'Nix runs shell hooks and builders from it.',
    source: 'nix.dev; nix.conf(5)',
  },
  {
    id: 'shell-nix-lock',
    family: 'shell',
    when: 'nix develop',
    severity: 'suspect',
    files: ['flake.lock', 'npins/sources.json', 'nix/sources.json', 'devenv.lock', 'devbox.lock'],
    look: [
      {
        kind: 'keys',
        format: 'json',
        danger: /\.(owner|repo|type|dir|host|path|resolved)$/i,
        value: /^(http:|git\+|path:|file:)/,
      },
      { kind: 'custom', see: ({ before = '', after = '' }) => hashWithoutRev(before, after) },
      {
        kind: 'keys',
        format: 'json',
        danger: /\.url$/,
        harmless: /=https:\/\/(github\.com|api\.github\.com|releases\.nixos\.org|channels\.nixos\.org)\//,
      },
    ],
    why: 'An input comes from another source, or its hash changed without its revision.',
    source: 'nix flake documentation',
  },
  {
    id: 'shell-dev-environment',
    family: 'shell',
    when: 'devbox shell, devenv shell, flox activate, pixi run',
    severity: 'suspect',
    files: [
      'devbox.json',
      'devenv.yaml',
      '.flox/env/manifest.toml',
      'pixi.toml',
      '.envrc.toml',
      'shell.toml',
      'process-compose.y{,a}ml',
    ],
    look: [
      {
        kind: 'keys',
        format: 'auto',
        danger:
          /(^|\.)(shell|init_hook|scripts|include|hook|hooks|profile|activation|tasks|processes|imports?|enterShell|env|command|inputs)(\.|\[|$)/i,
      },
    ],
    why: 'Its hooks and tasks run in your shell.',
    source: 'devbox, devenv, flox and pixi documentation',
  },
  {
    id: 'shell-virtualenv',
    family: 'shell',
    when: 'activating the environment, or any tool started from it',
    severity: 'suspect',
    files: [
      '{.,}venv/**',
      '{.,}env/bin/**',
      'bin/activate{,.*,_*}',
      'pyvenv.cfg',
      'Scripts/activate{,.*}',
      'node_modules/**',
      'vendor/bin/*',
      '.direnv/**',
      '.tox/**',
      '.nox/**',
      '.bundle/ruby/**',
    ],
    look: [ANY_CHANGE],
    harmless: ['comments'],
    why: 'An installed environment is code that nobody reviews, and it runs at the next use.',
    source: 'Python venv documentation',
  },
];

function hashWithoutRev(before: string, after: string): string[] {
  const values = (text: string, key: string): string =>
    [...text.matchAll(new RegExp(`"${key}":\\s*"([^"]{0,200})"`, 'g'))].map((match) => match[1]).join();
  const moved = (key: string): boolean => values(before, key) !== values(after, key);
  return before !== '' && moved('narHash') && !moved('rev') ? ['narHash changed, rev did not'] : [];
}
