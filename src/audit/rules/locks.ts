import { judgeYarnLock } from '../lockfiles.ts';
import type { FileRule } from '../rule.ts';

export const lockRules: readonly FileRule[] = [
  {
    id: 'locks-other',
    family: 'languages',
    trigger: 'installing dependencies',
    severity: 'suspect',
    paths: [
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
    ],
    judges: [
      { kind: 'custom', see: judgeYarnLock },
      {
        kind: 'lines',
        danger:
          /^(GIT|PATH|PLUGIN SOURCE)$|^remote:\s*(?!https:\/\/rubygems\.org)|"(type|RemoteType)":\s*"(path|git|vcs|local)"|^source\s*=\s*"(?!registry\+)|path:\s*"?\.\.?\//,
        removed: /^CHECKSUMS/,
      },
      { kind: 'custom', see: goSum },
    ],
    why: 'A package comes from a place that was not there, or its checksum is gone.',
    source: 'Cargo, bundler, composer and Go module documentation',
  },
];

/** go.sum only grows for a version that stays: another hash for a version is never right. */
function goSum({
  path,
  before = '',
  after = '',
}: {
  path: string;
  before: string | undefined;
  after: string | undefined;
}): string[] {
  if (!/\.sum$/.test(path)) return [];
  const had = new Map(
    before
      .split('\n')
      .map((line) => line.split(' '))
      .filter((parts) => parts.length === 3)
      .map(([module, version, hash]) => [`${module} ${version}`, hash]),
  );
  return after
    .split('\n')
    .map((line) => line.split(' '))
    .filter(
      ([module, version, hash]) =>
        hash !== undefined && had.has(`${module} ${version}`) && had.get(`${module} ${version}`) !== hash,
    )
    .map(([module, version]) => `${module} ${version}: other hash`);
}
