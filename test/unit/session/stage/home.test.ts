import { expect, it } from 'vitest';
import type { Plan } from '../../../../src/core/types/plan.ts';
import { plannedHomeMount } from '../../../../src/session/stage/home/home.ts';

it('--dry-run names the session’s home: below --tmpdir, or in a volume where the engine remaps owners', () => {
  const engine = { local: true, rootless: false, usernsRemap: false };
  const user = `${process.getuid?.()}:${process.getgid?.()}`;
  const mount = (other: object): unknown =>
    plannedHomeMount({ sessionId: 's', sessionDir: '/state/s', user, policy: {}, engine, ...other } as unknown as Plan);
  const inside = { target: '/home/agent', readonly: false };
  expect(mount({})).toEqual({ kind: 'bind', source: '/state/s/home', ...inside });
  expect(mount({ policy: { tmpdir: '/big' } })).toEqual({
    kind: 'bind',
    source: '/big/run-claude-s/home',
    ...inside,
  });
  for (const odd of [{ local: false }, { rootless: true }, { usernsRemap: true }])
    expect(mount({ engine: { ...engine, ...odd } })).toEqual({
      kind: 'volume',
      volume: 'run-claude-s-home',
      ...inside,
    });
});
