import { execFile } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CodeBlock, codeBlocks, listPages, readPage } from '../../support/markdown.ts';
import { mainJs, Scene } from '../../support/scene.ts';
import { type StandIn, startMessagesApi } from '../../support/stand-in/messages-api.mjs';
import { TerminalScreen } from '../../support/terminal-screen.ts';

const TUTORIAL = 'docs/tutorial.md';
/** The home that the screens show. */
const SHOWN_HOME = '/home/you';
const PAGES = listPages().filter((name) => name === TUTORIAL || name.startsWith('docs/how-to/'));
const COLUMNS = 80;
/** More rows than any block prints. */
const ROWS = 400;
const MAX_NOT_RUN = 0.25;

/** What the comment above a shell block asks of the test. */
interface BlockRun {
  readonly exit: number;
  /** Sessions are planned with `--dry-run`: the block shows options, and what they do is tested elsewhere. */
  readonly planOnly: boolean;
  /** Typed one by one, each at the next question. */
  readonly answers: readonly string[];
}

/** `run`, `run: plan only`, `run: exit 120`, `run: answers y n; exit 121`; undefined for `not run: REASON`. */
function readMarker({ marker, line }: CodeBlock): BlockRun | undefined {
  if (marker !== undefined && /^not run: \S/.test(marker)) return undefined;
  if (marker === 'run: plan only') return { exit: 0, planOnly: true, answers: [] };
  const match = /^run(?:: (?:answers ([^;]+))?(?:(?:; )?exit (\d+))?)?$/.exec(marker ?? '');
  if (match === null) throw new Error(`line ${line}: the shell block has no <!-- run --> or <!-- not run: … -->`);
  return { exit: Number(match[2] ?? 0), planOnly: false, answers: match[1]?.split(' ') ?? [] };
}

const shellBlocks = (page: string): CodeBlock[] =>
  codeBlocks(readPage(page)).filter(({ language }) => language === 'sh');

/** Ids, times and places: what differs from run to run. */
function normalise(screen: string, home: string): string {
  return (
    screen
      .replaceAll(home, SHOWN_HOME)
      .replaceAll(/\d{6}-\d{6}-[2-9b-z]{3}/g, '261123-101500-abc')
      .replaceAll(/\b(?:under )?\d+ s\b/g, '4 s')
      .replaceAll(/\b\d+g disk/g, '20g disk')
      // git's own files differ from release to release.
      .replaceAll(/copied {6}(\d+ files?), \d+ KB, and \.git \(\d+ KB\)/g, 'copied      $1, 1 KB, and .git (25 KB)')
      // Only a run of more than three seconds prints it.
      .replaceAll(/\[sandbox\] To see its changes as they happen:\n\s+run-claude diff --follow \S+\n/g, '')
      .replaceAll(/(?:just now|\d+ min ago)/g, 'just now')
  );
}

interface Ran {
  readonly exit: number;
  readonly screen: string;
  /** The line of the command that failed. */
  readonly endedAt?: number | undefined;
}

/** A block as a script that ends at the first command that fails, and keeps where it is then. */
function scriptOf(text: string, folder: string, failed: string): string {
  return `trap 'pwd > "${folder}"' EXIT; trap 'echo "$((LINENO - 1))" > "${failed}"' ERR\n${text}`;
}

/** Lines of a block after the one at which it ended that begin another command of run-claude: they did not run. */
function notRun({ text }: CodeBlock, { exit, endedAt = 0 }: Ran): readonly string[] {
  if (exit === 0) return [];
  return text
    .split('\n')
    .slice(endedAt)
    .filter((command) => command.startsWith('run-claude '));
}

/** The command as installed; PLAN_ONLY turns sessions into dry runs. */
const INSTALLED = `#!/bin/sh
main() { exec '${process.execPath}' '${mainJs}' "$@"; }
test -n "$PLAN_ONLY" || main "$@"
case $1 in
  exec) shift; main exec --dry-run "$@" ;;
  -*) main --dry-run "$@" ;;
esac
main "$@"
`;

/** A new directory with a path as long as the one that screens show, so that their lines wrap as a user's do. */
function makeShownHome(): string {
  const top = '/tmp/';
  const length = SHOWN_HOME.length - top.length;
  for (;;) {
    const home =
      top +
      randomInt(36 ** length)
        .toString(36)
        .padStart(length, '0');
    try {
      mkdirSync(home, { mode: 0o700 });
      return home;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  }
}

/** A user's login on a machine where run-claude is installed; its blocks run one after the other, in one folder. */
class Reader implements AsyncDisposable {
  readonly #scene: Scene;
  readonly #env: Readonly<Record<string, string>>;
  readonly #home: string;
  #folder: string;

  constructor(standIn: StandIn, page: string) {
    this.#scene = new Scene({ apiUrl: standIn.url, apiKey: 'sk-ant-api03-of-the-stand-in' });
    const { project, env } = this.#scene;
    this.#home = page === TUTORIAL ? makeShownHome() : this.#scene.home;
    const home = this.#home;
    const bin = path.join(this.#scene.root, 'bin');
    mkdirSync(bin);
    writeFileSync(path.join(bin, 'run-claude'), INSTALLED);
    chmodSync(path.join(bin, 'run-claude'), 0o755);
    writeFileSync(
      path.join(home, '.gitconfig'),
      '[user]\n\tname = You\n\temail = you@example.org\n[init]\n\tdefaultBranch = main\n',
    );
    // As on a user's machine, where no such variable is set: a block that needs one fails.
    const unset = Object.entries(env).filter(([name]) => !name.startsWith('XDG_'));
    this.#env = { ...Object.fromEntries(unset), HOME: home, PATH: `${bin}:${env['PATH']}`, PAGER: 'cat' };
    this.#folder = page === TUTORIAL ? home : project;
  }

  /** Runs a block, in a terminal where it needs one, and gives its exit status and what it printed. */
  async run({ text }: CodeBlock, { answers, planOnly }: BlockRun, inTerminal: boolean): Promise<Ran> {
    const script = path.join(this.#scene.root, 'block.sh');
    const folder = path.join(this.#scene.root, 'folder');
    const failed = path.join(this.#scene.root, 'failed');
    rmSync(failed, { force: true });
    writeFileSync(script, scriptOf(text, folder, failed));
    const env = { ...this.#env, ...(planOnly ? { PLAN_ONLY: '1' } : {}) };
    const ran = await (inTerminal ? this.#runInTerminal(script, env, answers) : this.#runPiped(script, env));
    this.#folder = readFileSync(folder, 'utf8').trim();
    return { ...ran, endedAt: existsSync(failed) ? Number(readFileSync(failed, 'utf8')) : undefined };
  }

  #runPiped(script: string, env: Readonly<Record<string, string>>): Promise<Ran> {
    return new Promise((resolve) => {
      const child = execFile('bash', ['-eu', script], { cwd: this.#folder, env }, (error, stdout, stderr) => {
        resolve({ exit: error === null ? 0 : Number(error.code), screen: stdout + stderr });
      });
      child.stdin?.end();
    });
  }

  async #runInTerminal(
    script: string,
    env: Readonly<Record<string, string>>,
    answers: readonly string[],
  ): Promise<Ran> {
    await using terminal = new TerminalScreen(['sh', '-c', `bash -eu '${script}'; echo "[exit $?]"`], {
      cwd: this.#folder,
      env,
      columns: COLUMNS,
      rows: ROWS,
      approved: '',
      normalise: (screen) => normalise(screen, this.#home),
    });
    for (const [answered, answer] of answers.entries()) {
      const question = String.raw`\[[\w/,?]+\]:`;
      await terminal.see(new RegExp(String.raw`(?:${question}[^]*?){${answered}}${question}$|\[exit \d+\]$`));
      terminal.send(`${answer}\r`);
    }
    const shown = await terminal.see(/\[exit \d+\]$/);
    const [, screen = '', exit] = /^([\s\S]*?)\n?\[exit (\d+)\]$/.exec(shown) ?? [];
    return { exit: Number(exit), screen };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#home !== this.#scene.home) rmSync(this.#home, { recursive: true, force: true });
    await this.#scene[Symbol.asyncDispose]();
  }
}

let standIn: StandIn;
beforeAll(async () => {
  standIn = await startMessagesApi({ turns: [] });
  // Where no test built it yet: no page waits that long.
  await using scene = new Scene();
  expect((await scene.run(['build'], { timeoutMs: 1_200_000 })).status).toBe(0);
});
afterAll(() => standIn.close());

/** Runs all blocks of a page; gives the page with each `<!-- screen -->` block as the terminal showed it. */
async function runPage(name: string): Promise<string> {
  await using reader = new Reader(standIn, name);
  const page = readPage(name);
  const lines = page.split('\n');
  const shown: { readonly block: CodeBlock; readonly screen: string }[] = [];
  let screen = '';
  for (const block of codeBlocks(page)) {
    if (block.marker === 'screen') shown.push({ block, screen });
    if (block.language !== 'sh') continue;
    const wanted = readMarker(block);
    if (wanted === undefined) continue;
    const done = await reader.run(block, wanted, name === TUTORIAL || wanted.answers.length > 0);
    expect(done.exit, `${name}:${block.line}\n${block.text}\n${done.screen}`).toBe(wanted.exit);
    expect(notRun(block, done), `${name}:${block.line}: commands that did not run`).toEqual([]);
    screen = done.screen;
  }
  for (const { block, screen } of shown.reverse()) {
    lines.splice(block.line, block.text.split('\n').length - 1, ...screen.split('\n'));
  }
  return lines.join('\n');
}

describe('shell blocks of the tutorial and the how-to pages', () => {
  it('each is marked with how it runs, and at most a quarter is marked as not run', () => {
    const blocks = PAGES.flatMap(shellBlocks);
    const notRun = blocks.filter((block) => readMarker(block) === undefined);
    expect(blocks.length).toBeGreaterThan(40);
    expect(notRun.length / blocks.length).toBeLessThanOrEqual(MAX_NOT_RUN);
  });

  // The longest pages first, so that none of them is alone at the end.
  it.concurrent('docs/tutorial.md, with the screens that a user sees (vitest --update writes them)', async ({
    expect: expectHere,
  }) => {
    await expectHere(await runPage(TUTORIAL)).toMatchFileSnapshot('../../../docs/tutorial.md');
  });

  const blocksRun = (name: string): number => shellBlocks(name).filter((block) => readMarker(block)).length;
  const pages = PAGES.filter((name) => name !== TUTORIAL).sort((a, b) => blocksRun(b) - blocksRun(a));
  it.concurrent.each(pages)('%s', async (name) => {
    await runPage(name);
  });
});
