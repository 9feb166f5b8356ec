import { expect, it } from 'vitest';
import { checkSeverities } from '../../../../src/cli/policy/check-severities.ts';
import type { FileSettings } from '../../../../src/core/config/config-file.ts';

type Severities = FileSettings['auditSeverities'];
const OWN = [
  { id: 'ours', paths: ['src/**'], severity: 'suspect' as const, why: 'Ours.' },
  { id: 'never', paths: ['*.pem'], severity: 'blocked' as const, why: 'Never.' },
];

const check =
  (auditSeverities: Severities, isProject = false) =>
  (): void =>
    checkSeverities([
      { where: 'config.toml', settings: { auditRules: OWN, auditSeverities: {} }, isProject: false },
      {
        where: isProject ? '.run-claude.toml' : 'config.toml',
        settings: { auditRules: [], auditSeverities },
        isProject,
      },
    ]);

it.each([
  [{ 'build-make': 'blocked' }],
  [{ 'build-make': 'note' }],
  [{ 'link-outside': 'blocked' }],
  // A hook that was removed is suspect, so that a lower severity has an effect there.
  [{ 'git-hook': 'note' }],
  [{ ours: 'blocked' }],
  [{}],
] as const)('accepts %j', (severities) => {
  expect(check(severities)).not.toThrow();
  expect(check(severities, true)).not.toThrow();
});

it.each([
  ['build-mak', 'Did you mean build-make?'],
  ['Build-Make', 'Did you mean build-make?'],
  ['our', 'Did you mean ours?'],
  ['no-such-rule-at-all', 'run-claude audit --rules lists the ids.'],
  ['constructor', 'run-claude audit --rules lists the ids.'],
])('refuses the unknown rule %s: %s', (id, hint) => {
  const error = expect.objectContaining({ code: 'USAGE', status: 2, hint });
  expect(check({ [id]: 'blocked' })).toThrow(error);
  expect(check({ [id]: 'blocked' }, true)).toThrow(error);
  expect(check({ [id]: 'blocked' })).toThrow(`config.toml: audit.severities: ${id} is not the id of a rule`);
});

it.each(['link-outside', 'git-config', 'never'])('refuses to lower %s, which blocks', (id) => {
  for (const severity of ['note', 'suspect'] as const)
    expect(check({ [id]: severity })).toThrow(
      `config.toml: audit.severities: ${id} = "${severity}" has no effect: this rule blocks, and no setting lowers it`,
    );
  // A project's file that lowers is ignored with a warning: a user of the project could not correct it.
  expect(check({ [id]: 'note' }, true)).not.toThrow();
});
