/** Where a row of the attack catalogue on Claude's data is tried, or why it cannot be. `file#words of the test`. */
const STAGE = 'test/unit/claude/stage/stage.test.ts';
const BACK = 'test/unit/claude/back/sync-back.test.ts';
const GC = 'test/unit/claude/instances/list.test.ts';
const REWRITE = `${BACK}#changes nothing on the host, and each attempt is reported`;
const RECORDS = `${BACK}#keep the conversation, connected, and drop records that act on resume`;
const LINES = `${BACK}#survive hostile lines`;
const OUT = `${STAGE}#brings neither account, other projects, credentials`;
const rows = (ids: readonly number[], where: string): [string, string][] =>
  ids.map((id) => [`F-${String(id).padStart(3, '0')}`, where]);

export const ROWS: ReadonlyMap<string, string> = new Map([
  ...rows([1, 2, 3, 4, 5, 7, 8, 10, 11, 12, 14, 15, 18, 19, 20, 21, 26, 27, 28, 30, 31, 32], REWRITE),
  ...rows([37, 38, 39, 40, 41, 42, 43, 44, 46, 47, 50, 79, 82, 84, 85, 86, 87, 88, 89, 96, 99, 105, 126], REWRITE),
  ...rows([54, 55, 56, 58, 59, 60, 61, 64], RECORDS),
  ...rows([17, 66, 67, 97, 123], `${BACK}#that are rewritten, deleted, misnamed or no plain files stay out`),
  ...rows([65, 75], `${BACK}#that are rewritten, deleted, misnamed or no plain files stay out`),
  ...rows([71, 102], LINES),
  ...rows([73], `${BACK}#takes new prompts of this project, cleaned`),
  ...rows([35, 76, 78, 121], `${BACK}#memory, plans and to-dos are suspects`),
  ...rows([83, 95], `${BACK}#says nothing of what Claude does by itself`),
  ...rows([120], `${BACK}#go on in the next session, and two at once keep both`),
  ...rows([22, 23, 90, 98, 100, 101, 117], OUT),
  ...rows([118], `${STAGE}#brings skills, commands and the like`),
  ...rows([68], `${STAGE}#keeps two projects apart that share a folder of transcripts`),
  ...rows([122], `${STAGE}#is shared by worktrees, apart from submodules`),
  ...rows([125], `${GC}#removes the data of a deleted project`),
  ...rows([29, 34, 51, 52, 110], 'reason: files of the project; the audit room judges them'),
  ...rows([62], 'reason: words cannot be told from forged words; every record says that it was made in the sandbox'),
  ...rows([106, 108, 109, 115], 'reason: the environment and the read-only root are the plan’s and the container’s'),
  ...rows([111, 112], 'reason: the command line judges Claude’s options'),
]);
