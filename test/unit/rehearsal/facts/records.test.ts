import { expect, it } from 'vitest';
import { readRecords } from '../../../../src/rehearsal/facts/records.ts';
import { lines } from './recorded.ts';

const END = { k: 'end', status: 1, ms: 12, tail: 'done\n' };
const ends = (output: string, names = ['a', 'b']) =>
  Object.fromEntries(readRecords(output, names).scenes.map(({ scene, end }) => [scene, end]));

it('reads scenes, their ends, and bytes of names that are not UTF-8', () => {
  const path = Buffer.concat([Buffer.from('/workspace/é'), Buffer.of(0xff)]).toString('latin1');
  const output = lines(
    { k: 'scene', name: 'a' },
    { k: 'read', pid: 2, parent: 1, path, old: 1 },
    END,
    { k: 'scene', name: 'b' },
    { k: 'absent', tool: 'cargo' },
    { k: 'done' },
  );
  expect(readRecords(output, ['a', 'b']).scenes).toEqual([
    {
      scene: 'a',
      rows: [{ kind: 'read', pid: 2, parent: 1, what: '/workspace/é\udcff', isOld: true }],
      end: { kind: 'ended', status: 1, ms: 12, tail: 'done\n' },
    },
    { scene: 'b', rows: [], end: { kind: 'absent', tool: 'cargo' } },
  ]);
});

it('takes records that stop as broken: of the command that ran, and of those after it', () => {
  const broken = { kind: 'broken', why: 'ended early' };
  expect(ends(lines({ k: 'scene', name: 'a' }))).toEqual({ a: broken, b: broken });
  expect(ends(lines({ k: 'scene', name: 'a' }, END))).toMatchObject({ a: { kind: 'ended' }, b: broken });
  expect(ends(`${lines({ k: 'scene', name: 'a' })}{"k":"end","st`)).toEqual({ a: broken, b: broken });
  expect(ends('')).toEqual({ a: broken, b: broken });
});

it('takes a scene without an end, and a line that is not a record, as broken', () => {
  const next = lines({ k: 'scene', name: 'b' }, END, { k: 'done' });
  for (const output of [lines({ k: 'scene', name: 'a' }) + next, `${lines({ k: 'scene', name: 'a' })}lies\n${next}`])
    expect(ends(output)).toMatchObject({ a: { kind: 'broken' }, b: { kind: 'ended' } });
});

it('says that the kernel hands no calls over', () => {
  expect(readRecords(lines({ k: 'scene', name: 'a' }, { k: 'unavailable', why: 'no' }), ['a'])).toEqual({
    scenes: [],
    unavailable: 'no',
  });
});
