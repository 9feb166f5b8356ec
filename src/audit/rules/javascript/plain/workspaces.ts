import { anyOf, words } from '../../../formats/words.ts';
import type { HarmlessTable } from '../../../judges/harmless-keys.ts';

const VERSION_VALUE = /=[~^<>= ]*v?\d[\w.+-]*$/.source;

/** Package managers and runners of a workspace. */
export const WORKSPACE_TABLES: readonly HarmlessTable[] = [
  {
    files: ['.yarnrc.yml'],
    harmless: {
      switch: words`
        compressionLevel preferReuse preferInteractive preferDeferredVersions enableTelemetry enableProgressBars enableColors
        enableHyperlinks enableMessageNames enableTimers enableInlineBuilds enableNetworkTimers enableHardenedMode
        taskPoolConcurrency httpTimeout httpRetry networkConcurrency
      `,
      word: words`nodeLinker progressBarStyle compressionLevel winLinkType pnpMode nmHoistingLimits`,
      version: words`defaultSemverRangePrefix`,
    },
  },
  {
    files: ['bunfig.toml', '.bunfig.toml'],
    harmless: {
      switch: words`telemetry logLevel test.{coverage,coverageSkipTestFiles,timeout,smol,rerun} test.coverageThreshold.* smol
        install.{exact,production,optional,dev,peer,frozenLockfile}`,
      word: words`logLevel`,
    },
  },
  {
    files: ['pnpm-workspace.yaml'],
    harmless: {
      switch: words`
        autoInstallPeers preferWorkspacePackages saveWorkspaceProtocol strictPeerDependencies dedupePeerDependents preferFrozenLockfile
        resolvePeersFromWorkspaceRoot saveExact engineStrict packageManagerStrict cleanupUnusedCatalogs childConcurrency
      `,
      word: words`catalogMode resolutionMode`,
      version: words`savePrefix`,
      matching: new RegExp(`^catalogs?\\.[^=]*${VERSION_VALUE}`),
    },
  },
  {
    files: ['lerna.json'],
    harmless: {
      any: words`$schema`,
      switch: words`useNx useWorkspaces command.*.{exact,conventionalCommits,private,ignoreScripts,verifyAccess,gitTagVersion}`,
      version: words`version`,
      word: words`version`,
      text: words`command.*.message`,
      glob: words`{,command.*.}ignoreChanges command.*.allowBranch`,
      matching: /^npmClient=(npm|yarn|pnpm|bun)$/,
    },
  },
  {
    files: ['rush.json', 'common/config/rush/*.json'],
    harmless: {
      any: words`$schema`,
      version: words`preferredVersions.***`,
      words: words`projects.tags`,
      matching: /^(rushVersion|pnpmVersion|npmVersion|yarnVersion)=\d[\d.]*$/,
    },
  },
  {
    files: ['nx.json'],
    harmless: {
      any: words`$schema`,
      switch: words`targetDefaults.***.{cache,parallelism,continuous} parallel analytics tui.* useDaemonProcess`,
      glob: words`defaultBase affected.defaultBase workspaceLayout.* defaultProject`,
      matching: anyOf(
        /^(targetDefaults\.[^=]{1,100}\.(inputs|outputs)|namedInputs\.[^.=[]{1,60})\[\]=(?!.*\.\.)[!^]{0,2}(\{[\w.]{1,40}\}\/)?[\w@*./{},-]+$/,
        /^targetDefaults\.[^=]{1,100}\.dependsOn\[\]=\^?[\w:@*-]+$/,
      ),
    },
    // Files by a variable of Nx, and named sets; an input that is a command is an object.
  },
  {
    files: ['turbo.json', 'turbo.jsonc'],
    harmless: {
      any: words`$schema tasks.***.description`,
      switch: words`{tasks,pipeline}.***.{cache,persistent,interactive,interruptible} ui daemon noUpdateNotifier`,
      word: words`ui envMode {tasks,pipeline}.***.{outputMode,outputLogs} tags {,{tasks,pipeline}.***.}env globalEnv`,
      glob: words`{tasks,pipeline}.***.{outputs,inputs} globalDependencies`,
      matching:
        /^(tasks|pipeline)\.[^=]{1,100}\.(dependsOn|with)\[\]=\^?(\/\/)?[\w@:#*/-]+$|^extends\[\]=\/\/$|^(tasks|pipeline)\.[^=]{1,100}\.inputs\[\]=\$TURBO_DEFAULT\$$/,
    },
  },
];
