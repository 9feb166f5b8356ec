import { words } from '../../../formats/words.ts';
import type { HarmlessTable } from '../../../judges/harmless-keys.ts';

/** Checks of commits, releases and change logs. */
export const RELEASE_TABLES: readonly HarmlessTable[] = [
  {
    files: ['.commitlintrc', '.commitlintrc.{json,yml,yaml}', '.commitlintrc.*.{json,yml,yaml}'],
    harmless: {
      any: words`$schema`,
      switch: words`rules.* defaultIgnores`,
      text: words`rules.* prompt.**`,
      url: words`helpUrl`,
    },
  },
  { files: ['.czrc', '.cz.{toml,json,yaml}'], harmless: { word: words`{,tool.}commitizen.{version,version_scheme}` } },
  {
    files: ['.release-it.{json,yml,yaml,toml}', '.release-it.*.json'],
    harmless: {
      any: words`$schema`,
      switch: words`git.{commit,tag,push,requireCleanWorkingDir,requireUpstream,requireCommits} {github,gitlab}.release npm.publish`,
    },
  },
  {
    files: ['.releaserc', '.releaserc.{json,yml,yaml}'],
    harmless: {
      any: words`$schema`,
      switch: words`dryRun ci debug branches.prerelease`,
      glob: words`branches branches.{name,channel,range}`,
    },
  },
  {
    files: ['.changeset/config.json'],
    harmless: {
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
    files: ['.versionrc', '.versionrc.json'],
    harmless: { switch: words`skip.* types.hidden`, text: words`header types.{type,section}`, word: words`tagPrefix` },
  },
  { files: ['.yo-rc.json', '.simple-git-hooks.json', '{ios,android}/sentry.properties'], harmless: {} },
];
