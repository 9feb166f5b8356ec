import { expect, it } from 'vitest';
import { engineFailure } from '../../../../src/engines/engine/failure.ts';

it('a Docker that copies no file into a container: the hint names the kernel that it needs', () => {
  // As Docker 28.5 of Debian answers on Linux 6.1.
  const message = 'chmod .cache: via /proc/self/fd/43: no such file or directory';
  const failed = engineFailure({ statusCode: 404, json: { message } }, 'copy into the container');
  expect([failed.code, failed.hint]).toEqual(['ENGINE_REFUSED', expect.stringContaining('Linux 6.6')]);
  const other = engineFailure(
    { statusCode: 500, json: { message: 'chmod: not permitted' } },
    'copy into the container',
  );
  expect(other.hint).toBeUndefined();
});
