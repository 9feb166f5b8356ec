import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { watchSessions } from '../../../../src/cli/top/watch-sessions.ts';
import { recordSessions } from '../../../support/session-fixture.ts';

const ids = ['261129-100003-bcd', '261129-100002-bcd', '261129-100001-bcd'];

it.each<readonly [what: string, damage: (dir: string) => void]>([
  ['a manifest without JSON', (dir) => writeFileSync(path.join(dir, 'manifest'), '{"version":')],
  ['a link in place of its events', (dir) => symlinkSync('/etc/passwd', path.join(dir, 'events.jsonl'))],
  ['a folder in place of its requests', (dir) => mkdirSync(path.join(dir, 'network.jsonl'))],
])('shows a session with %s as damaged, in its place, and the others', async (_what, damage) => {
  const state = recordSessions(
    ids.map((id, at) => ({ id, stage: 'pending', started: `2026-11-29T10:00:0${3 - at}.000Z`, files: { a: 'clean' } })),
  );
  damage(path.join(state, 'sessions', ids[1] ?? ''));
  const watch = watchSessions(state, () => true);
  for (let reads = 0; reads < 2; reads++) {
    watch.read();
    const rows = await Promise.all(watch.records.map((record) => watch.row(record, Date.now())));
    expect(rows.map((row) => [row.id, row.state])).toEqual([
      [ids[0], 'pending'],
      [ids[1], 'damaged'],
      [ids[2], 'pending'],
    ]);
  }
});
