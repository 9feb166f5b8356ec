import { deepStrictEqual } from 'node:assert';
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { expectedHost } from '../../../support/apply/model.ts';
import { type RandomRun, randomRuns, sorted, together } from '../../../support/apply/property-run.ts';
import { type Node, readTimes, readTree, type Tree, writeTree } from '../../../support/apply/tree.ts';
import { Scene } from '../../../support/scene.ts';

const TREES = 10;
const SESSIONS = 5;

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** Where a link of the unit suite's trees leads, as one that the audit lets pass: inside the project, not to itself. */
function inside(tree: Tree): Tree {
  const at = (node: Node): Node =>
    node.kind === 'symlink' ? { ...node, target: `to-${path.basename(node.target)}` } : node;
  return new Map([...tree].map(([name, node]) => [name, at(node)]));
}

/** A shell script that turns one tree into the other, by what a program in the container does. */
function script(base: Tree, session: Tree): string {
  const differs = (name: string): boolean => JSON.stringify(base.get(name)) !== JSON.stringify(session.get(name));
  const paths = [...new Set([...base.keys(), ...session.keys()])].sort().filter(differs);
  const lines = paths.flatMap((name) => {
    const [old, node] = [base.get(name), session.get(name)];
    const gone = old !== undefined && old.kind !== node?.kind ? [`rm -rf ${quoted(name)}`] : [];
    if (node === undefined) return gone;
    if (node.kind === 'dir') return [...gone, `mkdir ${quoted(name)}`];
    if (node.kind === 'symlink') return [...gone, `ln -sfn ${quoted(node.target)} ${quoted(name)}`];
    const write =
      old?.kind === 'file' && old.text === node.text ? [] : [`printf %s ${quoted(node.text)} > ${quoted(name)}`];
    return [...gone, ...write, `chmod ${node.mode.toString(8)} ${quoted(name)}`];
  });
  return ['set -e', 'umask 022', ...lines].join('\n');
}

/** A random part of what differs is left out, with everything below it. */
function chooseSome(runs: readonly RandomRun[], base: Tree, session: Tree) {
  const differing = [...new Set([...base.keys(), ...session.keys()])].filter(
    (name) => JSON.stringify(base.get(name)) !== JSON.stringify(session.get(name)),
  );
  const skipped = differing.filter((name) => runs[Number(/^t([0-9]+)/.exec(name)?.[1])]?.next(5) === 0);
  const isSkipped = (name: string): boolean => skipped.some((one) => name === one || name.startsWith(`${one}/`));
  return { differing, skipped, isSkipped };
}

it('50 random trees: session and user edit, some changes are chosen; the host matches the model, and undo restores it', async () => {
  await using scene = new Scene();
  let applied = 0;
  for (let at = 0; at < SESSIONS; at++) {
    const runs = randomRuns(50_000 + at * TREES, TREES).map((run) => ({
      ...run,
      base: inside(run.base),
      session: inside(run.session),
      host: inside(run.host),
    }));
    const [base, session, host] = (['base', 'session', 'host'] as const).map((side) =>
      together(runs.map((run) => run[side])),
    ) as [Tree, Tree, Tree];
    const project = path.join(scene.root, `random${at}`);
    mkdirSync(project);
    writeTree(project, base);
    const words = ['exec', '--allow-suspect', '**', project, '--', 'sh', '-c', script(base, session)];
    const ended = await scene.run(words);
    expect([ended.status, ended.stderr], `session ${at}`).toEqual([120, expect.any(String)]);
    const [{ id }] = JSON.parse((await scene.run(['sessions', '--json'])).stdout);

    for (const name of readdirSync(project)) rmSync(path.join(project, name), { recursive: true });
    writeTree(project, host);
    const times = readTimes(project, host);
    const { differing, skipped, isSkipped } = chooseSome(runs, base, session);
    const apply = ['apply', id, '--yes', '--json', ...skipped.flatMap((name) => ['--skip', `/${name}`])];
    const outcome = await scene.run(apply);
    const changes = JSON.parse(outcome.stdout).changes as { path: string; verdict: string; why?: string }[];
    applied += changes.filter(({ verdict }) => verdict === 'applied').length;
    // What is one change with something that was left is left too; the rest of that is nothing-lost.test.ts.
    const isLeft = ({ verdict, why = '' }: (typeof changes)[number]): boolean =>
      verdict === 'skipped' || why.startsWith('it is one change with');
    const left = new Set(changes.filter(isLeft).map(({ path: name }) => name));
    const chosen = differing.filter((name) => !left.has(name));
    expect(chosen.filter(isSkipped)).toEqual([]);
    const where = `seeds from ${50_000 + at * TREES}: ${outcome.stderr}`;
    const own = (tree: number): ReadonlySet<string> =>
      new Set(chosen.flatMap((name) => (name.startsWith(`t${tree}/`) ? [name.slice(`t${tree}/`.length)] : [])));
    const model = runs.map((run, tree) => expectedHost(run.base, run.session, run.host, own(tree)));
    expect([0, 122], where).toContain(outcome.status);
    deepStrictEqual(sorted(readTree(project)), sorted(together(model)), where);
    const undone = await scene.run(['undo', id, '--yes']);
    expect([undone.status, undone.stderr], where).toEqual([0, expect.any(String)]);
    deepStrictEqual(sorted(readTree(project)), sorted(host), where);
    deepStrictEqual(readTimes(project, host), times, where);
  }
  expect(applied).toBeGreaterThan(50);
});
