import { execFile } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CodeBlock, codeBlocks, linksOf, listPages, readPage } from '../../support/markdown.ts';
import { mainJs, Scene } from '../../support/scene.ts';
import { type StandIn, startMessagesApi } from '../../support/stand-in/messages-api.mjs';
import { TerminalScreen } from '../../support/terminal-screen.ts';

const TUTORIAL = 'docs/tutorial.md';
/** The home that the screens show. */
const SHOWN_HOME = '/home/you';
const INDEX = 'docs/README.md';
/** The project that the tutorial makes. */
const PROJECT = 'greeter';
const JOURNEYS = journeys();
const PAGES = JOURNEYS.flatMap(({ pages }) => pages);
const COLUMNS = 80;
/** More rows than any block prints. */
const ROWS = 400;
const MAX_NOT_RUN = 0.25;
/** Of all pages of a section, one after the other. */
const JOURNEY_MS = 900_000;

/** A section of the index, and the pages with commands that nobody met in an earlier one. */
interface Journey {
  readonly title: string;
  readonly pages: readonly string[];
}

/** The tutorial and the how-to pages as readers of the index meet them. */
function journeys(): readonly Journey[] {
  const isTried = (name: string): boolean => name === TUTORIAL || name.startsWith('docs/how-to/');
  const met = new Set<string>();
  // The five pages at the top are in their sections too.
  const [, ...sections] = readPage(INDEX).split(/^## /m);
  return sections.flatMap((section) => {
    const linked = linksOf(section).map((target) => path.posix.join('docs', target.split('#')[0] ?? ''));
    const pages = [...new Set(linked)].filter((name) => isTried(name) && !met.has(name));
    for (const name of pages) met.add(name);
    return pages.length === 0 ? [] : [{ title: section.split('\n')[0] ?? '', pages }];
  });
}

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

/** The home of a user with run-claude installed and no XDG variable set: it stays for the pages of a section. */
class Reader implements AsyncDisposable {
  readonly #scene: Scene;
  readonly #env: Readonly<Record<string, string>>;
  readonly #home = makeShownHome();
  #folder = this.#home;

  constructor(standIn: StandIn) {
    this.#scene = new Scene({ apiUrl: standIn.url, apiKey: 'sk-ant-api03-of-the-stand-in' });
    const bin = path.join(this.#scene.root, 'bin');
    mkdirSync(bin);
    writeFileSync(path.join(bin, 'run-claude'), INSTALLED);
    chmodSync(path.join(bin, 'run-claude'), 0o755);
    writeFileSync(
      path.join(this.#home, '.gitconfig'),
      '[user]\n\tname = You\n\temail = you@example.org\n[init]\n\tdefaultBranch = main\n',
    );
    // As on a user's machine, where no such variable is set: a block that needs one fails.
    const unset = Object.entries(this.#scene.env).filter(([name]) => !name.startsWith('XDG_'));
    this.#env = {
      ...Object.fromEntries(unset),
      HOME: this.#home,
      PATH: `${bin}:${this.#scene.env['PATH']}`,
      PAGER: 'cat',
    };
  }

  /** A page begins in the project, which the tutorial makes; pages before the tutorial begin at home. */
  async openPage(name: string, journey: readonly string[]): Promise<void> {
    const project = path.join(this.#home, PROJECT);
    this.#folder = this.#home;
    if (journey.indexOf(name) <= journey.indexOf(TUTORIAL)) return;
    if (!existsSync(project)) {
      const made = shellBlocks(TUTORIAL).find(({ text }) => text.includes(`mkdir ${PROJECT}\n`));
      if (made === undefined) throw new Error(`${TUTORIAL} makes no ${PROJECT}`);
      await this.run(made, { exit: 0, planOnly: false, answers: [] }, false);
    }
    this.#folder = project;
  }

  /** Without the empty lines that adding and removing leaves. */
  get config(): string {
    const file = path.join(this.#home, '.config/run-claude/config.toml');
    return existsSync(file) ? readFileSync(file, 'utf8').trim() : '';
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
    rmSync(this.#home, { recursive: true, force: true });
    await this.#scene[Symbol.asyncDispose]();
  }
}

/** What a page must not break. */
const AFTERWARDS: CodeBlock = { language: 'sh', text: 'run-claude exec --yes -- true\n', line: 0, marker: 'run' };

let standIn: StandIn;
beforeAll(async () => {
  standIn = await startMessagesApi({ turns: [] });
  // Where no test built it yet: no page waits that long.
  await using scene = new Scene();
  expect((await scene.run(['build'], { timeoutMs: 1_200_000 })).status).toBe(0);
});
afterAll(() => standIn.close());

/** Runs all blocks of a page; gives the page with each `<!-- screen -->` block as the terminal showed it. */
async function runPage(reader: Reader, name: string, journey: readonly string[]): Promise<string> {
  await reader.openPage(name, journey);
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

  it('the index has every page', () => {
    const all = listPages().filter((name) => name === TUTORIAL || name.startsWith('docs/how-to/'));
    expect(all.filter((name) => !PAGES.includes(name))).toEqual([]);
  });

  // One home for each section: its pages in their order, as a user reads on.
  it.concurrent.for(JOURNEYS)(
    '$title: each page runs, leaves config.toml as it was, and sessions start after it',
    { timeout: JOURNEY_MS },
    async ({ pages }, { expect: expectHere }) => {
      await using reader = new Reader(standIn);
      for (const name of pages) {
        const { config } = reader;
        const shown = await runPage(reader, name, pages);
        // vitest --update writes the screens.
        if (name === TUTORIAL) await expectHere(shown).toMatchFileSnapshot('../../../docs/tutorial.md');
        expectHere(reader.config, `${name} changes config.toml for good`).toBe(config);
        const hasRun = shellBlocks(name).some((block) => readMarker(block)?.planOnly === false);
        if (!hasRun || pages.indexOf(name) <= pages.indexOf(TUTORIAL)) continue;
        await reader.openPage(name, pages);
        const after = await reader.run(AFTERWARDS, { exit: 0, planOnly: false, answers: [] }, false);
        expectHere(after.exit, `after ${name}:\n${after.screen}`).toBe(0);
      }
    },
  );
});
