import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { packageRoot } from '../../../support/scene.ts';

// A registry on loopback, and a copy of the package with its own release in it: what is built, published and
// fetched here has addresses that no other test uses.
const dir = mkdtempSync(path.join(tmpdir(), 'run-claude-published-'));
const copy = path.join(dir, 'package');
const pinsFile = path.join(copy, 'images/pins.json');
const made = new Set<string>();
let registry: ChildProcess;
let host: string;

interface PinsFile {
  readonly debian: { readonly reference: string; readonly digests?: Record<string, string> };
  readonly claudeVersion: string;
  readonly published?: {
    readonly repository: string;
    readonly images: Record<string, { readonly digest: string; readonly address: string }>;
  };
}
const readPins = (): PinsFile => JSON.parse(readFileSync(pinsFile, 'utf8')) as PinsFile;
const writePins = (pins: PinsFile): void => writeFileSync(pinsFile, JSON.stringify(pins));
const docker = (...argv: string[]): string => execFileSync('docker', argv, { encoding: 'utf8' }).trim();
const arch = (): string => docker('version', '--format', '{{.Server.Arch}}');

function build(argv: readonly string[], env: NodeJS.ProcessEnv = {}): { readonly tag: string; readonly said: string } {
  const main = path.join(copy, 'dist/main.js');
  const run = spawnSync(process.execPath, [main, 'build', ...argv], {
    encoding: 'utf8',
    env: { ...process.env, ...env },
  });
  const tag = run.stdout.trim();
  if (tag !== '') made.add(tag);
  return { tag, said: run.stderr };
}

async function startRegistry(): Promise<void> {
  const probe = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => probe.once('listening', resolve));
  host = `127.0.0.1:${(probe.address() as AddressInfo).port}`;
  await new Promise((resolve) => probe.close(resolve));
  const config = path.join(dir, 'registry.yml');
  writeFileSync(
    config,
    `version: 0.1\nstorage: { filesystem: { rootdirectory: ${dir}/registry } }\nhttp: { addr: '${host}' }\nlog: { level: error }\n`,
  );
  registry = spawn('docker-registry', ['serve', config], { stdio: 'ignore' });
  for (;;) {
    if (
      await fetch(`http://${host}/v2/`).then(
        ({ ok }) => ok,
        () => false,
      )
    )
      return;
    await sleep(100);
  }
}

beforeAll(async () => {
  for (const part of ['dist', 'images', 'seccomp', 'scripts', 'Dockerfile', 'package.json'])
    cpSync(path.join(packageRoot, part), path.join(copy, part), { recursive: true });
  symlinkSync(path.join(packageRoot, 'node_modules'), path.join(copy, 'node_modules'));
  // A file more in the image gives it its own address; all layers before it are in the engine's cache.
  writeFileSync(path.join(copy, 'images/network/root/etc/run-claude-test'), randomBytes(8).toString('hex'));
  await startRegistry();
});

afterAll(() => {
  registry?.kill();
  for (const tag of made) spawnSync('docker', ['rmi', tag]);
  const left = docker('images', '--quiet', `${host}/run-claude`).split('\n').filter(Boolean);
  for (const id of new Set(left)) spawnSync('docker', ['rmi', '--force', id]);
  rmSync(dir, { recursive: true, force: true });
});

describe.sequential('a published image', () => {
  it('is pushed with its origin, pinned by digest, and so is the base that the registry has', async () => {
    const base = `${host}/debian:test`;
    docker('tag', readBase(), base);
    docker('push', '--quiet', base);
    const pins = readPins();
    writePins({ ...pins, debian: { ...pins.debian, reference: base } });
    const published = spawnSync('sh', ['scripts/publish-image.sh', `${host}/run-claude`], {
      cwd: copy,
      encoding: 'utf8',
    });
    expect(published.stderr).not.toContain('rror');
    const { debian, published: pinned } = readPins();
    const image = pinned?.images[arch()];
    made.add(image?.address ?? '');
    expect(published.stdout).toBe(`${arch()} ${host}/run-claude@${image?.digest}\n`);
    expect(debian.digests?.[arch()]).toMatch(/^sha256:[0-9a-f]{64}$/);
    const { tags } = (await (await fetch(`http://${host}/v2/run-claude/tags/list`)).json()) as { tags: string[] };
    expect(tags.filter((tag) => tag.endsWith('.origin'))).toHaveLength(1);
    const origin = (name: string): unknown =>
      JSON.parse(readFileSync(path.join(copy, 'image-origin', arch(), name), 'utf8'));
    expect(origin('provenance.json')).toMatchObject({
      subject: [{ digest: { sha256: image?.digest.slice(7) } }],
      predicate: { buildDefinition: { externalParameters: { address: image?.address } } },
    });
    const bill = origin('sbom.spdx.json') as { packages: { name: string }[] };
    const names = bill.packages.map(({ name }) => name);
    expect(names).toEqual(
      expect.arrayContaining(['git', 'libc6', 'npm', `@anthropic-ai/claude-code-linux-${npmArch()}`]),
    );
  });

  it('is fetched by its digest and attacked before it is used', () => {
    const { digest, address } = readPins().published?.images[arch()] ?? { digest: '', address: '' };
    removeImage(address);
    const { tag, said } = build(['--without-certificates']);
    expect(tag).toBe(address);
    expect(said).toContain(`Fetching the image ${host}/run-claude@${digest}`);
    expect(said).toContain('Attacking a container');
    expect(said).not.toContain('Building');
  });

  it('gets the certificate authorities of this machine as one more layer', () => {
    const file = path.join(dir, 'authority.pem');
    execFileSync('openssl', [
      ...['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', '/CN=run-claude test authority'],
      ...['-keyout', path.join(dir, 'key.pem'), '-out', file],
    ]);
    const { tag, said } = build([], { NODE_EXTRA_CA_CERTS: file });
    expect(said).toContain('Fetching the image');
    expect(said).not.toContain('Building');
    expect(tag).not.toBe(readPins().published?.images[arch()]?.address);
    const [pem] = readFileSync(file, 'utf8').match(/^[A-Za-z0-9+/]{64}$/m) ?? [''];
    expect(docker('run', '--rm', '--network', 'none', tag, 'cat', '/etc/ssl/certs/ca-certificates.crt')).toContain(pem);
  });

  it('is refused where its probes find a missing layer, and gets no name', () => {
    const pins = readPins();
    const address = pins.published?.images[arch()]?.address ?? '';
    removeImage(address);
    // Another image of the same registry under the pinned digest: it has no probes.
    const wrong = docker('inspect', '--format', '{{index .RepoDigests 0}}', `${host}/debian:test`).split('@')[1] ?? '';
    docker('tag', `${host}/debian:test`, `${host}/run-claude:wrong`);
    docker('push', '--quiet', `${host}/run-claude:wrong`);
    writePins(withDigest(pins, wrong));
    const { tag, said } = build(['--without-certificates']);
    writePins(pins);
    expect(tag).toBe('');
    expect(said).toMatch(/probes|attack/i);
    expect(spawnSync('docker', ['image', 'inspect', address]).status).not.toBe(0);
  });

  it('is built here when the registry does not deliver it', () => {
    const pins = readPins();
    writePins(withDigest(pins, `sha256:${'0'.repeat(64)}`));
    const { tag, said } = build(['--without-certificates']);
    writePins(pins);
    expect(said).toContain('The image is built on this machine instead.');
    expect(tag).toBe(pins.published?.images[arch()]?.address);
  });
});

/** The base of this machine's images: made here, or fetched. */
function readBase(): string {
  const own = `run-claude-base:bookworm-${arch()}`;
  return docker('images', '--quiet', own) === '' ? readPins().debian.reference : own;
}

function npmArch(): string {
  return arch() === 'amd64' ? 'x64' : arch();
}

function removeImage(address: string): void {
  const { repository } = { repository: `${host}/run-claude` };
  spawnSync('docker', ['rmi', address]);
  for (const digest of docker('images', '--digests', '--format', '{{.Digest}}', repository).split('\n').filter(Boolean))
    spawnSync('docker', ['rmi', `${repository}@${digest}`]);
}

function withDigest(pins: PinsFile, digest: string): PinsFile {
  const { published } = pins;
  if (published === undefined) throw new Error('nothing is published');
  const image = published.images[arch()];
  if (image === undefined) throw new Error('nothing is published for this architecture');
  return { ...pins, published: { ...published, images: { [arch()]: { ...image, digest } } } };
}
