import { describe, expect, it } from 'vitest';
import { dayOf, gatewayMs, given, limitsOf, recordBytes, slotsOf } from '../../../bench/scale-given.mjs';

const constants = {
  sessionMs: 2000,
  commandMb: 75,
  gatewayMb: 20,
  collectorMb: 1,
  wirePerByte: 1.4,
  gzip: 0.3,
  fixedTo: 150_000,
  fixedFrom: 200_000,
  perEdit: 6000,
  perWritten: 8000,
  storedBytes: 90_000,
  listMs: 1,
  readMs: 0.1,
  gatewayIdleMs: 300,
  gatewayRequestMs: 5,
  gatewayMbMs: 20,
};

describe('what a session needs', () => {
  it('counts the processor time of its gateway by requests and bytes', () => {
    const perRequest = 5 + (given('requestKb') / 1000) * 20;
    expect(gatewayMs(constants)).toBeCloseTo(300 + given('requests') * perRequest);
  });

  it('counts its record with both sides of its changes', () => {
    expect(recordBytes(constants)).toBe(90_000 + given('changedFiles') * 8000);
  });

  it('a node takes fewer sessions when gateways are larger', () => {
    expect(slotsOf({ ...constants, gatewayMb: 4000 })).toBeLessThan(slotsOf(constants));
  });
});

describe('the limits of a day', () => {
  const limits = (sessions: number): ReadonlyMap<string, number> =>
    new Map(
      limitsOf(constants, sessions, dayOf(constants, sessions, 'fewest')).map(({ what, value }) => [what, value]),
    );
  const [few, many] = [limits(500), limits(20_000)];

  it('are needed more by more sessions', () => {
    for (const [what, value] of many) expect([what, value > (few.get(what) ?? 0)]).toEqual([what, true]);
  });

  it('a user has a share of what one machine has that submits all', () => {
    const find = (start: string, end: string): number =>
      [...many].find(([what]) => what.startsWith(start) && what.includes(end))?.[1] ?? Number.NaN;
    for (const what of ['memory', 'a start reads'])
      expect(find('one machine', what)).toBeCloseTo(find('each user', what) * given('users'));
  });

  it('a name that is not given is an error', () => {
    expect(() => given('nothing')).toThrow('nothing is given as nothing');
  });
});
