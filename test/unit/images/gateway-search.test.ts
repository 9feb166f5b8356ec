import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { drawGatewaySearch, SEARCH_COPY } from '../../../scripts/gateway-search.mjs';

const root = path.resolve(import.meta.dirname, '../../..');

it('has the search for values as src/core/secrets has it (npm run generate writes it)', async () => {
  expect(readFileSync(path.join(root, SEARCH_COPY), 'utf8')).toBe(await drawGatewaySearch(root));
});
