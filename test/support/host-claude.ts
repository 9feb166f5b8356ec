import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Pty } from './pty.ts';
import { mainJs, packageRoot, type RunResult, type Scene } from './scene.ts';

/** The real Claude Code on the host, in the home of a scene, with the plugin that it installed itself. */
export interface HostClaude {
  /** Its own commands and prompts. */
  run(words: readonly string[], options?: { readonly env?: Readonly<Record<string, string>> }): Promise<RunResult>;
  /** Its screen, in a project that the user trusts. */
  pty(words: readonly string[]): Pty;
}

let kept: { readonly image: string; readonly dir: string; readonly file: string } | undefined;

/** To be called after the last test of a file. */
export function removeHostClaude(): void {
  if (kept !== undefined) rmSync(kept.dir, { recursive: true, force: true });
  kept = undefined;
}

/** Claude Code of an image, as a program of the host: taken out once, as it is large. */
function programOf(image: string): string {
  if (kept?.image === image) return kept.file;
  const dir = mkdtempSync(path.join(tmpdir(), 'claude-of-host-'));
  const file = path.join(dir, 'claude');
  const container = execFileSync('docker', ['create', image], { encoding: 'utf8' }).trim();
  execFileSync('docker', ['cp', `${container}:/opt/claude/package/claude`, file]);
  execFileSync('docker', ['rm', container]);
  kept = { image, dir, file };
  return file;
}

/** Takes Claude Code out of run-claude's image, and has it install the plugin from the repository. */
export async function hostClaude(scene: Scene): Promise<HostClaude> {
  const image = (await scene.run(['build'])).stdout.trim();
  const bin = path.join(scene.root, 'bin');
  mkdirSync(bin);
  writeFileSync(path.join(bin, 'run-claude'), `#!/bin/sh\nexec '${process.execPath}' '${mainJs}' "$@"\n`, {
    mode: 0o755,
  });
  symlinkSync(programOf(image), path.join(bin, 'claude'));
  const own = {
    ...scene.env,
    PATH: `${bin}:${scene.env['PATH']}`,
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    MCP_TIMEOUT: '120000',
  };
  const run: HostClaude['run'] = (words, { env = {} } = {}) =>
    new Promise((resolve) => {
      const child = spawn(path.join(bin, 'claude'), words, {
        cwd: scene.project,
        env: { ...own, ...env },
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      let stdout = '';
      let stderr = '';
      child.stdout.on('data', (piece: Buffer) => {
        stdout += piece.toString('utf8');
      });
      child.stderr.on('data', (piece: Buffer) => {
        stderr += piece.toString('utf8');
      });
      child.once('close', (code) => resolve({ status: code ?? 255, stdout, stderr }));
    });
  const plugin = path.join(packageRoot, 'plugin');
  for (const words of [
    ['validate', plugin],
    ['marketplace', 'add', plugin],
    ['install', 'boxed@run-claude'],
  ]) {
    const { status, stdout, stderr } = await run(['plugin', ...words]);
    if (status !== 0) throw new Error(`claude plugin ${words.join(' ')}: ${stdout}${stderr}`);
  }
  return {
    run,
    pty(words) {
      const file = path.join(scene.home, '.claude.json');
      const known = JSON.parse(readFileSync(file, 'utf8')) as { projects?: object };
      const key = scene.env['ANTHROPIC_API_KEY'] ?? '';
      const answered = {
        hasCompletedOnboarding: true,
        theme: 'dark',
        customApiKeyResponses: { approved: [key.slice(-20)], rejected: [] },
        projects: { ...known.projects, [scene.project]: { hasTrustDialogAccepted: true } },
      };
      writeFileSync(file, JSON.stringify({ ...known, ...answered }));
      return new Pty([path.join(bin, 'claude'), ...words], { cwd: scene.project, env: own, columns: 110, rows: 40 });
    },
  };
}
