/** Where a row of the attack catalogue on collecting and applying is tried, or why it cannot be: `file#words`. */
const APPLY = 'test/unit/apply/apply-changes.test.ts';
const CRASH = 'test/unit/apply/crash.test.ts';
const CUT = 'test/unit/apply/power-cut.test.ts';
const RACES = 'test/unit/apply/disk/races.test.ts';
const MODEL = 'test/unit/apply/property.test.ts';
const COMMITS = 'test/unit/commits/import-commits.test.ts';
const DIFF = 'test/unit/review/file-diff.test.ts';
const ASK = 'test/unit/terminal/review/ask-review.test.ts';
const STORE = 'test/unit/store/store.test.ts';
const COLLECTOR = 'test/unit/collector/client.test.ts';
const WORKSPACE = 'test/engine/workspace/workspace.test.ts';
const BASE = 'test/unit/base/base.test.ts';
const RULES = `${APPLY}#each rule once, in one project`;
const SHAPES = `${APPLY}#takes swaps, cycles, kinds within kinds`;
const HOST = `${APPLY}#keeps what it has of its own`;
const JOURNAL = `${APPLY}#a journal that was cut off or changed`;
const SHOWN = `${DIFF}#nothing acts on the terminal, nothing is cut off`;
const REFUSED = `${COMMITS}#and leaves no object behind`;
const rows = (ids: readonly number[], where: string): [string, string][] =>
  ids.map((id) => [`D-${String(id).padStart(3, '0')}`, where]);

export const ROWS: ReadonlyMap<string, string> = new Map([
  ...rows([39, 46, 58, 92, 96, 134], RULES),
  ...rows([50, 51, 53, 56, 66, 67, 138, 139, 154], SHAPES),
  ...rows([24, 47, 131, 132, 133, 135], HOST),
  ...rows([146, 147], JOURNAL),
  ...rows([61], `${APPLY}#writes into no .git, whatever its case`),
  ...rows([93], `${APPLY}#a conflict by the rule %s`),
  ...rows([94], `${APPLY}#new bytes go through the audit again`),
  ...rows([150], `${APPLY}#takes a second apply against what the first left`),
  ...rows([151], `${APPLY}#leaves what was edited since`),
  ...rows([156], `${APPLY}#keeps owner, mode and attributes`),
  ...rows([130], `${APPLY}#into no project that was replaced`),
  ...rows([136], MODEL),
  ...rows([128, 129], `${RACES}#writes nothing outside the project in 10,000 rounds`),
  ...rows([145], `${CRASH}#leaves each file old or new after recovery`),
  ...rows([37, 140, 141], `${CRASH}#takes everything back on a failing disk`),
  ...rows([144], `${CUT}#drops what no fsync had secured`),
  ...rows([148], `${STORE}#of a process that is gone are taken over`),
  ...rows([137], `${ASK}#takes a word of its own for a mass deletion`),
  ...rows([65, 82, 83, 84, 85], SHOWN),
  ...rows([88], `${DIFF}#shows a mode alone`),
  ...rows([80], `${DIFF}#hides no script behind one NUL`),
  ...rows([75], `${DIFF}#gives up on lines that cannot be compared in time`),
  ...rows([162, 179], `${COMMITS}#moves nothing, runs no hook of the host`),
  ...rows([163], `${COMMITS}#no tags, notes or replacements`),
  ...rows([165, 166], REFUSED),
  ...rows([167, 170], `${COMMITS}#reads no header like`),
  ...rows([168, 171, 178], `${COMMITS}#refuses a damaged pack`),
  ...rows([173, 177], `${COMMITS}#audits each commit alone`),
  ...rows([174], 'docs/how-to/import-commits.md#Author and date are what the agent'),
  ...rows([18, 20, 30, 32, 35, 36], `${COLLECTOR}#lists every kind of entry`),
  ...rows([15, 45], `${COLLECTOR}#refuses a sparse giant without reading it`),
  ...rows([59], `${COLLECTOR}#lists past PATH_MAX`),
  ...rows([72], `${COLLECTOR}#counts before it lists without end`),
  ...rows([9, 10, 12, 29, 117, 119], `${WORKSPACE}#lists what an independent full comparison finds`),
  ...rows([14], `${WORKSPACE}#gives exactly what the session changed`),
  ...rows([115], `${WORKSPACE}#what the session sees does not move`),
  ...rows([27, 95, 125], `${BASE}#a generation in use stays as it is`),
  ...rows([116], `${BASE}#never holds what is excluded`),
  ...rows([121], `${BASE}#trees that real projects have`),
  ...rows(
    [1, 5, 6, 8, 105, 106, 107, 108, 124],
    'reason: of the containers; the engine room ends them before anything is read',
  ),
  ...rows([17], 'test/unit/collector/hostile.test.ts#somebody holds a lease on'),
  ...rows(
    [21, 25, 28, 38, 40, 43, 49],
    'reason: kinds, links, owners and attributes are the collector’s and the audit’s',
  ),
  ...rows(
    [54, 76, 109, 111],
    'reason: no tar, no patch text and no parser of either stands between the session and the host',
  ),
  ...rows([19, 33, 41], 'test/attacks/hostile-layer.test.ts#is listed or refused, never followed, never waited for'),
  ...rows([4], 'test/engine/hardening/containers.test.ts#nothing inside stops or kills PID 1'),
  ...rows([57], `${ASK}#in the person’s difftool`),
  ...rows([90], 'reason: programs of the person get no name of the session and no shell: text on stdin'),
  ...rows([60], 'reason: trees of a session are removed by the workspace room'),
  ...rows([62], 'test/unit/apply/disks.test.ts#takes everything once, renames of letter case alone too'),
  ...rows(
    [70, 77, 78, 79, 81],
    'reason: content is judged by the audit room; nothing is hidden by an attribute, none is read',
  ),
  ...rows([98, 99, 100, 101, 103], 'reason: no archive call is made on a container that an agent ran in'),
  ...rows([114], 'reason: the environment is the process’s; no file of the project is read for it'),
  ...rows([123, 158, 160], 'reason: places and ids are the command line’s and the session’s'),
  ...rows([155], 'reason: times of a session are never applied, and ids come from the host’s clock'),
  ...rows([157], 'reason: order of steps: what is suspect comes after the rest (steps.ts, late)'),
  ...rows([172], 'reason: git’s own collision detection; the audit reads the imported objects'),
]);
