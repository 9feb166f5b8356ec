import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { COMMIT, type GateCase, PRELUDE, PROJECT, readGateCases, readKnownGaps } from '../support/gate/cases.ts';
import { type ListedTree, listTree } from '../support/gate/listed-tree.ts';
import { Scene } from '../support/scene.ts';

/** What a report says that counts here. */
interface Report {
  readonly session: { readonly agentStatus: number };
  readonly findings: readonly { readonly severity: string; readonly path: string; readonly rule: string }[];
  readonly changes: readonly { readonly path: string; readonly state: string }[];
  readonly withheld: readonly { readonly directory: string }[];
}

const gaps = readKnownGaps();
// GATE_CASES=A-00 tries the cases whose ids begin so.
const wanted = new RegExp(`^(?:${process.env['GATE_CASES'] ?? ''})`);
const AT_ONCE = 2;

/** One script as a session with --auto-apply, in its own project. */
async function runCase(scene: Scene, one: GateCase, script: string) {
  const project = path.join(scene.root, one.id);
  const report = path.join(scene.root, `${one.id}.json`);
  mkdirSync(project);
  const bash = (text: string): void => {
    const env = { ...scene.env, OUT: scene.home };
    execFileSync('bash', ['-c', PRELUDE + text], { cwd: project, env, stdio: 'pipe' });
  };
  bash(PROJECT);
  bash(`${one.project ?? ''}\n${COMMIT}`);
  const before = listTree(project);
  const options = one.includeIgnored === true ? ['--include-ignored'] : [];
  const { status, stderr } = await scene.run([
    ...['--copy-workspace', '--auto-apply', '--report', report, ...options, '--shell', project],
    ...['--', '-c', `OUT=/tmp\n${PRELUDE}${script}`],
  ]);
  const after = listTree(project);
  rmSync(project, { recursive: true, force: true });
  return { status, stderr, before, after, report: JSON.parse(readFileSync(report, 'utf8')) as Report };
}

/** Paths that are not as they were; git's index changes when git status reads it. */
function changedPaths(before: ListedTree, after: ListedTree): string[] {
  return [...new Set([...before.keys(), ...after.keys()])].filter((one) => {
    const [a, b] = [before.get(one), after.get(one)];
    if (one === '.git/index' || (a?.entry.kind === 'dir' && b?.entry.kind === 'dir')) return false;
    const same =
      a?.entry.kind === b?.entry.kind && a?.entry.mode === b?.entry.mode && a?.entry.target === b?.entry.target;
    return !same || (a?.bytes !== undefined && b?.bytes?.equals(a.bytes) !== true);
  });
}

const isBelow = (path: string, folder: string): boolean => path === folder || path.startsWith(`${folder}/`);

async function attackMisses(scene: Scene, one: GateCase): Promise<string[]> {
  const { status, stderr, before, after, report } = await runCase(scene, one, one.session ?? '');
  if (report.session.agentStatus !== 0)
    return [`the script ended with ${report.session.agentStatus}: ${stderr.slice(-300)}`];
  const serious = report.findings.filter(({ severity }) => severity !== 'note');
  const moved = changedPaths(before, after);
  const all = report.changes
    .map((change) => change.path)
    .filter((at, _, list) => !list.some((other) => other.startsWith(`${at}/`)));
  const targets = one.held ?? all;
  const output = [
    ...report.withheld.map(({ directory }) => directory),
    ...report.changes.filter(({ state }) => state === 'withheld').map((change) => change.path),
  ];
  const misses = moved.filter((at) => isBelow(at, '.git')).map((at) => `${at}: reached`);
  for (const target of targets) {
    const isGit = target.split('/').includes('.git');
    const isOutput = output.some((at) => isBelow(target, at));
    if (moved.some((at) => isBelow(at, target))) misses.push(`${target}: reached`);
    else if (isOutput) continue;
    else if (!serious.some((found) => isBelow(found.path, target) || isBelow(target, found.path)))
      misses.push(`${target}: no finding`);
    else if (!isGit && status !== 121 && status !== 122) misses.push(`${target}: exit status ${status}`);
  }
  return misses;
}

async function ordinaryAlarms(scene: Scene, one: GateCase): Promise<string[]> {
  const { status, report } = await runCase(scene, one, one.ordinary ?? '');
  const serious = report.findings.filter(({ severity }) => severity !== 'note');
  return [...serious.map(({ rule, path: at }) => `${rule} ${at}`), ...(status === 0 ? [] : [`exit status ${status}`])];
}

describe.each([...readGateCases()])('%s in sessions', (_, cases) => {
  it.each([
    ['holds back every attack', 'session', attackMisses, gaps.attacks],
    ['applies the ordinary work next to it', 'ordinary', ordinaryAlarms, gaps.ordinary],
  ] as const)('%s', async (_title, script, wrong, known) => {
    await using scene = new Scene();
    const todo = cases.filter((one) => one[script] !== undefined && !(one.id in known) && wanted.test(one.id));
    const lines: string[] = [];
    const next = async (): Promise<void> => {
      for (let one = todo.shift(); one !== undefined; one = todo.shift()) {
        const { id } = one;
        for (const each of await wrong(scene, one)) lines.push(`${id} ${each}`);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, next));
    expect(lines.sort()).toEqual([]);
  });
});
