import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { rootCertificates } from 'node:tls';
import { describe, expect, it } from 'vitest';
import { packageRoot } from '../../../../src/core/host/package.ts';
import { extraCertificates } from '../../../../src/environment/image/certificates.ts';
import { type ContextFile, imageTag, readImageFiles } from '../../../../src/environment/image/files.ts';
import { readPins } from '../../../../src/environment/image/pins/pins.ts';

const file = (path: string, content: string): ContextFile => ({ path, content: Buffer.from(content) });

describe('the image address', () => {
  it('changes with any byte, name or variant, and with nothing else', () => {
    const files = [file('Dockerfile', 'FROM x'), file('images/a/b.c', 'int a;')];
    const tag = imageTag(files, { arch: 'amd64', toolchain: '' });
    expect(tag).toMatch(/^run-claude:[0-9a-f]{16}$/);
    expect(
      imageTag(
        structuredClone(files).map((f) => file(f.path, Buffer.from(f.content).toString())),
        { toolchain: '', arch: 'amd64' },
      ),
    ).toBe(tag);
    const others = [
      imageTag([file('Dockerfile', 'FROM y'), files[1] as ContextFile], { arch: 'amd64', toolchain: '' }),
      imageTag([files[0] as ContextFile, file('images/a/c.c', 'int a;')], { arch: 'amd64', toolchain: '' }),
      imageTag([...files, file('ca/x.crt', '')], { arch: 'amd64', toolchain: '' }),
      imageTag(files, { arch: 'arm64', toolchain: '' }),
      imageTag(files, { arch: 'amd64', toolchain: 'gcc' }),
    ];
    expect(new Set([tag, ...others]).size).toBe(6);
  });

  it('pins the same packages for every architecture, each by hash', () => {
    const { packages, claudeVersion } = readPins(readImageFiles(packageRoot));
    expect(Object.keys(packages)).toEqual(['amd64', 'arm64']);
    for (const list of Object.values(packages)) {
      expect(list.map((entry) => entry.file)).toEqual(['node.tgz', 'npm.tgz', 'claude.tgz']);
      expect(list.at(-1)?.version).toBe(claudeVersion);
    }
  });

  it('refuses pins with an unknown field', () => {
    expect(() => readPins([file('images/pins.json', '{"extra":1}')])).toThrow(
      expect.objectContaining({ code: 'IMAGE_PINS' }),
    );
  });
});

describe('the extra certificates of this machine', () => {
  it('are those beyond the public ones, one file each', () => {
    const dir = mkdtempSync(join(tmpdir(), 'rc-ca-'));
    const [first] = rootCertificates;
    const own = '-----BEGIN CERTIFICATE-----\nQUJD\n-----END CERTIFICATE-----';
    writeFileSync(join(dir, 'bundle.pem'), `${first}\n# a comment\n${own}\n${own}\n`);
    const without = extraCertificates({});
    const found = extraCertificates({ NODE_EXTRA_CA_CERTS: join(dir, 'bundle.pem') });
    expect(found.length).toBe(without.length + 1);
    expect(found.filter((entry) => entry.content.toString() === `${own}\n`)).toHaveLength(1);
    expect(extraCertificates({ NODE_EXTRA_CA_CERTS: join(dir, 'missing') })).toEqual(without);
    // A public one that this version of Node does not have.
    writeFileSync(join(dir, 'public.crt'), own);
    const bundle = { NODE_EXTRA_CA_CERTS: join(dir, 'bundle.pem') };
    expect(extraCertificates(bundle, 'linux', dir)).toEqual(extraCertificates({}, 'linux', dir));
    rmSync(dir, { recursive: true });
  });
});
