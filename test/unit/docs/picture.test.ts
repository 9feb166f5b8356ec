import { expect, it } from 'vitest';
import { drawPicture } from './picture.ts';

it('docs/what-goes-where.svg is current (npm run generate)', async () => {
  await expect(drawPicture()).toMatchFileSnapshot('../../../docs/what-goes-where.svg');
});
