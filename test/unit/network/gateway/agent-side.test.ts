import { expect, it } from 'vitest';
import { joinEnv } from '../../../../src/network/gateway/agent-side.ts';

it('the gateway’s variables override the user’s; the user’s options of a program stay', () => {
  const own = { HTTP_PROXY: 'http://elsewhere', NODE_OPTIONS: '--max-old-space-size=9', GRADLE_OPTS: '-q', A: '1' };
  const gateway = { HTTP_PROXY: 'http://127.0.0.1', NODE_OPTIONS: '--require=x', MAVEN_OPTS: '-D' };
  expect(joinEnv(own, gateway)).toEqual({
    HTTP_PROXY: 'http://127.0.0.1',
    NODE_OPTIONS: '--require=x --max-old-space-size=9',
    GRADLE_OPTS: '-q',
    MAVEN_OPTS: '-D',
    A: '1',
  });
});
