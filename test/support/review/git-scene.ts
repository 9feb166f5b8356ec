import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { CommandContext } from '../../../src/cli/context/context.ts';

/** A repository of the user's, without any configuration of this machine. */
export class GitScene implements Disposable {
  readonly root: string = realpathSync(mkdtempSync(path.join(tmpdir(), 'run-claude-git-scene-')));
  readonly repo: string = path.join(this.root, 'repo');
  readonly env: NodeJS.ProcessEnv = {
    PATH: process.env['PATH'],
    HOME: this.root,
    GIT_CONFIG_NOSYSTEM: '1',
    XDG_CONFIG_HOME: path.join(this.root, 'xdg'),
  };

  constructor() {
    mkdirSync(this.repo);
    this.git('init', '-q', '-b', 'main');
  }

  git(...args: readonly string[]): string {
    const settings = ['-C', this.repo, '-c', 'user.name=n', '-c', 'user.email=e'];
    return execFileSync('git', [...settings, ...args], {
      env: this.env,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  }

  put(name: string, text: string): void {
    mkdirSync(path.dirname(path.join(this.repo, name)), { recursive: true });
    writeFileSync(path.join(this.repo, name), text);
  }

  commit(files: Readonly<Record<string, string>>, message = 'change'): string {
    for (const [name, text] of Object.entries(files)) this.put(name, text);
    this.git('add', '-A');
    this.git('commit', '-qm', message);
    return this.git('rev-parse', 'HEAD').trim();
  }

  /** What a command gets, and what it wrote. */
  context(env: NodeJS.ProcessEnv = {}): CommandContext & { readonly out: () => string; readonly told: string[] } {
    let out = '';
    const told: string[] = [];
    return {
      env: { ...this.env, ...env },
      cwd: this.repo,
      places: {
        home: this.root,
        configDir: path.join(this.root, 'config'),
        stateDir: path.join(this.root, 'state'),
        cacheDir: path.join(this.root, 'cache'),
        dataDir: path.join(this.root, 'data'),
      },
      tell: (event) => {
        if (event.kind === 'message') told.push(event.text);
      },
      write: (text) => {
        out += text;
      },
      interruption: {
        signal: new AbortController().signal,
        by: () => undefined,
        next: () => new AbortController().signal,
        lend: () => ({ [Symbol.dispose]: () => undefined }),
      },
      out: () => out,
      told,
    };
  }

  [Symbol.dispose](): void {
    rmSync(this.root, { recursive: true, force: true });
  }
}
