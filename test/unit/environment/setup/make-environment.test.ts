import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { addressEnvironment } from '../../../../src/environment/setup/make-environment.ts';
import { startSelection } from '../../../../src/workspace/base/prescan-project.ts';
import { planWith } from '../../../support/session-record.ts';

it('refuses a file that ignore rules keep from the agent, before anything is asked or run', () => {
  const root = realpathSync(mkdtempSync(path.join(tmpdir(), 'run-claude-make-')));
  onTestFinished(() => rmSync(root, { recursive: true }));
  writeFileSync(path.join(root, '.gitignore'), 'secret.txt\n');
  writeFileSync(path.join(root, 'secret.txt'), 'SECRET');
  const plan = planWith({
    project: { root },
    policy: {
      copyIgnored: false,
      environment: { packages: [], setup: 'cat secret.txt', env: {}, files: ['secret.txt'] },
    },
  });
  const options = {
    cacheDir: path.join(root, 'cache'),
    selection: startSelection(plan.policy, root),
  };
  expect(() => addressEnvironment(plan, options)).toThrow('secret.txt is excluded or masked');
});
