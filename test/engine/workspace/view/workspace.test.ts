import { mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openContentStore } from '../../../../src/core/store/content.ts';
import type { StrategyName } from '../../../../src/core/types/strategy.ts';
import { smallContainer } from '../../../support/engine.ts';
import { type Engines, openEngines, type Where } from '../../../support/workspace/engines.ts';
import { expectAllListed } from '../../../support/workspace/random-sessions.ts';
import { boundPaths, summary, type WorkspaceScene, workspaceScene } from '../../../support/workspace-scene.ts';

let engines: Engines;
let scene: WorkspaceScene;
let count = 0;
const newId = (): string => `test-${process.pid}-${++count}`;

beforeAll(async () => {
  engines = await openEngines();
});
afterAll(() => engines.close());
const begin = (where: Where = 'here'): void => {
  scene = workspaceScene(engines.at(where), engines.image);
};
afterEach(() => {
  scene.remove();
  expect(engines.watched.refused).toEqual([]);
});

const put = (name: string, content: string): void => {
  mkdirSync(path.dirname(path.join(scene.project, name)), { recursive: true });
  writeFileSync(path.join(scene.project, name), content);
};

const EACH: readonly (readonly [StrategyName, Where])[] = [
  ['layers', 'here'],
  ['copy', 'here'],
  ['volume', 'here'],
  ['volume', 'tcp'],
];

describe.each(EACH)('a workspace by %s on an engine that is %s', (strategy, where) => {
  beforeEach(() => begin(where));

  it('gives exactly what the session changed, with both sides frozen', async () => {
    for (const name of ['mod', 'same', 'touched', 'gone', 'mode', 'tofile/in', 'd/x', 'd/y/z', 'e/f', 'linked'])
      put(name, `old ${name}`);
    symlinkSync('mod', path.join(scene.project, 'link'));
    put('.gitignore', 'node_modules/\n*.log\n!keep.log\n');
    put('old.log', 'old');
    const id = newId();
    const workspace = await scene.open(id, strategy);
    expect(await scene.inside(id, workspace, 'id -u; ls -A | wc -l; cat mod; touch w && rm w')).toBe(
      '1000\n12\nold mod',
    );
    const script = `
      printf 'new mod' > mod; touch -d @1000000000 touched; rm gone; chmod 755 mode
      t=$(stat -c %y same); printf 'OLD same' > same; touch -d "$t" same
      rm -r tofile; echo f > tofile; rm -r d; mkdir d; echo n > d/n; ln -sf other link; mv e g
      mkdir -p node_modules/p src; ln linked node_modules/.x; echo evil >> node_modules/.x; for i in $(seq 50); do echo $i > node_modules/p/$i; done
      echo l > src/a.log; echo k > src/keep.log; echo changed > old.log; mkfifo pipe; ln mod hard
      printf 'x' > $'odd\\n\\xff,name'; echo 'src/' > .gitignore; mkdir locked; echo s > locked/s; chmod 000 locked`;
    expect(await scene.inside(id, workspace, script)).toBe('');
    // As `diff --follow` sees it: by its own reader.
    const watch = await scene.watch(id, strategy, workspace.record);
    const first = await watch.look(true);
    const again = await watch.look(false);
    await watch.close();
    expect(again).toEqual(first);
    const live = new Map(first.changes.map(({ path: at, kind }) => [at as string, kind]));
    expect(['gone', 'd/y/z', 'src/keep.log', 'old.log', 'src/a.log'].map((at) => live.get(at))).toEqual([
      'deleted',
      'deleted',
      'created',
      'modified',
      undefined,
    ]);
    expect([...live.keys()].filter((at) => at.startsWith('node_modules'))).toEqual([]);
    expect(first.ignored).toEqual([
      { directory: 'node_modules', entries: 53, bytes: 156 },
      { directory: 'src/a.log', entries: 1, bytes: 2 },
    ]);
    const { changes, withheld, problems, baseEntries } = await workspace.collect();
    expect(problems).toEqual([]);
    expect(baseEntries).toBe(17);
    // What the session un-ignores is withheld, and frozen to be offered.
    const unIgnored = changes.filter(({ path: name }) => `${name}/`.startsWith('node_modules/'));
    expect(unIgnored.map(({ ignored }) => ignored)).toEqual(Array.from({ length: 53 }, () => true));
    expect(summary(changes.filter((change) => !unIgnored.includes(change)))).toEqual(
      [
        'modified mod',
        'modified same',
        'modified linked',
        'deleted gone',
        'mode mode',
        'type tofile',
        'deleted tofile/in',
        'created d/n',
        'deleted d/x',
        'deleted d/y',
        'deleted d/y/z',
        'modified link',
        'deleted e',
        'deleted e/f',
        'created g',
        'created g/f',
        'created src',
        'created src/keep.log',
        'modified old.log',
        'created pipe',
        'created hard',
        'created odd\n\udcff,name',
        'modified .gitignore',
        'created locked',
        'created locked/s',
      ].sort(),
    );
    expect(withheld).toEqual([{ directory: 'src/a.log', entries: 1, bytes: 2 }]);
    const by = new Map(changes.map((change) => [change.path as string, change]));
    expect(by.get('old.log')?.ignored).toBe(true);
    expect(by.get('hard')?.after?.linkGroup).toBe(by.get('mod')?.after?.linkGroup);
    const store = openContentStore(path.join(scene.plan(id, strategy).sessionDir, 'store'));
    expect(String(await store.read(by.get('mod')?.before?.digest ?? ''))).toBe('old mod');
    expect(String(await store.read(by.get('mod')?.after?.digest ?? ''))).toBe('new mod');
    expect(String(await store.read(by.get('locked/s')?.after?.digest ?? ''))).toBe('s\n');
    expect(readFileSync(path.join(scene.project, 'mod'), 'utf8')).toBe('old mod');
    expect(boundPaths(id).length === 0).toBe(strategy === 'volume');
    await workspace.close({ keepLayer: true });
    const reopened = await scene.reopen(id, strategy, workspace.record);
    expect(summary((await reopened.collect()).changes)).toEqual(summary(changes));
    await reopened.close({ keepLayer: false });
  });

  it('lists what an independent full comparison finds, for any tree and any session', async () => {
    await expectAllListed(scene, strategy, engines.image, newId(), 100);
  });
});

describe.each(EACH)('the user edits the project during a session, by %s on %s', (strategy, where) => {
  beforeEach(() => begin(where));

  it('the session’s view does not change, and the next session sees the edits', async () => {
    for (const name of ['a', 'b/c', 'd']) put(name, `old ${name}`);
    const id = newId();
    const workspace = await scene.open(id, strategy);
    put('a', 'host edit');
    rmSync(path.join(scene.project, 'b'), { recursive: true });
    put('fresh', 'host');
    const other = newId();
    const second = await scene.open(other, strategy);
    expect(await scene.inside(id, workspace, 'cat a b/c d; ls')).toBe('old aold b/cold da\nb\nd\n');
    expect(await scene.inside(other, second, 'cat a; ls')).toBe('host edita\nd\nfresh\n');
    expect((await workspace.collect()).changes).toEqual([]);
    await workspace.close({ keepLayer: false });
    await second.close({ keepLayer: false });
  });
});

it('an engine treated as remote has no bind mounts', async () => {
  begin();
  const spec = smallContainer(`run-claude-${newId()}`, engines.image, ['true']);
  const bind = { kind: 'bind', source: scene.project, target: '/workspace', readonly: true } as const;
  await expect(engines.at('tcp').create({ ...spec, mounts: [bind] })).rejects.toThrow(/bind of/);
  expect(engines.watched.refused.splice(0)).toEqual([scene.project]);
});

it('an unreferenced generation of the base is removed during the next session', async () => {
  begin();
  put('a', 'old');
  const [one, two, three] = [newId(), newId(), newId()];
  const first = await scene.open(one, 'layers');
  put('a', 'new');
  const second = await scene.open(two, 'layers');
  await first.close({ keepLayer: false });
  await second.close({ keepLayer: false });
  put('a', 'newer');
  const third = await scene.open(three, 'layers');
  const gone = path.join((third.record as { generation: string }).generation, '../../gone');
  expect(readdirSync(gone)).toHaveLength(1);
  await third.wake();
  await expect.poll(() => readdirSync(gone)).toEqual([]);
  await third.close({ keepLayer: false });
});
