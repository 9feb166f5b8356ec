import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, it } from 'vitest';
import type { CommandContext } from '../../../../src/cli/context/context.ts';
import { recoverWithoutQuestion } from '../../../../src/cli/sessions/recover-without-question.ts';
import { agentFolders } from '../../../../src/core/host/programs/start-program.ts';
import type { SessionRecord } from '../../../../src/core/types/session.ts';

const root = realpathSync(mkdtempSync(path.join(tmpdir(), 'run-claude-recover-')));
afterAll(() => rmSync(root, { recursive: true }));

it('starts no program from the folders of a session that is reviewed from elsewhere', async () => {
  const [project, also] = ['project', 'also'].map((name) => path.join(root, name)) as [string, string];
  for (const dir of [project, also]) mkdirSync(path.join(dir, 'bin'), { recursive: true });
  const plan = { project: { root: project }, also: [{ project: { root: also } }] };
  const record = { stage: 'pending', plan } as unknown as SessionRecord;
  expect(agentFolders.resolve(project)).toBe(project);
  expect(await recoverWithoutQuestion(record, {} as CommandContext)).toBe(record);
  for (const dir of [project, also]) expect(agentFolders.resolve(path.join(dir, 'bin'))).toBe('inside');
});
