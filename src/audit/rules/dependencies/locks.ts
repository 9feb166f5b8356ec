import { anyOf } from '../../formats/words.ts';
import type { JudgedText, Rule } from '../../judges/rule.ts';
import { judgeComposerLock } from '../../locks/composer-lock.ts';
import { judgeYarnLock } from '../../locks/lockfiles.ts';

const OTHER_LOCKS = [
  'Gemfile.lock',
  'gems.locked',
  'Cargo.lock',
  'composer.lock',
  'mix.lock',
  'pubspec.lock',
  'Package.resolved',
  'Podfile.lock',
  'Cartfile.resolved',
  'renv.lock',
  'packrat.lock',
  'gradle.lockfile',
  'packages.lock.json',
  'project.assets.json',
  'Manifest.toml',
  'stack.yaml.lock',
  'cabal.project.freeze',
  'shard.lock',
  'Chart.lock',
  'elm-stuff/**',
  'conan.lock',
  'spago.lock',
  'rebar.lock',
  'nimble.lock',
  'dub.selections.json',
  'cpanfile.snapshot',
  'paket.lock',
  '*.lock.hcl',
  'go.sum',
  'go.work.sum',
  'vcpkg-lock.json',
  'gleam.toml.lock',
  'manifest.toml',
  'buf.lock',
  'MODULE.bazel.lock',
  'maven_install.json',
  'mise.lock',
  'lake-manifest.json',
  'elm.json',
  '.copier-answers.y{,a}ml',
  'vcpkg-configuration.json',
  'gleam.toml',
];

export const lockRules: readonly Rule[] = [
  {
    id: 'locks-other',
    family: 'languages',
    when: 'installing dependencies',
    severity: 'suspect',
    files: [...OTHER_LOCKS, '!composer.lock'],
    look: [
      { kind: 'custom', see: judgeYarnLock },
      {
        kind: 'lines',
        danger: anyOf(
          /^(GIT|PATH|PLUGIN SOURCE)$|^remote:\s*(?!https:\/\/rubygems\.org)/,
          /"(type|RemoteType)":\s*"(path|git|vcs|local)"|^source\s*=\s*"(?!registry\+)|"?path"?\s*[:=]\s*"?\.\.?\//,
          /^_src_path:|"@?[\w.-]+\/[\d.]+@[\w-]+\/|^pathname: (?![A-Z]\/[A-Z]{2}\/)/,
        ),
      },
      { kind: 'custom', see: sourceGone },
    ],
    why: 'A package comes from a new source, or its checksum was removed.',
    source: 'Cargo, bundler and Go module documentation',
  },
  {
    id: 'locks-composer',
    family: 'languages',
    when: 'composer install',
    severity: 'suspect',
    files: ['composer.lock'],
    look: [{ kind: 'custom', see: judgeComposerLock }],
    harmless: ['deletion'],
    why: 'A package comes from a new source, or another commit has its version.',
    source: 'Composer documentation, composer.lock',
  },
  {
    id: 'locks-deleted',
    title: 'Lock file deleted',
    family: 'languages',
    when: 'installing dependencies',
    severity: 'suspect',
    files: [
      ...OTHER_LOCKS,
      'package-lock.json',
      'npm-shrinkwrap.json',
      'yarn.lock',
      'pnpm-lock.yaml',
      'bun.lock',
      'deno.lock',
      'poetry.lock',
      'uv.lock',
      'pdm.lock',
      'Pipfile.lock',
      'pixi.lock',
      'flake.lock',
      '.terraform.lock.hcl',
    ],
    look: [
      { kind: 'custom', see: ({ before, after }) => (before !== undefined && after === undefined ? ['deleted'] : []) },
    ],
    why: 'The next install takes the newest versions, whatever they are, and checks no hash.',
    source: 'documentation of the package managers',
  },
];

/** Cargo packages that had a registry and now have none: they come from a folder. */
function sourceGone({ path, before = '', after = '' }: JudgedText): string[] {
  if (!/(^|\/)cargo\.lock$/i.test(path)) return [];
  const packages = (text: string): [string, boolean][] =>
    text.split(/\[\[package\]\]/).flatMap((block) => {
      const name = /^name\s*=\s*"([^"]*)"/m.exec(block)?.[1];
      return name === undefined ? [] : [[name, /^source\s*=/m.test(block)] as [string, boolean]];
    });
  const bare = (text: string): string[] => packages(text).flatMap(([name, source]) => (source ? [] : [name]));
  const old = new Set(bare(before));
  const had = new Set(packages(before).map(([name]) => name));
  return bare(after)
    .filter((name) => had.has(name) && !old.has(name))
    .map((name) => `${name} no longer comes from a registry`);
}
