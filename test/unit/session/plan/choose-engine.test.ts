import { expect, it } from 'vitest';
import {
  chooseEngine,
  type EngineOffer,
  engineNames,
  noEngineLeft,
} from '../../../../src/session/plan/choose-engine.ts';

const offer = (name: string, more: Partial<EngineOffer> = {}): EngineOffer => ({
  name,
  facts: { kind: 'docker', memoryMb: 16_384 },
  freeDiskMb: 50_000,
  sessions: 0,
  sessionsMemoryMb: 0,
  ...more,
});
const needs = { memoryMb: 4096, engine: 'auto' } as const;

it('takes the engine with the fewest sessions, of equal ones the first', () => {
  const offers = [offer('a', { sessions: 2 }), offer('b', { sessions: 1 }), offer('c', { sessions: 1 })];
  expect(chooseEngine(offers, needs)).toEqual({ chosen: offers[1], passedOver: [] });
});

it.each<[string, Partial<EngineOffer>, object, string]>([
  ['a full disk', { freeDiskMb: 2047 }, {}, 'its disk is full: 2047m are free'],
  [
    'little memory',
    { facts: { kind: 'docker', memoryMb: 4000 } },
    {},
    'it has 4000m of memory, and this session may take 4g',
  ],
  [
    'memory that its sessions may take',
    { sessions: 2, sessionsMemoryMb: 12_289 },
    {},
    'it has 16g of memory, the 2 sessions there may take 12289m, and this session may take 4g',
  ],
  ['another kind', {}, { engine: 'podman' }, 'it is not podman'],
])('passes over an engine with %s, and says why', (_what, more, asked, why) => {
  const passed = chooseEngine([offer('a', more)], { ...needs, ...asked });
  expect(passed).toEqual({ chosen: undefined, passedOver: [{ name: 'a', why }] });
});

it('takes an engine whose memory is just enough, and one whose disk and memory are not known', () => {
  const justEnough = offer('a', { sessions: 3, sessionsMemoryMb: 12_288, freeDiskMb: 2048 });
  expect(chooseEngine([justEnough], needs).chosen).toBe(justEnough);
  const unknown = offer('b', { facts: { kind: 'docker' }, freeDiskMb: undefined });
  expect(chooseEngine([unknown], needs).chosen).toBe(unknown);
});

it('gives the reason of each engine where none is left, and how to check one', () => {
  const error = noEngineLeft([
    { name: 'a', why: 'no answer' },
    { name: 'b', why: 'its disk is full: 3m are free' },
  ]);
  expect(error).toMatchObject({ code: 'ENGINES_UNUSABLE', status: 125, hint: 'Check one: run-claude doctor --on a' });
  expect(error.message).toBe(
    'no engine of --on can take the session:\n  a: no answer\n  b: its disk is full: 3m are free',
  );
});

it('reads the names of --on, each once', () => {
  expect(engineNames('big, small,big,')).toEqual(['big', 'small']);
  expect(engineNames(undefined)).toEqual([]);
});
