import { statSync, utimesSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { Scene } from '../scene.ts';

it('the first git status inside reads no file again: the index of the host is believed', async () => {
  await using scene = new Scene();
  const names = Array.from({ length: 14 }, (_, i) => path.join(scene.project, `src/file${i + 1}.txt`));
  // Older than the index, or git would read them in any case.
  for (const name of names) utimesSync(name, 1e9, 1e9);
  scene.git('update-index', '--refresh');
  // Other bytes where size and time are what the index knows: who reads them says so.
  for (const [i, name] of names.entries()) {
    const { size } = statSync(name);
    scene.write(path.relative(scene.project, name), `${i}`.repeat(size).slice(0, size));
    utimesSync(name, 1e9, 1e9);
  }
  const strict = 'git -c core.checkStat=default -c core.trustctime=true status --porcelain | wc -l';
  const script = `git status --porcelain; echo first; ${strict}`;
  const { stdout } = await scene.run(['exec', scene.project, '--', 'sh', '-c', script]);
  expect(stdout).toBe('first\n14\n');
});
