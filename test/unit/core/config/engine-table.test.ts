import { expect, it } from 'vitest';
import { readConfigFile } from '../../../../src/core/config/config-file.ts';
import { mergePolicy } from '../../../../src/core/config/merge-policy.ts';

const read = (text: string) => readConfigFile(text, 'config.toml');

it('reads engines of each kind of address', () => {
  const { engines, values } = read(`
on = "big,small"
[engine.big]
host = "ssh://me@build.example.org:2222"
[engine.small]
host = "tcp://10.0.0.7:2376"
cert-path = "~/certs"
tls-verify = false
[engine.here]
host = "unix:///run/podman/podman.sock"
`);
  expect(engines).toEqual([
    { name: 'big', host: 'ssh://me@build.example.org:2222' },
    { name: 'small', host: 'tcp://10.0.0.7:2376', certPath: '~/certs', tlsVerify: false },
    { name: 'here', host: 'unix:///run/podman/podman.sock' },
  ]);
  expect(values.get('on')).toBe('big,small');
});

it('reads engine as a setting where it is a text', () => {
  const { engines, values } = read('engine = "podman"');
  expect([engines, values.get('engine')]).toEqual([[], 'podman']);
});

it.each([
  ['[engine.big]', /config\.toml: engine\.big: 'host' is missing/],
  ['[engine.big]\nhost = "build.example.org"', /engine\.big\.host: unix:.*tcp:.*ssh:/],
  ['[engine.big]\nhost = "ssh://-oProxyCommand=x"', /engine\.big\.host/],
  ['[engine.big]\nhost = "ssh://h"\ncert-path = "/c"', /engine\.big: cert-path and tls-verify belong/],
  ['[engine.big]\nhost = "tcp://h:1"\ncert-path = "c"', /engine\.big\.cert-path: an absolute path/],
  ['[engine.big]\nhost = "ssh://h"\nkey = "/c"', /engine\.big: unknown key 'key'/],
  ['[engine.default]\nhost = "ssh://h"', /engine\.default: default is the engine that the docker command would use/],
  ['[engine."a,b"]\nhost = "ssh://h"', /engine\.a,b: a name has small letters/],
])('refuses %j', (text, message) => {
  expect(() => read(text)).toThrow(message);
});

it('takes nothing of it from a project: neither an engine nor the choice of one', () => {
  const settings = read('on = "big"\n[engine.big]\nhost = "ssh://evil.example.org"');
  const { policy, warnings } = mergePolicy({
    config: undefined,
    projectFile: { where: '.run-claude.toml', settings },
    projectIgnore: [],
    environment: {},
    flags: [],
  });
  expect(policy.on).toBeUndefined();
  expect(warnings).toEqual([
    '.run-claude.toml: on = "big" cannot be set by a project; ignored',
    '.run-claude.toml: [engine] cannot be set by a project; ignored',
  ]);
});

it('the choice is that of the last source, not of all', () => {
  const { policy } = mergePolicy({
    config: { where: 'config.toml', settings: read('on = "a"') },
    projectFile: undefined,
    projectIgnore: [],
    environment: { RUN_CLAUDE_ON: 'b' },
    flags: [{ flag: '--on', setting: 'on', value: 'c,d' }],
  });
  expect(policy.on).toBe('c,d');
});
