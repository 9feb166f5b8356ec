import { describe, expect, test } from 'vitest';
import { holdsSecret, maskedText, secretValues } from '../../../../src/core/secrets/values.ts';

const WORD = 'k7Qz3mX9pLw2Rt8Yv5Nc4Bh6Jd1Gf0SaEuTiOoPqWxZyKlMnHgFrDsCvBj';
/** Put together here, so that no file of the repository holds a token. */
const w = (length: number): string => WORD.repeat(Math.ceil(length / WORD.length)).slice(0, length);
const STRIPE = `sk_live_${w(24)}`;
const values = (path: string, text: string): string[] => secretValues(path, text).map(({ value }) => value);
const names = (path: string, text: string): (string | undefined)[] => secretValues(path, text).map(({ name }) => name);
const armored = (kind: string, newline = '\n'): string =>
  [`-----BEGIN ${kind}PRIVATE ${'KEY'}-----`, w(64), w(30), `-----END ${kind}PRIVATE ${'KEY'}-----`].join(newline);

test.each([
  '[db]\npassword = "hunter2"\n',
  '[app.1]\npassword = hunter2\n',
  '[\'remote "a"\']\npassword = hunter2\n',
  '{ "a": 1, password: hunter2 }',
  '{{ include }}\npassword: hunter2\n',
])('a text that begins as JSON does, and is none: %j', (text) => {
  expect(values('secrets.toml', text)).toContain('hunter2');
});

describe('values of an environment file', () => {
  test.each([
    ['a pattern', `A=${STRIPE}`, [STRIPE]],
    ['its name', 'DB_PASSWORD=hunter2', ['hunter2']],
    ['its name in camel case', 'dbPassword=hunter2', ['hunter2']],
    ['its name in one word', 'PGPASSWORD=hunter2', ['hunter2']],
    ['a personal access token', 'GH_PAT=hunter2', ['hunter2']],
    ['words', 'MNEMONIC="army van defense carry"', ['army van defense carry']],
    ['without quotes, with blanks', 'PASSPHRASE=army van', ['army van']],
    ['its entropy', `BUILD=${w(32)}`, [w(32)]],
    ['hexadecimal', `SENTRY=${'9f3a7c1e5b8d2f604a6e9c3b7d15f08e'}`, ['9f3a7c1e5b8d2f604a6e9c3b7d15f08e']],
    ['export', "export API_KEY='hunter2'", ['hunter2']],
    ['a comment behind it', 'API_KEY=hunter2 # of staging', ['hunter2']],
    ['in a comment', '#API_KEY=hunter2', ['hunter2']],
    ['a byte order mark', '\uFEFFAPI_KEY=hunter2', ['hunter2']],
    ['CRLF', 'API_KEY=hunter2\r\nPORT=1\r\n', ['hunter2']],
    ['a number', 'PIN_CODE=48291\nDB_PASS=48291', ['48291', '48291']],
    ['a password in a URL', 'DATABASE_URL=postgres://app:hunter2@db:5432/x', ['hunter2']],
    ['a password without a user', 'REDIS_URL=redis://:hunter2@cache:6379/0', ['hunter2']],
    ['a parameter in a URL', 'HOOK=https://x.test/a?id=3&token=hunter22', ['hunter22']],
    ['a key in several lines', `TLS_KEY="${armored('RSA ')}"\nPORT=1`, [armored('RSA ')]],
    ['a key with escaped lines', `TLS_KEY="${armored('', '\\n')}"`, [armored('', '\\n')]],
    ['several lines in quotes', 'API_SECRET="one\ntwo"\nPORT=1', ['one\ntwo']],
    ['no end of a quote', 'API_SECRET="one\nB_SECRET="two"', ['"one', 'two']],
    ['a header', `H="Authorization: Bearer ${w(30)}"`, [w(30)]],
  ])('are secret by %s', (_, text, expected) => {
    expect(values('.env', text)).toEqual(expected);
  });

  test.each([
    'PORT=3000',
    'NODE_ENV=development',
    'AWS_REGION=eu-central-1',
    'SESSION_TTL=30d',
    'TOKEN_TTL=3600',
    'MAX_TOKENS=4096',
    'PASSWORD_MIN_LENGTH=12',
    'DB_PASSWORD=postgres',
    'DB_PASSWORD=password',
    'DB_PASSWORD=changeme',
    'DB_PASSWORD=',
    'API_KEY=your-api-key-here',
    'API_KEY=<your key>',
    'API_KEY=xxxxxxxx',
    `API_KEY=$${'{OTHER}'}`,
    'API_KEY=$OTHER',
    'SECRET_FILE=/run/secrets/app',
    'JWT_SECRET=./keys/secret.pem',
    'PUBLIC_KEY=ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAA a@b',
    `STRIPE_PUBLISHABLE_KEY=pk_live_${w(24)}`,
    'DATABASE_URL=postgres://postgres:postgres@localhost:5432/x',
    'API_URL=https://api.example.com/v1/accounts',
    'SORT_KEY=name',
    'KEYBOARD=us',
    'COMPASS=north',
    'TENANT=0c6b1f3e-9a44-4f5d-8f60-0d2f5a6b7c8d',
    'IMAGE=registry.example.com/team/service-name-of-it:2026-11-28',
    'AUTH=true',
  ])('keep %s', (text) => {
    expect(values('.env', text)).toEqual([]);
    expect(maskedText('.env', text, () => 'no')).toBe(text);
  });

  test('have their names', () => {
    expect(names('.env', `PORT=1\nSTRIPE_KEY=${STRIPE}\nDB_PASSWORD: hunter2`)).toEqual(['STRIPE_KEY', 'DB_PASSWORD']);
  });
});

describe('values of other forms', () => {
  test.each([
    ['minified JSON', 'secrets.json', '{"db":{"user":"app","password":"hunter2"},"port":3000}', ['hunter2']],
    [
      'JSON with a key',
      'service-account.json',
      `{"private_key":"${armored('', '\\n')}","type":"service_account"}`,
      [armored('', '\\n')],
    ],
    [
      'registry logins',
      '.docker/config.json',
      '{"auths":{"r.test":{"auth":"YXBwOmh1bnRlcjI="}}}',
      ['YXBwOmh1bnRlcjI='],
    ],
    [
      'outputs of Terraform',
      'terraform.tfstate',
      '{"outputs":{"db_password":{"value":"hunter2","sensitive":true}}}',
      ['hunter2'],
    ],
    ['variables of Terraform', 'prod.tfvars', 'region = "eu"\ndb_password = "hunter2"\n', ['hunter2']],
    ['a map on a line', 'prod.tfvars', 'db = { user = "app", password = "hunter2" }', ['hunter2']],
    ['YAML', 'secrets.yml', 'db:\n  user: app\n  password: hunter2\n', ['hunter2']],
    ['a list', 'secrets.yml', 'passwords:\n  - hunter2\n  - hunter3\n', ['hunter2', 'hunter3']],
    ['a block', 'secrets.yml', 'api_secret: |\n  hunter2\n  hunter3\nport: 1\n', ['hunter2', 'hunter3']],
    ['a name and a value', 'secrets.yml', '- name: DB_PASSWORD\n  value: hunter2\n', ['hunter2']],
    ['flow maps', 'secrets.yml', 'db: {user: app, password: hunter2}\n', ['hunter2']],
    ['a secret of Kubernetes', 'secret.yaml', 'kind: Secret\ndata:\n  user: YXBwCg==\n', ['YXBwCg==']],
    ['a kubeconfig', '.kube/config', 'users:\n- name: a\n  user:\n    token: hunter2\n', ['hunter2']],
    ['a token of npm', '.npmrc', '//registry.npmjs.org/:_authToken=hunter2\nregistry=https://r.test/\n', ['hunter2']],
    ['an ini file', '.pypirc', '[pypi]\nusername = __token__\npassword = hunter2\n', ['hunter2']],
    ['netrc', '.netrc', 'machine r.test login app password hunter2\n', ['hunter2']],
    ['git', '.git-credentials', 'https://app:hunter2@git.test\n', ['hunter2']],
    [
      'Maven',
      'settings.xml',
      '<settings><server><username>app</username><password>hunter2</password></server></settings>',
      ['hunter2'],
    ],
    [
      'NuGet',
      'nuget.config',
      '<configuration><add key="ClearTextPassword" value="hunter2" /></configuration>',
      ['hunter2'],
    ],
    ['Gradle', 'gradle.properties', 'org.gradle.jvmargs=-Xmx2g\nsigning.password=hunter2\n', ['hunter2']],
    ['properties with a colon', 'gradle.properties', 'signing.password:hunter2\n', ['hunter2']],
    [
      'a cloud',
      '.aws/credentials',
      `[default]\naws_access_key_id = AKIA${'QWERTYUIOP234567'}\naws_secret_access_key = ${w(40)}\n`,
      [`AKIA${'QWERTYUIOP234567'}`, w(40)],
    ],
    ['a key file', 'certs/dev.key', `${armored('EC ')}\n`, [armored('EC ')]],
    ['a value alone', 'config/master.key', '9f3a7c1e5b8d2f604a6e9c3b7d15f08e\n', ['9f3a7c1e5b8d2f604a6e9c3b7d15f08e']],
    ['a token alone', 'token.txt', 'REAL-SECRET-71b2', ['REAL-SECRET-71b2']],
    ['a password alone', 'secrets/db_password', 'hunter2\n', ['hunter2']],
    ['a password file of PostgreSQL', '.pgpass', 'db:5432:x:app:hunter2\n', ['hunter2']],
  ])('%s', (_, path, text, expected) => {
    expect(values(path, text)).toEqual(expected);
  });

  test('a certificate is public', () => {
    const text = `-----BEGIN CERTIFICATE-----\n${w(64)}\n-----END CERTIFICATE-----\n`;
    expect(values('ca.pem', text)).toEqual([]);
  });

  test('a file of another name has the secrets of known formats', () => {
    expect(values('dist/app.js', `const passwordKey = "hunter2"; pay("${STRIPE}")`)).toEqual([STRIPE]);
    expect(holdsSecret('dist/app.js', `pay("${STRIPE}")`)).toBe(true);
    expect(holdsSecret('dist/app.js', 'const passwordKey = "hunter2"')).toBe(false);
    expect(holdsSecret('.env', 'DB_PASSWORD=hunter2')).toBe(true);
  });
});
