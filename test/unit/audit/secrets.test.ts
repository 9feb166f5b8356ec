import { expect, it } from 'vitest';
import { maintainedSecrets } from '../../../src/audit/formats/maintained-secrets.ts';
import { mayHoldSecret, secretIn, secretsByOthers } from '../../../src/audit/formats/secrets.ts';
import { auditFiles } from './plant.ts';

const WORD = 'k7Qz3mX9pLw2Rt8Yv5Nc4Bh6Jd1Gf0SaEuTiOoPqWxZyKlMnHgFrDsCvBj';
const HEX = '9f3a7c1e5b8d2f604a6e9c3b7d15f08e2c4a6b8d0f1e3a5c7b9d2e4f6a8c0b1d';
/** Random-looking text of a length; put together here, so that no file of the repository holds a token. */
const w = (length: number): string => WORD.repeat(Math.ceil(length / WORD.length)).slice(0, length);
const h = (length: number): string => HEX.repeat(Math.ceil(length / HEX.length)).slice(0, length);
const up = (length: number): string =>
  w(length * 2)
    .toUpperCase()
    .replace(/[^A-Z2-7]/g, '')
    .slice(0, length);

const SECRETS: Readonly<Record<string, readonly string[]>> = {
  'private key': ['RSA ', '', 'OPENSSH ', 'EC ', 'ENCRYPTED '].map((kind) => `-----BEGIN ${kind}PRIVATE ${'KEY'}-----`),
  'PuTTY key': ['PuTTY-User-Key-File-3: ssh-ed25519'],
  'Age key': [`AGE-SECRET-${'KEY'}-1${up(58)}`],
  'AWS access key': [`AKIA${up(16)}`, `ASIA${up(16)}`],
  'AWS secret key': [
    `AWS_SECRET_ACCESS_KEY=${w(40)}`,
    `"aws_secret_access_key": "${w(40)}"`,
    `awsSecretAccessKey: ${w(40)}`,
  ],
  'Azure storage key': [`AccountName=a;AccountKey=${w(86)}==`],
  'Azure client secret': [`aB3${'8Q~'}${w(34)}`],
  'Google key': [`AIza${w(35)}`],
  'Google OAuth secret': [`GOCSPX-${w(28)}`, `ya29.${w(100)}`],
  'Alibaba key': [`LTAI${w(20)}`],
  'DigitalOcean token': [`dop_v1_${h(64)}`],
  'Heroku key': [`HRKU-${w(40)}`],
  'Fly.io token': [`FlyV1 fm2_${w(80)}`],
  'Netlify token': [`nfp_${w(36)}`],
  'Supabase token': [`sbp_${h(40)}`],
  'PlanetScale password': [`pscale_pw_${w(43)}`],
  'Databricks token': [`dapi${h(32)}`],
  'Vault token': [`hvs.${w(90)}`],
  'Terraform Cloud token': [`${w(14)}.atlasv1.${w(64)}`],
  'Pulumi token': [`pul-${h(40)}`],
  'Doppler token': [`dp.pt.${w(43)}`],
  'Tailscale key': [`tskey-auth-${w(12)}-${w(32)}`],
  '1Password token': [`ops_eyJ${w(220)}`],
  'GitHub token': [`ghp_${w(36)}`, `gho_${w(36)}`, `ghs_${w(36)}`, `github_pat_${w(22)}_${w(59)}`],
  'GitLab token': [`glpat-${w(20)}`, `glrt-${w(20)}`, `glptt-${h(40)}`, `GR1348941${w(20)}`],
  'Atlassian token': [`ATATT3${w(180)}`],
  'npm token': [`npm_${w(36)}`, `//registry.npmjs.org/:_authToken=${h(8)}-${h(4)}-${h(4)}-${h(4)}-${h(12)}`],
  'PyPI token': [`pypi-AgE${w(160)}`],
  'RubyGems key': [`rubygems_${h(48)}`],
  'NuGet key': [`oy2${w(60).toLowerCase().slice(0, 43)}`],
  'crates.io token': [`cio${w(32)}`],
  'Docker token': [`dckr_pat_${w(27)}`],
  'Artifactory key': [`AKCp${w(69)}`],
  'Sentry token': [`sntrys_eyJ${w(120)}`],
  'Grafana token': [`glsa_${w(32)}_${h(8)}`],
  'New Relic key': [`NRAK-${up(27)}`],
  'Postman key': [`PMAK-${h(24)}-${h(34)}`],
  'Linear key': [`lin_api_${w(40)}`],
  'Notion token': [`ntn_${w(46)}`],
  'Figma token': [`figd_${w(40)}`],
  'Anthropic key': [`sk-ant-api03-${w(95)}`, `sk-ant-oat01-${w(90)}`],
  'OpenAI key': [`sk-${w(20)}T3BlbkFJ${w(20)}`, `sk-proj-${w(74)}T3BlbkFJ${w(74)}`],
  'OpenRouter key': [`sk-or-v1-${h(64)}`],
  'Hugging Face token': [
    `hf_${w(60)
      .replace(/[^A-Za-z]/g, '')
      .slice(0, 34)}`,
  ],
  'Groq key': [`gsk_${w(52)}`],
  'xAI key': [`xai-${w(80)}`],
  'Perplexity key': [`pplx-${w(48)}`],
  'Replicate token': [`r8_${w(37)}`],
  'LangSmith key': [`lsv2_pt_${h(32)}_${h(10)}`],
  'Slack token': [
    `xoxb-${'2'.repeat(12)}-${'3'.repeat(13)}-${w(24)}`,
    `xoxp-${w(60)}`,
    `xapp-1-A0${up(9)}-${'7'.repeat(13)}-${h(64)}`,
    `https://hooks.slack.com/services/T${up(8)}/B${up(8)}/${w(24)}`,
  ],
  'Discord token': [`https://discord.com/api/webhooks/${'7'.repeat(18)}/${w(68)}`, `M${w(23)}.${w(6)}.${w(38)}`],
  'Telegram token': [`${'71'.repeat(5)}:AA${w(33)}`],
  'Stripe key': [`sk_live_${w(24)}`, `rk_live_${w(99)}`, `whsec_${w(32)}`],
  'Square token': [`sq0atp-${w(22)}`],
  'Shopify token': [`shpat_${h(32)}`],
  'SendGrid key': [`SG.${w(22)}.${w(43)}`],
  'Brevo key': [`xkeysib-${h(64)}-${w(16)}`],
  'Mailgun key': [`key-${h(32)}`],
  'Mailchimp key': [`${h(32)}-us19`],
  'Twilio key': [`SK${h(32)}`],
  'password in a URL': [`postgres://app:${w(14)}@db.internal:5432/app`],
  'JSON web token': [`eyJhbGciOiJIUzI1NiJ9${w(4)}.eyJ${w(40)}.${w(43)}`],
};

it('finds a secret of every format, in code, in a shell line, alone and behind base64', () => {
  const missed: string[] = [];
  for (const [kind, samples] of Object.entries(SECRETS))
    for (const sample of samples) {
      const lines = [sample, `const t = '${sample}';`, `export T=${sample}`, `  - ${sample}`];
      for (const line of lines) {
        if (secretIn(line, 'src/a.ts') !== kind)
          missed.push(`${kind}: ${line.slice(0, 40)}: ${secretIn(line, 'src/a.ts')}`);
        if (!mayHoldSecret(`first\n${line}\nlast`)) missed.push(`${kind}: not looked at: ${line.slice(0, 40)}`);
      }
      const hidden = Buffer.from(`t: ${sample} ${' '.repeat(20)}`).toString('base64');
      if (kind !== 'password in a URL' && !secretIn(hidden, 'src/a.ts')?.endsWith('in base64'))
        missed.push(`${kind}, base64`);
    }
  expect(missed).toEqual([]);
  expect(Object.keys(SECRETS).length).toBeGreaterThan(60);
});

it('decodes any run of 40 base64 characters anywhere in a line, and none of 39', () => {
  const plain = ' .,x '.repeat(9);
  for (let at = 0; at <= plain.length; at += 1) {
    const put = (run: string): string => `${plain.slice(0, at).trimEnd()}-${run}-${plain.slice(at).trimStart()}`;
    expect(mayHoldSecret(put('q'.repeat(40))), `40 at ${at}`).toBe(true);
    expect(mayHoldSecret(put('q'.repeat(39))), `39 at ${at}`).toBe(false);
  }
});

it('is silent about examples, ordinary hashes, and text that only starts like a secret', () => {
  const lines = [
    'const t = "AKIAIOSFODNN7EXAMPLE";',
    `"integrity": "sha512-${w(86)}=="`,
    `"resolved": "https://registry.npmjs.org/a/-/a-1.0.0.tgz#${h(40)}"`,
    `commit ${h(40)}`,
    'cache-key-node_modules',
    'const key = "key-value-pairs-of-some-length";',
    'npm_config_registry=https://registry.npmjs.org/',
    'npm_package_name_and_some_more_words_here',
    'postgres://user:password@localhost/app',
    'postgres://app:$PASSWORD@db/app',
    'https://example.com/a:b/c@1.2.3',
    'import { hf_model_card } from "x";',
    'secret_key_from_environment_variable_name',
    'password = "correct horse"',
    'sk_test_something',
    'xoxo, see you',
    'glob-to-regexp-and-other-words-in-a-row',
    '-----BEGIN PUBLIC KEY-----',
    '-----BEGIN CERTIFICATE-----',
    'a.b-c_d.atlasv2.x',
  ];
  expect(lines.filter((line) => secretIn(line, 'src/a.ts') !== undefined)).toEqual([]);
  expect(secretIn(`T=ghp_${w(36)}`, '.env.example')).toBeUndefined();
});

it('finds secrets that only the maintained rules know, with their line', () => {
  const lines = ['first', `VERCEL_TOKEN=vcp_${w(56)}`, `const url = 'mysql://root:${w(20)}@db.internal:3306/app';`];
  const kinds = [...secretsByOthers(lines, 'src/a.ts')].sort(([a], [b]) => a - b);
  expect(kinds).toEqual([
    [1, 'vercel, as secretlint knows it'],
    [2, expect.stringMatching(/as secretlint knows it$/)],
  ]);
  expect(secretIn(lines[1] ?? '', 'src/a.ts')).toBeUndefined();
  const [finding] = auditFiles({ 'src/a.ts': lines.join('\n') }).filter(({ rule }) => rule === 'secret');
  expect(finding).toMatchObject({ severity: 'suspect', line: 2 });
  expect(JSON.stringify(finding)).not.toContain(w(20));
  expect(secretsByOthers(lines, '.env.example').size).toBe(0);
  expect(secretsByOthers(["const url = 'mysql://root:example-password@db:3306/app';"], 'a.ts').size).toBe(0);
});

it('gives the maintained rules no path to open, and ignores comments that would disable them', () => {
  const secret = `ghp_${w(36)}`;
  expect(maintainedSecrets(`// secretlint-disable\nconst t = '${secret}';`, 'a.js').map(({ kind }) => kind)).toEqual([
    'github',
  ]);
  // One of the set opens a file of this ending by its path: it is not asked.
  expect(maintainedSecrets('x', '/etc/passwd.p12')).toEqual([]);
});
