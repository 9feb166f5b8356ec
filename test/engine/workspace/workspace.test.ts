import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openContentStore } from '../../../src/store/content.ts';
import type { Engine } from '../../../src/types/engine.ts';
import type { StrategyName } from '../../../src/types/policy.ts';
import { connectForTest } from '../../engine.ts';
import { testImage } from '../../image.ts';
import { openSshFront } from '../../ssh-front.ts';
import { openTlsFront } from '../../tls-front.ts';
import { treeFacts } from '../../tree-facts.ts';
import { boundPaths, summary, takeOut, type WorkspaceScene, workspaceScene } from '../../workspace-scene.ts';

const thorough = process.env['RUN_CLAUDE_THOROUGH'] === '1';

/** Where the engine is: on this machine's socket, or as far as can be told on another machine. */
type Where = 'here' | 'tcp' | 'ssh';

const engines = new Map<Where, Engine>();
const fronts: { close(): void | Promise<void> }[] = [];
const path0 = process.env['PATH'];
let dir: string;
let image: string;
let scene: WorkspaceScene;
let count = 0;
const newId = (): string => `test-${process.pid}-${++count}`;

beforeAll(async () => {
  dir = mkdtempSync(path.join(tmpdir(), 'rc-fronts-'));
  const here = await connectForTest();
  image = await testImage(here);
  const tls = await openTlsFront(path.join(dir, 'tls'));
  const ssh = await openSshFront(path.join(dir, 'ssh'));
  fronts.push(tls, ssh);
  process.env['PATH'] = ssh.path;
  const certificates = { DOCKER_TLS_VERIFY: '1', DOCKER_CERT_PATH: tls.certPath };
  engines.set('here', here);
  engines.set('tcp', await connectForTest(undefined, { DOCKER_HOST: tls.host, ...certificates }));
  engines.set('ssh', await connectForTest(undefined, { DOCKER_HOST: ssh.host }));
});
afterAll(async () => {
  for (const engine of engines.values()) await engine.close();
  for (const front of fronts) await front.close();
  process.env['PATH'] = path0;
  rmSync(dir, { recursive: true });
});
const begin = (where: Where = 'here'): void => {
  scene = workspaceScene(engines.get(where) as Engine, image);
};
afterEach(() => scene.remove());

const put = (name: string, content: string): void => {
  mkdirSync(path.dirname(path.join(scene.project, name)), { recursive: true });
  writeFileSync(path.join(scene.project, name), content);
};

/** Straight over the project its owner must be the agent, as it is where a person is not root. */
const ownFor = (strategy: StrategyName): void => {
  if (strategy === 'overlay') execFileSync('chown', ['-R', '1000:1000', scene.project]);
};

const EACH: readonly (readonly [StrategyName, Where])[] = [
  ['layers', 'here'],
  ['copy', 'here'],
  ['overlay', 'here'],
  ['volume', 'here'],
  ['volume', 'tcp'],
  // Each request logs in anew: in the long run only.
  ...(thorough ? ([['volume', 'ssh']] as const) : []),
];

describe.each(EACH)('a workspace by %s on an engine that is %s', (strategy, where) => {
  beforeEach(() => begin(where));

  it('gives exactly what the session changed, with both sides frozen', async () => {
    for (const name of ['mod', 'same', 'touched', 'gone', 'mode', 'tofile/in', 'd/x', 'd/y/z', 'e/f'])
      put(name, `old ${name}`);
    symlinkSync('mod', path.join(scene.project, 'link'));
    put('.gitignore', 'node_modules/\n*.log\n!keep.log\n');
    put('old.log', 'old');
    ownFor(strategy);
    const id = newId();
    const workspace = await scene.open(id, strategy);
    expect(await scene.inside(id, workspace, 'id -u; ls -A | wc -l; cat mod; touch w && rm w')).toBe(
      '1000\n11\nold mod',
    );
    const script = `
      printf 'new mod' > mod; touch -d @1000000000 touched; rm gone; chmod 755 mode
      t=$(stat -c %y same); printf 'OLD same' > same; touch -d "$t" same
      rm -r tofile; echo f > tofile; rm -r d; mkdir d; echo n > d/n; ln -sf other link; mv e g
      mkdir -p node_modules/p src; for i in $(seq 50); do echo $i > node_modules/p/$i; done
      echo l > src/a.log; echo k > src/keep.log; echo changed > old.log; mkfifo pipe; ln mod hard
      printf 'x' > $'odd\\n\\xff,name'; echo 'src/' > .gitignore; mkdir locked; echo s > locked/s; chmod 000 locked`;
    expect(await scene.inside(id, workspace, script)).toBe('');
    // As `diff --follow` sees it: by a reader of its own.
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
      { directory: 'node_modules', entries: 52, bytes: 141 },
      { directory: 'src/a.log', entries: 1, bytes: 2 },
    ]);
    const { changes, withheld, problems, baseEntries } = await workspace.collect();
    expect(problems).toEqual([]);
    expect(baseEntries).toBe(16);
    expect(summary(changes)).toEqual(
      [
        'modified mod',
        'modified same',
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
    expect(withheld).toEqual([
      { directory: 'node_modules', entries: 52, bytes: 141 },
      { directory: 'src/a.log', entries: 1, bytes: 2 },
    ]);
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
    const cases = fc.sample(
      fc.record({ tree: fc.array(made, { maxLength: 14 }), edits: fc.array(made, { minLength: 1, maxLength: 14 }) }),
      {
        numRuns: thorough ? 500 : 60,
        seed: 20_261,
      },
    );
    const build = cases.map(
      ({ tree }, i) => `mkdir -p t${i}; cd t${i}; ${[':', ...tree.map(command)].join('; ')}; cd ..`,
    );
    execFileSync('bash', ['-s'], {
      cwd: scene.project,
      input: `${build.join('\n')}\ntrue`,
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    ownFor(strategy);
    const id = newId();
    const workspace = await scene.open(id, strategy);
    const edits = cases.map(
      ({ edits: list }, i) => `cd t${i}; (${list.map(command).join('; ')}) >/dev/null 2>&1; cd ..`,
    );
    expect(await scene.inside(id, workspace, edits.join('\n'))).toBe('');
    const { changes, problems } = await workspace.collect();
    const merged = path.join(scene.dir, 'merged');
    takeOut(image, workspace, merged);
    expect(summary(changes)).toEqual(compareFully(scene.project, merged));
    expect(changes.length).toBeGreaterThan(100);
    expect(problems).toEqual([]);
    await workspace.close({ keepLayer: false });
  });
});

describe.each(EACH.filter(([strategy]) => strategy !== 'overlay'))(
  'the person edits meanwhile, by %s on %s',
  (strategy, where) => {
    beforeEach(() => begin(where));

    it('what the session sees does not move, and the next session sees the edits', async () => {
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
  },
);

type Made = { readonly what: number; readonly a: string; readonly b: string };
const names = fc.constantFrom('a', 'b', 'c', 'd', 'd/a', 'd/b', 'd/e', 'd/e/a', 'f', 'f/a', 'f/b');
const made: fc.Arbitrary<Made> = fc.record({ what: fc.integer({ min: 0, max: 12 }), a: names, b: names });

/** Bash for one step; what the file system refuses is no step. */
function command({ what, a, b }: Made): string {
  return [
    `mkdir -p ${a}`,
    `printf '%s' ${a}${b} > ${a}`,
    `printf '%s' ${b} >> ${a}`,
    `rm -rf ${a}`,
    `mv -T ${a} ${b}`,
    `rm -rf ${a} && mkdir ${a}`,
    `ln -T ${a} ${b}`,
    `ln -sfT ${b} ${a}`,
    `chmod ${b.length % 2 === 0 ? 750 : 700} ${a}`,
    `touch ${a}`,
    `rm -rf ${a} && ln -s x ${a}`,
    `cp -a ${a} ${a}.n && mv -fT ${a}.n ${a}`,
    `mkdir -p ${a} && printf x > ${a}/${b.replaceAll('/', '')}`,
  ][what] as string;
}

/** Both trees in full, by content, kind, mode and target. */
function compareFully(before: string, after: string): string[] {
  const plain = (root: string) =>
    new Map([...treeFacts(root)].map(([name, facts]) => [name, facts.split(' ')] as const));
  const [was, is] = [plain(before), plain(after)];
  was.delete('.');
  is.delete('.');
  const found: string[] = [];
  for (const [name, facts] of is) {
    const old = was.get(name);
    const kind = (mode: string | undefined) => mode?.slice(0, -4);
    if (old === undefined) found.push(`created ${name}`);
    else if (kind(old[0]) !== kind(facts[0])) found.push(`type ${name}`);
    else if (old[3] !== facts[3]) found.push(`modified ${name}`);
    else if (old[0] !== facts[0]) found.push(`mode ${name}`);
  }
  for (const name of was.keys()) if (!is.has(name)) found.push(`deleted ${name}`);
  return found.sort();
}
