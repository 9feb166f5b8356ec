import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { LOOPBACK_REGISTRY } from '../../../support/loopback-registry.ts';
import { Scene } from '../../../support/scene.ts';

const AT = 'http://127.0.0.1:4873';

it('npm and pip install into the home and a virtual environment; exec reports nothing that only Claude needs', async () => {
  await using scene = new Scene();
  mkdirSync(path.join(scene.home, '.claude'));
  writeFileSync(path.join(scene.home, '.claude', 'settings.json'), '{"hooks":{},"permissions":{"defaultMode":"plan"}}');
  const script = `exec 2>&1; mkdir ~/registry; cd ~/registry
${LOOPBACK_REGISTRY}
cd ~
pip install --no-cache-dir --index-url ${AT}/simple lib && lib-pip && python -c 'import lib_seven as l; print(l.__file__)'
python -m venv v && v/bin/pip install --no-cache-dir --index-url ${AT}/simple lib && v/bin/lib-pip
npm install --global --registry ${AT} --no-audit --no-fund lib && lib-npm && command -v lib-npm
kill %1`;
  const { stdout, stderr, status } = await scene.run(['exec', scene.project, '--', 'bash', '-c', script]);
  expect([status, stdout.match(/^7$/gm)], stdout).toEqual([0, ['7', '7', '7']]);
  expect(stdout).toMatch(/^\/home\/agent\/\.local\/lib\/python3\.\d+\/site-packages\/lib_seven\.py$/m);
  expect(stdout).toMatch(/^\/home\/agent\/\.local\/bin\/lib-npm$/m);
  expect(stdout).not.toMatch(/externally.managed|new release of pip/);
  expect(stderr).toContain('No files changed');
  expect(stderr).not.toMatch(/credential|log in|not staged|Claude/);
});
