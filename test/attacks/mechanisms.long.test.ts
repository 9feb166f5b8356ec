import { readFileSync } from 'node:fs';
import { beforeAll, expect, it } from 'vitest';
import { inside } from '../engine/hardening/inside.ts';
import { connectForTest } from '../support/engine.ts';
import { testImage } from '../support/image.ts';
import { MECHANISMS } from './mechanisms/all.ts';
import { MARK } from './mechanisms/mechanism.ts';
import { mechanismsImage, NPM_TOOLS } from './mechanisms/tools.ts';

interface Ran {
  readonly name: string;
  readonly before: boolean;
  readonly after: boolean;
  readonly said: string;
}

const ran = new Map<string, Ran>();
const program = readFileSync(new URL('./mechanisms/run-mechanisms.mjs', import.meta.url), 'utf8');

beforeAll(async () => {
  const engine = await connectForTest();
  try {
    const image = mechanismsImage(await testImage(engine));
    // The longest argument that the kernel takes is 128 KB.
    const script = `cat >/tmp/mechanisms.json <<'END-OF-MECHANISMS'
${JSON.stringify(MECHANISMS)}
END-OF-MECHANISMS
cat >/tmp/run.mjs <<'END-OF-PROGRAM'
${program}
END-OF-PROGRAM
node /tmp/run.mjs /tmp/mechanisms.json ${MARK} ${NPM_TOOLS}`;
    const { said } = await inside(engine, image, script);
    for (const line of said.split('\n').filter((one) => one.startsWith('{"name":'))) {
      const one = JSON.parse(line) as Ran;
      ran.set(one.name, one);
    }
  } finally {
    await engine.close();
  }
});

// test/unit/audit/mechanisms.test.ts has the rule that reports each of them.
it.each(MECHANISMS)('runs without the gate: $name', ({ name }) => {
  const { before, after, said } = ran.get(name) ?? { before: undefined, after: undefined, said: 'it was not run' };
  expect({ before, after }, said).toEqual({ before: false, after: true });
});
