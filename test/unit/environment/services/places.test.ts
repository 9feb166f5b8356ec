import { expect, it } from 'vitest';
import { companionOf, dataVolume } from '../../../../src/environment/services/places.ts';
import { companionVolume } from '../../../../src/network/companion/companion-place.ts';

it('gives no two services, and no service and MCP server, the same volume, whatever their names are', () => {
  const names = ['db', 'db-data', 'db-data-files', 'service-db', 'service-db-data'];
  const volumes = names.flatMap((name) => [
    companionVolume('id', companionOf(name)),
    dataVolume('id', name),
    `${dataVolume('id', name)}.files`,
    // Of an MCP server with that name.
    companionVolume('id', name),
  ]);
  expect(new Set(volumes).size).toBe(volumes.length);
});
