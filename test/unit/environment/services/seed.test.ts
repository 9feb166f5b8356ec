import { expect, it } from 'vitest';
import { type SeedInputs, seedAddress } from '../../../../src/environment/services/seed.ts';

const service: SeedInputs['service'] = {
  name: 'db',
  packages: ['postgresql'],
  command: ['a'],
  port: 1,
  env: { A: '1' },
  readyMs: 1000,
  data: '/data',
  seed: 'createdb app',
  files: ['a.sql'],
  reaches: [],
  memoryMb: 1,
  diskMb: 1,
};
const inputs: SeedInputs = {
  service,
  reached: [],
  files: [{ path: 'a.sql', content: Buffer.from('one'), isExecutable: false }],
  images: ['run-claude:1'],
};

it('gives different inputs another address: no session gets the data of another seed', () => {
  const other = { ...service, name: 'other' };
  const changed = [{ path: 'a.sql', content: Buffer.from('two'), isExecutable: false }];
  const others: SeedInputs[] = [
    { ...inputs, images: ['run-claude:2'] },
    { ...inputs, files: [] },
    { ...inputs, files: changed },
    { ...inputs, reached: [{ service: other, files: [] }] },
    { ...inputs, reached: [{ service: other, files: inputs.files }] },
    { ...inputs, reached: [{ service: other, files: changed }] },
    ...[
      { command: ['b'] },
      { port: 2 },
      { env: { A: '2' } },
      { data: '/srv' },
      { seed: 'createdb other' },
      { ready: 'true' },
      { reaches: ['other'] },
    ].map((more) => ({ ...inputs, service: { ...service, ...more } })),
  ];
  const addresses = [inputs, ...others].map((one) => seedAddress(one, '/cache'));
  addresses.push(seedAddress(inputs, '/cache-of-another-user'));
  expect(new Set(addresses).size).toBe(15);
  expect(addresses.every((one) => /^[0-9a-f]{32}$/.test(one))).toBe(true);
});

it('gives the same address with another limit, which does not change the data', () => {
  expect(seedAddress({ ...inputs, service: { ...service, memoryMb: 512, diskMb: 99 } }, '/cache')).toBe(
    seedAddress(inputs, '/cache'),
  );
});
