import { words } from '../../../formats/words.ts';
import type { PlainTable } from '../../../judges/plain.ts';

/** Checks of commits, releases and change logs. */
export const RELEASE_TABLES: readonly PlainTable[] = [
  {
    paths: ['.commitlintrc', '.commitlintrc.{json,yml,yaml}', '.commitlintrc.*.{json,yml,yaml}'],
    plain: {
      any: words`$schema`,
      switch: words`rules.* defaultIgnores`,
      text: words`rules.* prompt.**`,
      url: words`helpUrl`,
    },
  },
  { paths: ['.czrc', '.cz.{toml,json,yaml}'], plain: { word: words`{,tool.}commitizen.{version,version_scheme}` } },
  {
    paths: ['.release-it.{json,yml,yaml,toml}', '.release-it.*.json'],
    plain: {
      any: words`$schema`,
      switch: words`git.{commit,tag,push,requireCleanWorkingDir,requireUpstream,requireCommits} {github,gitlab}.release npm.publish`,
    },
  },
  {
    paths: ['.releaserc', '.releaserc.{json,yml,yaml}'],
    plain: {
      any: words`$schema`,
      switch: words`dryRun ci debug branches.prerelease`,
      glob: words`branches branches.{name,channel,range}`,
    },
  },
  {
    paths: ['.changeset/config.json'],
    plain: {
      any: words`$schema`,
      switch: words`
        commit changelog bumpVersionsWithWorkspaceProtocolOnly privatePackages privatePackages.* snapshot.useCalculatedVersion
        ___experimentalUnsafeOptions_WILL_CHANGE_IN_PATCH.*
      `,
      word: words`updateInternalDependencies`,
      glob: words`baseBranch fixed linked ignore`,
    },
  },
  {
    paths: ['.versionrc', '.versionrc.json'],
    plain: { switch: words`skip.* types.hidden`, text: words`header types.{type,section}`, word: words`tagPrefix` },
  },
  { paths: ['.yo-rc.json', '.simple-git-hooks.json', '{ios,android}/sentry.properties'], plain: {} },
];
