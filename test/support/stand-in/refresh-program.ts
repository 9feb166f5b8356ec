import { findCredential } from '../../../src/agents/claude/credentials/credentials.ts';

// One session's refresh in its own process, so that it can be killed. argv: home, token endpoint, 'hold' to stop
// between the host's store and the gateway. Prints the token that it would hand to its gateway.
const [home = '', endpoint = '', hold] = process.argv.slice(2);
const { HTTPS_PROXY, NO_PROXY } = process.env;
const source = await findCredential({
  env: { HTTPS_PROXY, NO_PROXY },
  home,
  platform: 'linux',
  endpoint,
  managedSettings: `${home}/none`,
});
const secret = await source?.current();
if (hold !== undefined) await new Promise((done) => setTimeout(done, 3_600_000));
process.stdout.write(`${secret?.value}\n`);
