import { spawn } from 'node:child_process';
import { type Dirent, existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { globMatcher } from '../../../core/text/patterns/glob.ts';
import { type GlobRequest, type GrepRequest, MAX_RESULT_BYTES, type TextResult } from '../requests.ts';

// This runs inside the session's container, as the agent's user: the paths are the container's.

const RIPGREP = '/usr/bin/rg';
/** More than a project has that can be searched in a moment. */
const MAX_ENTRIES = 200_000;
const MAX_FILES = 1000;
const SEARCH_MS = 60_000;
/** Directories that no pattern finds, unless it names them as its place. */
const SKIPPED: ReadonlySet<string> = new Set(['.git', 'node_modules']);

/** The files below a directory that match a glob, in the order of their names. */
export async function findFiles({ pattern, path: below = '.' }: GlobRequest): Promise<TextResult> {
  const matches = globMatcher(pattern);
  const endMs = performance.now() + SEARCH_MS;
  const found: string[] = [];
  let entries = 0;
  let isCut = false;
  const walk = async (dir: string): Promise<void> => {
    const listed = await readdir(path.join(below, dir), { withFileTypes: true }).catch((error: unknown) => {
      if (dir === '') throw error;
      return [] as Dirent[];
    });
    listed.sort((a, b) => (a.name < b.name ? -1 : 1));
    for (const entry of listed) {
      entries += 1;
      if (entries > MAX_ENTRIES || found.length >= MAX_FILES || performance.now() > endMs) isCut = true;
      if (isCut) return;
      const name = dir === '' ? entry.name : `${dir}/${entry.name}`;
      if (entry.isDirectory()) {
        if (!SKIPPED.has(entry.name)) await walk(name);
      } else if (matches(name)) found.push(name);
    }
  };
  await walk('');
  return { text: found.join('\n'), isCut };
}

/** Lines that match a regular expression, with their files and numbers, by ripgrep or by grep. */
export function searchText(request: GrepRequest): Promise<TextResult> {
  const [program, args] = existsSync(RIPGREP) ? [RIPGREP, ripgrepWords(request)] : ['grep', grepWords(request)];
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'], timeout: SEARCH_MS });
    const pieces: Buffer[] = [];
    let size = 0;
    let problem = '';
    child.stdout.on('data', (bytes: Buffer) => {
      if (size <= MAX_RESULT_BYTES) pieces.push(bytes);
      size += bytes.length;
      if (size > MAX_RESULT_BYTES) child.kill('SIGKILL');
    });
    child.stderr.on('data', (bytes: Buffer) => {
      problem = `${problem}${bytes.toString('utf8')}`.slice(0, 2000);
    });
    child.on('error', reject);
    child.on('close', (status) => {
      // 1: nothing was found.
      if (status !== null && status > 1 && size === 0) {
        reject(new Error(problem.trim() || `the search ended with status ${status}`));
        return;
      }
      const text = Buffer.concat(pieces).subarray(0, MAX_RESULT_BYTES).toString('utf8');
      resolve({ text: text.replace(/\n$/, ''), isCut: size > MAX_RESULT_BYTES || status === null });
    });
  });
}

function ripgrepWords({ pattern, path: below = '.', glob, ignoreCase, filesOnly }: GrepRequest): string[] {
  return [
    '--no-config',
    '--hidden',
    '--glob=!.git',
    '--sort=path',
    ...(filesOnly === true ? ['--files-with-matches'] : ['--line-number', '--no-heading', '--with-filename']),
    ...(ignoreCase === true ? ['--ignore-case'] : []),
    ...(glob === undefined ? [] : [`--glob=${glob}`]),
    '--regexp',
    pattern,
    '--',
    below,
  ];
}

function grepWords({ pattern, path: below = '.', glob, ignoreCase, filesOnly }: GrepRequest): string[] {
  return [
    '-rEI',
    '--exclude-dir=.git',
    filesOnly === true ? '-l' : '-nH',
    ...(ignoreCase === true ? ['-i'] : []),
    ...(glob === undefined ? [] : [`--include=${glob}`]),
    '-e',
    pattern,
    '--',
    below,
  ];
}
