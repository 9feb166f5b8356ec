import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { Scene } from '../../../support/scene.ts';
import { JAVASCRIPT } from './javascript.ts';
import { MAKE, PYTHON } from './others.ts';
import { markOf, type Planted } from './planted.ts';

const COMMON: Readonly<Record<string, string>> = {
  'package.json': '{ "name": "p", "version": "1.0.0", "scripts": { "test": "node --test test/*.test.js" } }\n',
  'requirements.txt': '',
  Makefile: 'all::\ninclude $(wildcard mk/*.mk)\n',
};
/** What the user does afterwards, on a copy that nothing protects. */
const UNPROTECTED = 'npm test; python3 -m unittest discover; make; ls /tmp';
const APPEND = `const fs = require("fs"); for (const [file, text] of Object.entries(JSON.parse(process.argv[1]))) { fs.mkdirSync(require("path").dirname(file), { recursive: true }); fs.appendFileSync(file, text); }`;

const findings = z.array(
  z.object({ rule: z.string(), path: z.string(), severity: z.string(), detail: z.string().optional() }),
);
const reportOf = z.object({ session: z.object({ id: z.string() }), findings });
const rehearsed = z.object({ findings, ran: z.array(z.string()) });

interface Verdict {
  readonly name: string;
  readonly isRun: boolean;
  /** Suspect or blocked before anything was rehearsed. */
  readonly byText: boolean;
  readonly byRehearsal: boolean;
  /** The finding is that of a file that the attack changed. */
  readonly isNamed: boolean;
}

async function verdictsOn(attacks: readonly Planted[]): Promise<readonly Verdict[]> {
  await using scene = new Scene();
  for (const [name, text] of Object.entries({ ...COMMON, ...merged(attacks, 'base') })) {
    mkdirSync(path.dirname(path.join(scene.project, name)), { recursive: true });
    writeFileSync(path.join(scene.project, name), text);
  }
  scene.git('add', '-A');
  scene.git('commit', '-qm', 'project');
  const change = JSON.stringify(merged(attacks, 'change'));
  const file = path.join(scene.root, 'report.json');
  await scene.run(['exec', '--report', file, scene.project, '--', 'node', '-e', APPEND, change]);
  const report = reportOf.parse(JSON.parse(readFileSync(file, 'utf8')));
  const found = await scene.run(['rehearse', '--json', '--rehearse-time', '400']);
  const tried = rehearsed.parse(JSON.parse(found.stdout));
  const image = imageOf(scene, report.session.id);
  const script = `cp -r /project /tmp/copy && cd /tmp/copy && node -e '${APPEND}' "$CHANGE"; ${UNPROTECTED}`;
  const words = ['run', '--rm', '--network=none', '--entrypoint=sh', '-e', `CHANGE=${change}`, '-e', 'HOME=/tmp'];
  const ran = execFileSync('docker', [...words, '-v', `${scene.project}:/project:ro`, image, '-c', script], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  return attacks.map(({ name, act, change: files }) => {
    const own = (one: { path: string }): boolean => one.path in files;
    const acts = tried.findings.filter(({ detail }) => detail?.includes(act) === true);
    return {
      name,
      isRun: ran.split('\n').includes(path.basename(markOf(name))),
      byText: report.findings.some((one) => own(one) && one.severity !== 'note'),
      byRehearsal: acts.length > 0,
      isNamed: acts.some(own),
    };
  });
}

function merged(attacks: readonly Planted[], part: 'base' | 'change'): Readonly<Record<string, string>> {
  return Object.assign({}, ...attacks.map((one) => one[part]));
}

function imageOf(scene: Scene, id: string): string {
  const record: unknown = JSON.parse(
    readFileSync(path.join(scene.places().stateDir, 'sessions', id, 'session.json'), 'utf8'),
  );
  return z.object({ plan: z.object({ image: z.string() }) }).parse(record).plan.image;
}

const count = (all: readonly Verdict[], is: (one: Verdict) => boolean): number => all.filter(is).length;

it('finds attacks that run on an unprotected copy, and names their files', async () => {
  const verdicts: Verdict[] = [];
  const half = Math.ceil(JAVASCRIPT.length / 2);
  for (const batch of [JAVASCRIPT.slice(0, half), JAVASCRIPT.slice(half), PYTHON, MAKE])
    verdicts.push(...(await verdictsOn(batch)));
  const missed = verdicts.filter(({ byText }) => !byText);
  const line = {
    attacks: verdicts.length,
    'text only': count(verdicts, ({ byText, byRehearsal }) => byText && !byRehearsal),
    'rehearsal only': count(verdicts, ({ byText, byRehearsal }) => !byText && byRehearsal),
    both: count(verdicts, ({ byText, byRehearsal }) => byText && byRehearsal),
    neither: count(verdicts, ({ byText, byRehearsal }) => !byText && !byRehearsal),
    named: count(verdicts, ({ isNamed }) => isNamed),
    'not named': verdicts.filter(({ isNamed }) => !isNamed).map(({ name }) => name),
  };
  console.log(JSON.stringify(line, undefined, 2));
  expect(verdicts.length).toBeGreaterThanOrEqual(60);
  expect(verdicts.filter(({ isRun }) => !isRun)).toEqual([]);
  expect(count(missed, ({ byRehearsal }) => byRehearsal) / missed.length).toBeGreaterThanOrEqual(0.9);
  expect(line.named / verdicts.length).toBeGreaterThanOrEqual(0.9);
});
