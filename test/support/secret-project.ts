import { execFileSync } from 'node:child_process';
import { linkSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { random } from './apply/random-tree.ts';

type Next = (below: number) => number;

/** A project with secrets of many kinds, in places and spellings that its seed decides. */
export interface SecretProject {
  /** Values that nothing inside may have. */
  readonly secrets: readonly string[];
  /** Values that the project shows: of tracked files. */
  readonly shown: readonly string[];
}

const ALPHABET = 'ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnpqrstuvwxyz23456789';

const secretOf = (next: Next, length = 18 + next(20)): string =>
  `${'k7Q2'.slice(0, 2 + next(3))}${Array.from({ length }, () => ALPHABET[next(ALPHABET.length)]).join('')}`;

const key = (value: string): string =>
  `-----BEGIN PRIVATE ${'KEY'}-----\n${Buffer.from(value.repeat(4)).toString('base64')}\n-----END PRIVATE ${'KEY'}-----\n`;

/** What has a secret by its name, wherever it is and whether git ignores it or not. */
const NAMED: readonly (readonly [name: string, text: (value: string) => string | Buffer])[] = [
  ['.env', (value) => `PORT=3000\nDB_PASSWORD=${value}\n`],
  ['.env.local', (value) => `export API_KEY="${value}"\n`],
  ['.ENV.production', (value) => `DATABASE_URL=postgres://app:${value}@db:5432/x\n`],
  ['.env.bak', (value) => `SECRET_KEY=${value}\r\n`],
  ['.envrc', (value) => `export TOKEN=${value}\n`],
  ['dev.key', key],
  ['id_ed25519', key],
  ['deploy', key],
  ['release.jks', (value) => Buffer.from(btoa(`\0\xfe\xed${value}`))],
  ['service-account.json', (value) => JSON.stringify({ type: 'service_account', private_key: key(value) })],
  ['.npmrc', (value) => `//registry.npmjs.org/:_authToken=${value}\n`],
  ['.pypirc', (value) => `[pypi]\nusername = u\npassword = ${value}\n`],
  ['.netrc', (value) => `machine host login me password ${value}\n`],
  ['.git-credentials', (value) => `https://me:${value}@github.com\n`],
  ['NuGet.Config', (value) => `<configuration><add key="ClearTextPassword" value="${value}" /></configuration>`],
  ['settings.xml', (value) => `<settings><server><password>${value}</password></server></settings>`],
  ['gradle.properties', (value) => `signing.password=${value}\n`],
  ['prod.tfvars', (value) => `db_password = "${value}"\n`],
  ['terraform.tfstate', (value) => JSON.stringify({ resources: [{ attributes: { password: value } }] })],
  ['kubeconfig', (value) => `users:\n- name: a\n  user:\n    token: ${value}\n`],
  ['.aws/credentials', (value) => `[default]\naws_secret_access_key = ${value}\n`],
  ['.docker/config.json', (value) => JSON.stringify({ auths: { x: { auth: btoa(`me:${value}`) } } })],
  ['master.key', (value) => value],
  ['.vault_pass', (value) => `${value}\n`],
  ['secrets/db_password', (value) => value],
  ['credentials.yml', (value) => `service:\n  secret: |\n    ${value}\n`],
];

/** What has a secret that only an ignore rule keeps private. */
const IGNORED: readonly (readonly [name: string, text: (value: string) => string | Buffer])[] = [
  ['config/database.yml', (value) => `production:\n  password: ${value}\n`],
  ['wp-config.php', (value) => `<?php define('DB_PASSWORD', '${value}7');\n`],
  ['local.ini', (value) => `[db]\nclient_secret = ${value}\n`],
];

/** Other files that have the content of one with secrets. */
const COPIES: readonly ((text: Buffer, value: string) => readonly [name: string, text: string | Buffer])[] = [
  (text) => ['copy.txt', text],
  (text) => ['copy.gz', gzipSync(text)],
  (text) => ['copy.b64', text.toString('base64')],
  (_, value) => ['app.log', `${'nothing\n'.repeat(9000)}started with ${value}\n`],
  (_, value) => ['cache.db', Buffer.concat([Buffer.alloc(64), Buffer.from(value), Buffer.alloc(64, 0xff)])],
  (_, value) => ['dump.txt', Buffer.from(value).toString('hex')],
];

/** Writes a random project below `root`. The secrets of a seed are always the same. */
export function writeSecretProject(root: string, seed: number): SecretProject {
  const next = random(seed);
  const secrets: string[] = [];
  const shown: string[] = [];
  const put = (name: string, text: string | Buffer): void => {
    mkdirSync(path.dirname(path.join(root, name)), { recursive: true });
    writeFileSync(path.join(root, name), text);
  };
  const folder = (): string => ['', 'app/', 'services/api/', 'a b/ü/'][next(4)] as string;
  mkdirSync(root, { recursive: true });
  const git = (...words: string[]): void => void execFileSync('git', words, { cwd: root, stdio: 'ignore' });
  git('init', '-q');
  put('.gitignore', 'private/\n.env*\n');
  put('README.md', 'hello\n');
  const tracked = secretOf(next);
  shown.push(tracked);
  put('tracked.tfvars', `password = "${tracked}"\n`);
  put('.env.example', 'DB_PASSWORD=\nPORT=3000\n');
  git('add', '-f', '.');
  git('-c', 'user.name=P', '-c', 'user.email=p@example.org', 'commit', '-qm', 'one');
  for (let number = 0; number < 3 + next(5); number += 1) {
    const value = secretOf(next);
    secrets.push(value);
    const [name, text] = NAMED[next(NAMED.length)] as (typeof NAMED)[number];
    // A folder for each: two secrets of one name are two files.
    const at = `${next(2) === 0 ? 'private/' : ''}${folder()}${number}/${name}`;
    const content = Buffer.from(text(value));
    put(at, content);
    const [copy, copied] = (COPIES[next(COPIES.length)] as (typeof COPIES)[number])(content, value);
    // Nothing of a key store is a value: only all of it is recognised.
    const isRecognised =
      name === 'release.jks' ? copy === 'copy.txt' : copy.startsWith('copy') || content.includes(value);
    if (isRecognised) put(`private/${number}/${copy}`, copied);
    if (next(3) === 0) linkSync(path.join(root, at), path.join(root, `link-${number}.bin`));
    if (next(3) === 0) symlinkSync(path.join(root, at), path.join(root, `alias-${number}`));
  }
  const [name, text] = IGNORED[next(IGNORED.length)] as (typeof IGNORED)[number];
  const value = secretOf(next);
  secrets.push(value);
  put(`private/${name}`, text(value));
  return { secrets, shown };
}
