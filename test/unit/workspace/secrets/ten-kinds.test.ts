import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { EVERYTHING } from '../../../../src/core/text/selection.ts';
import { walkTree } from '../../../../src/workspace/scan/walk.ts';
import { maskSecrets } from '../../../../src/workspace/secrets/mask-secrets.ts';

type Files = Readonly<Record<string, string>>;

/** As its generator makes it, with what developers add. */
interface Kind {
  readonly ignore: string;
  /** Of git: examples, locks, fixtures, public keys. */
  readonly tracked: Files;
  /** Ignored or new, with a secret. */
  readonly secret: Files;
  /** Ignored or new, without one: builds, caches, editors, new source code. */
  readonly harmless: Files;
}

const VALUE = 'q9Zr4Tm7Lx2Wk8Pv5Hd3';
const HEX = '9f3a7c1e5b8d2f604a6e9c3b7d15f08e';
const HASH = '1a5b9c3d7e2f8a4b6c0d5e9f3a7b1c8d';
const KEY = `-----BEGIN PRIVATE ${'KEY'}-----\nMC4CAQAwBQYDK2VwBCIEIAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\n-----END PRIVATE ${'KEY'}-----\n`;
const CERTIFICATE = `-----BEGIN CERTIFICATE-----\n${'MIIB'.repeat(30)}\n-----END CERTIFICATE-----\n`;

const KINDS: Readonly<Record<string, Kind>> = {
  Rails: {
    ignore: '/config/*.key\n/config/database.yml\n/log/*\n/tmp/*\n.env\n/node_modules\n/public/assets\n',
    tracked: {
      'config/credentials.yml.enc': VALUE.repeat(9),
      '.env.example': 'SECRET_KEY_BASE=\n',
      'Gemfile.lock': 'GEM\n',
    },
    secret: {
      'config/master.key': HEX,
      'config/database.yml': `production:\n  username: app\n  password: ${VALUE}\n`,
      '.env': `SECRET_KEY_BASE=${HEX}${HEX}\nPORT=3000\n`,
    },
    harmless: {
      'log/test.log': 'Processing by SessionsController#create Parameters: {"password"=>"[FILTERED]"}\n',
      'public/assets/app-1f2e3d4c.js': 'const e={password:"password",token:t.csrfToken};\n',
      'app/models/token.rb': 'class Token < ApplicationRecord\n  has_secure_token :auth_token\nend\n',
    },
  },
  Django: {
    ignore: '*.pyc\n.venv/\nlocal_settings.py\ndb.sqlite3\n.env\nstaticfiles/\n',
    tracked: { 'app/settings.py': "SECRET_KEY = os.environ['SECRET_KEY']\n", '.env.sample': 'SECRET_KEY=change-me\n' },
    secret: {
      'local_settings.py': `SECRET_KEY = 'django-insecure-${VALUE}'\n`,
      '.env': `DATABASE_URL=postgres://app:${VALUE}@localhost/app\n`,
    },
    harmless: {
      'db.sqlite3': 'SQLite format 3\0 auth_user password varchar(128)',
      '.venv/lib/python3/site-packages/certifi/cacert.pem': CERTIFICATE,
      'app/forms.py': 'password = forms.CharField(widget=forms.PasswordInput)\n',
    },
  },
  Next: {
    ignore: '/node_modules\n/.next/\n/out/\n.env*.local\n*.pem\n.vercel\nnext-env.d.ts\n',
    tracked: {
      '.env': 'NEXT_PUBLIC_API=https://api.example.org\n',
      'package-lock.json': `{"integrity":"sha512-${VALUE}${VALUE}=="}`,
    },
    secret: { '.env.local': `NEXTAUTH_SECRET=${VALUE}\n`, 'localhost-key.pem': KEY },
    harmless: {
      '.next/server/app.js': `const o={token:"t0k3n-of-a-test"};/*${HASH}*/\n`,
      '.next/cache/.tsbuildinfo': `{"program":{"signature":"${HASH}"}}`,
      'localhost.pem': CERTIFICATE,
      'next-env.d.ts': '/// <reference types="next" />\n',
    },
  },
  Terraform: {
    ignore: '.terraform/\n*.tfstate\n*.tfstate.*\n*.tfvars\n!example.tfvars\n',
    tracked: {
      'example.tfvars': 'db_password = "change-me"\n',
      '.terraform.lock.hcl': `hashes = ["h1:${VALUE}${VALUE}="]\n`,
    },
    secret: {
      'terraform.tfvars': `db_password = "${VALUE}"\nregion = "eu-central-1"\n`,
      'terraform.tfstate': `{"resources":[{"instances":[{"attributes":{"password":"${VALUE}"}}]}]}`,
      'terraform.tfstate.backup': `{"outputs":{"token":{"value":"${VALUE}"}}}`,
    },
    harmless: {
      'new.tf': 'variable "db_password" {\n  sensitive = true\n}\n',
      '.terraform/modules/modules.json': '{"Modules":[]}',
    },
  },
  Android: {
    ignore: '/local.properties\n*.jks\n/build\n/app/build\n.gradle\nkeystore.properties\n/.idea/\n',
    tracked: {
      'gradle.properties': 'org.gradle.jvmargs=-Xmx2048m\n',
      'gradle/wrapper/gradle-wrapper.properties': 'distributionUrl=https\\://x\n',
    },
    secret: {
      'keystore.properties': `storePassword=${VALUE}\nkeyAlias=upload\n`,
      'release.jks': `\0\0${VALUE}`,
      'app/google-services.json': `{"client":[{"api_key":[{"current_key":"AIza${'SyA1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q'}"}]}]}`,
    },
    harmless: {
      'local.properties': 'sdk.dir=/home/me/Android/Sdk\n',
      'app/build/generated/res/values.xml': '<resources><string name="password">Password</string></resources>',
      '.idea/workspace.xml':
        '<project version="4"><component name="PropertiesComponent"><property name="settings.editor" value="x" /></component></project>',
    },
  },
  Spring: {
    ignore: 'target/\n.env\napplication-local.yml\n*.p12\n',
    tracked: { 'src/main/resources/application.yml': `spring:\n  datasource:\n    password: \${DB_PASSWORD}\n` },
    secret: {
      'application-local.yml': `spring:\n  datasource:\n    password: ${VALUE}\n`,
      'keystore.p12': `0\0${VALUE}`,
    },
    harmless: {
      'target/classes/application.yml': 'spring:\n  datasource:\n    password: postgres\n',
      'src/Token.java': 'private String token = "token";\n',
    },
  },
  Go: {
    ignore: '/bin/\n.env\n*.test\ncoverage.out\nconfig.local.toml\n',
    tracked: { 'go.sum': `example.org/x v1.0.0 h1:${VALUE}${VALUE}=\n`, 'testdata/server.key': KEY },
    secret: { 'config.local.toml': `[db]\npassword = "${VALUE}"\n`, '.env': `API_TOKEN=${VALUE}\n` },
    harmless: {
      'coverage.out': 'mode: set\nexample.org/x/token.go:10.2,12.3 1 1\n',
      'token.go': 'const TokenType = "bearer"\n',
    },
  },
  Rust: {
    ignore: '/target\n.env\n.cargo/credentials.toml\n',
    tracked: { 'Cargo.lock': `checksum = "${HASH}${HASH}"\n`, '.cargo/config.toml': '[build]\njobs = 2\n' },
    secret: {
      '.cargo/credentials.toml': `[registry]\ntoken = "cio${VALUE}${VALUE.slice(0, 12)}"\n`,
      '.env': `JWT_SECRET=${VALUE}\n`,
    },
    harmless: {
      'target/debug/.fingerprint/x/lib.json': `{"rustc":"${HASH}"}`,
      'src/new.rs': 'let token = parser.next_token();\n',
    },
  },
  monorepo: {
    ignore: 'node_modules\ndist\n.turbo\n.env\n.env.*\n!.env.example\n.npmrc\n',
    tracked: {
      'apps/web/.env.example': 'STRIPE_SECRET_KEY=sk_live_xxx\n',
      'pnpm-lock.yaml': `integrity: sha512-${VALUE}${VALUE}==\n`,
    },
    secret: {
      '.npmrc': `//registry.npmjs.org/:_authToken=${VALUE}\n`,
      'apps/web/.env': `STRIPE_SECRET_KEY=sk_live_${VALUE}4a5B\n`,
      'packages/db/.env.production': `DATABASE_URL=mysql://root:${VALUE}@db/x\n`,
    },
    harmless: {
      'node_modules/x/test/fixtures/key.pem': KEY,
      'apps/web/dist/index.js': 'var password="password",apiKey=process.env.API_KEY;\n',
      '.turbo/turbo-build.log': `cache hit, replaying output ${HASH}\n`,
    },
  },
  'data science': {
    ignore: '.venv\n.ipynb_checkpoints\ndata/\n*.csv\nkaggle.json\ncredentials.json\n.dvc/config.local\nmlruns/\n',
    tracked: { 'analysis.ipynb': '{"cells":[{"source":["df.head()"]}]}', '.dvc/config': '[core]\nremote = s3\n' },
    secret: {
      'credentials.json': `{"type":"service_account","private_key":${JSON.stringify(KEY)}}`,
      'kaggle.json': `{"username":"me","key":"${HEX}"}`,
      '.dvc/config.local': `['remote "s3"']\n    secret_access_key = ${VALUE}${VALUE}\n`,
    },
    harmless: {
      'data/users.csv': 'id,email,token_count\n1,a@example.org,4096\n',
      'mlruns/0/meta.yaml': `artifact_location: file:///x\nexperiment_id: '0'\nrun_id: ${HASH}\n`,
      'train.py': 'tokenizer = AutoTokenizer.from_pretrained("bert-base-uncased")\ntoken = tokenizer.eos_token\n',
    },
  },
};

test.each(Object.entries(KINDS))('a %s project has each planted secret masked, and nothing else', async (_, kind) => {
  const root = mkdtempSync(path.join(tmpdir(), 'run-claude-secrets-'));
  onTestFinished(() => rmSync(root, { recursive: true }));
  const git = (...words: string[]): void => void execFileSync('git', words, { cwd: root, stdio: 'ignore' });
  const write = (files: Files): void => {
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(path.dirname(path.join(root, name)), { recursive: true });
      writeFileSync(path.join(root, name), text);
    }
  };
  git('init', '-q');
  write({ '.gitignore': kind.ignore, ...kind.tracked });
  git('add', '-f', '.');
  write({ ...kind.secret, ...kind.harmless });
  const walked = await walkTree({ root, selection: EVERYTHING, known: undefined });
  const { secrets } = maskSecrets(walked, { project: root, dir: path.join(root, '.git/base'), unmask: [] }, undefined);
  const pathsOf = (isMasked: boolean): string[] =>
    secrets.files.flatMap(({ path: one, state }) => ((state === 'masked') === isMasked ? [one] : []));
  expect(pathsOf(true)).toEqual(Object.keys(kind.secret).sort());
  // Named, not masked: the tracked ones alone.
  expect(pathsOf(false).filter((one) => !Object.hasOwn(kind.tracked, one))).toEqual([]);
});
