import { expect, it } from 'vitest';
import { podmanBody } from '../../../../src/engines/engine/podman/podman-body.ts';
import { agentLike } from '../../../engine/hardening/weakened.ts';

it('shared memory: its own tmpfs that may be written, since Podman 5 makes its own read-only', async () => {
  const spec = await agentLike('image', ['true']);
  const { mounts } = podmanBody(spec, { owner: 'owner', overlays: new Map(), cgroupVersion: 2 });
  expect(mounts).toContainEqual({
    type: 'tmpfs',
    source: 'tmpfs',
    destination: '/dev/shm',
    options: ['rw', 'nosuid', 'nodev', 'noexec', `size=${spec.limits.shmMb}m`, 'mode=1777', 'notmpcopyup'],
  });
});

it('asks for no names of the loopback: Podman refuses them next to the hosts file of the image', async () => {
  const spec = { ...(await agentLike('image', ['true'])), loopbackNames: ['db'] };
  const body = podmanBody(spec, { owner: 'owner', overlays: new Map(), cgroupVersion: 2 });
  expect(body).toMatchObject({ use_image_hosts: true });
  expect(body).not.toHaveProperty('hostadd');
});
