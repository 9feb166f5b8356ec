import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { Scene } from '../../../support/scene.ts';
import { linesOnScreen } from '../../../support/shown.ts';
import { startMessagesApi } from '../../../support/stand-in/messages-api.mjs';

const EDIT = { file_path: '/workspace/src/file1.txt', old_string: 'second line', new_string: 'QZQZQZ line' };
const SIZE = { columns: 80, rows: 60 };
const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 4000));

it('in bind mode Claude asks before each edit, offers no other mode, and reports its installation as valid', async () => {
  const standIn = await startMessagesApi({
    turns: [
      { text: 'reading', tools: [{ name: 'Read', input: { file_path: EDIT.file_path } }] },
      { text: 'editing', tools: [{ name: 'Edit', input: EDIT }] },
      { text: 'WVWVWV' },
    ],
  });
  await using scene = new Scene({ apiUrl: standIn.url, apiKey: 'sk-ant-REAL-CREDENTIAL-9c1f7a' });
  const file = path.join(scene.project, 'src/file1.txt');
  await using pty = scene.pty(['--bind', '--yes', scene.project], SIZE);
  const shown = (): Promise<string> => linesOnScreen(pty, SIZE.columns, SIZE.rows);
  try {
    await expect.poll(shown).toMatch(/manual mode on/);
    // Claude offers its auto mode a moment later, with yes as the answer to Enter.
    await pause();
    expect(await shown()).not.toMatch(/auto mode/i);
    await pty.enter('/status');
    await expect.poll(shown).toMatch(/Version: +\d+\.\d+\.\d+[\s\S]*Model:[\s\S]*Esc to close/);
    // It names what it finds wrong a moment later.
    await pause();
    expect(await shown()).not.toMatch(/⚠|diagnostics|installation|missing|broken/i);
    await pty.type('\u001b');
    await pty.enter('change');
    await expect.poll(shown).toMatch(/Do you want to make this edit[\s\S]*1\. Yes/);
    expect(readFileSync(file, 'utf8')).toContain('second line');
    await pty.press('\r', /WVWVWV/);
    expect(readFileSync(file, 'utf8')).toContain('QZQZQZ line');
    await pty.enter('/exit');
    expect(await pty.exited).toBe(0);
    const doctor = await scene.run(['exec', scene.project, '--', 'claude', 'doctor']);
    expect(doctor.stdout).toContain('No installation issues found.');
  } finally {
    await standIn.close();
  }
});
