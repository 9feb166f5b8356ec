import { describe, expect, test } from 'vitest';
import { secretKind } from '../../../../src/core/secrets/kinds.ts';

const KINDS: Readonly<Record<string, readonly string[]>> = {
  'environment file': [
    '.env',
    'a/.env',
    '.ENV',
    '.env.local',
    '.env.production.local',
    '.env~',
    '.env_old',
    '.env-prod',
    '.env.bak',
    '.env2',
    '.envrc',
    'prod.env',
    '.flaskenv',
    '.envs/.production/.django',
    '.dev.vars',
    '.secrets',
  ],
  'key store': ['a.p12', 'a.pfx', 'android/release.keystore', 'a.JKS', 'vault.kdbx'],
  'key file': [
    'certs/dev.key',
    'a.pem',
    'AuthKey.p8',
    'id_rsa',
    '.ssh/id_ed25519',
    'id_rsa.bak',
    'ssh_host_rsa_key',
    'a.ppk',
  ],
  'cloud credentials': [
    'service-account.json',
    'my-service_account-key.json',
    'app-firebase-adminsdk-x1.json',
    'client_secret_1.json',
    'google-services.json',
    '.aws/credentials',
    'home/.aws/config',
  ],
  'registry credentials': [
    '.npmrc',
    '.pypirc',
    'NuGet.Config',
    'settings.xml',
    '.docker/config.json',
    '.cargo/credentials.toml',
  ],
  'login file': [
    'rclone.conf',
    '.config/gh/hosts.yml',
    'wg0.conf',
    '.vscode/sftp.json',
    'token.json',
    '.netrc',
    '_netrc',
    '.git-credentials',
    '.pgpass',
    '.htpasswd',
  ],
  'build properties': ['gradle.properties', 'key.properties', 'appsettings.Development.json', 'local.settings.json'],
  'Terraform variables': ['prod.tfvars', 'prod.auto.tfvars.json'],
  'Terraform state': ['terraform.tfstate', 'terraform.tfstate.backup', 'x.tfstate'],
  kubeconfig: ['kubeconfig', '.kube/config', 'kubeconfig.yaml', 'dev.kubeconfig'],
  'password file': ['password.txt', 'db/passwd', '.token', 'api_key.txt', 'access-token', 'secret.txt'],
  'master key': ['config/master.key'],
  'vault password': ['.vault_pass', '.vault-token', '.vault'],
  credentials: ['credentials.json', 'credentials', 'secrets.yml', 'app-secrets.json', 'db-credentials.ini'],
  'secrets folder': ['secrets/db_password', '.secrets/x.txt', 'deploy/secrets/db'],
  'configuration of git': ['sub/.git/config', '.git/config.worktree'],
  'credentials of git': ['.git/git-crypt/keys/default', '.git/credentials', 'sub/.git/credentials'],
};

describe('secretKind', () => {
  test.each(Object.entries(KINDS).flatMap(([name, paths]) => paths.map((path) => [path, name] as const)))(
    '%s is of kind %s',
    (path, name) => {
      // The master key is a key file, too: the first row decides.
      expect([name, name === 'master key' ? 'key file' : name]).toContain(secretKind(path)?.name);
    },
  );

  test.each([
    '.env.example',
    '.env.sample',
    '.env.template',
    'app/.env.dist',
    'example.env',
    'prod.tfvars.example',
    'id_rsa.pub',
    'key.pub',
    'environment.ts',
    '.env.d.ts',
    'src/secrets/index.ts',
    'secrets/README.md',
    'src/secret.ts',
    'package.json',
    'tokens.css',
    'tokens.json',
    'src/password/index.html',
    'node_modules/public-encrypt/test/test_rsa_privkey.pem',
    '.git/refs/heads/secrets/x',
    'config/credentials.yml.enc',
    'keyboard.key.png',
    '.env/lib/python3/site.py',
  ])('%s is of none', (path) => {
    expect(secretKind(path)).toBeUndefined();
  });

  test.each([
    ['.npmrc.bak', 'registry credentials'],
    ['.netrc~', 'login file'],
    ['conf/#.npmrc#', 'registry credentials'],
    ['.npmrc copy 2', 'registry credentials'],
    ['prod (1).tfvars', 'Terraform variables'],
    ['prod.tfvars.old', 'Terraform variables'],
    ['local.properties.orig', 'build properties'],
    ['server.key.20240101', 'key file'],
    ['AuthKey.P8.BAK', 'key file'],
    ['auth.json.backup', 'registry credentials'],
    ['.server.key.swp', 'swap file of an editor'],
    ['.env.swp', 'swap file of an editor'],
    ['.id_rsa.swo', 'swap file of an editor'],
    ['.env.un~', 'swap file of an editor'],
    ['..env.un~', 'swap file of an editor'],
    ['.env.gz', 'archive of a secret file'],
    ['backup/secrets.tar.gz', 'archive of a secret file'],
    ['id_rsa.zip', 'archive of a secret file'],
    ['notes.zip', undefined],
    ['.notes.md.swp', undefined],
    ['notes.md~', undefined],
    ['.env.example.bak', undefined],
    ['src/secret.ts.orig', undefined],
  ])('%s, which an editor or a user keeps, is of kind %s', (path, name) => {
    expect(secretKind(path)?.name).toBe(name);
  });

  test('of a key store nothing is kept', () => {
    expect(secretKind('a.p12')?.form).toBe('key-store');
    expect(secretKind('.env')?.form).toBe('values');
  });
});
