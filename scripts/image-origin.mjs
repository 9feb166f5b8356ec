// What publish-image.sh knows of an image, and the pins that it writes:
//   base ARCH                          the digest of the base image that the registry names, into images/pins.json
//   describe TAG REPOSITORY DIGEST DIR what the image was made of, into DIR/provenance.json and DIR/sbom.spdx.json
//   pin ARCH REPOSITORY TAG DIGEST     where the image is published, into images/pins.json
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const PINS = 'images/pins.json';

/** The digest of the base for an architecture. A registry that does not answer leaves the pins as they are. */
function pinBase(arch) {
  const pins = readPins();
  const { reference } = pins.debian;
  let answer;
  try {
    // As the engine does, the command line speaks plain HTTP to a registry of this machine.
    const plain = /^(localhost|127\.[\d.]+)[:/]/.test(reference) ? ['--insecure'] : [];
    const argv = ['manifest', 'inspect', '--verbose', ...plain, reference];
    answer = docker(argv, { DOCKER_CLI_EXPERIMENTAL: 'enabled' });
  } catch {
    process.stderr.write(`No registry answers for ${reference}: its digest stays as it is.\n`);
    return;
  }
  const manifests = [JSON.parse(answer)].flat();
  const digest = manifests.find(
    ({ Descriptor: { platform } }) => platform?.os === 'linux' && platform.architecture === arch,
  )?.Descriptor.digest;
  if (digest === undefined) throw new Error(`${reference} has no image for ${arch}`);
  writePins({ ...pins, debian: { ...pins.debian, digests: { ...pins.debian.digests, [arch]: digest } } });
}

function pin(arch, repository, address, digest) {
  const pins = readPins();
  // Images of another repository or of an earlier release are not this release's.
  const images = pins.published?.repository === repository ? pins.published.images : {};
  writePins({ ...pins, published: { repository, images: { ...images, [arch]: { address, digest } } } });
}

function describe(tag, repository, digest, dir) {
  const { Architecture: arch, Config, RootFS, Created } = JSON.parse(docker(['image', 'inspect', tag]))[0];
  const pins = readPins();
  const packages = pins.packages[arch] ?? [];
  const base = pins.debian.digests?.[arch];
  mkdirSync(dir, { recursive: true });
  writeJson(join(dir, 'provenance.json'), {
    _type: 'https://in-toto.io/Statement/v1',
    subject: [{ name: repository, digest: { sha256: digest.replace('sha256:', '') } }],
    predicateType: 'https://slsa.dev/provenance/v1',
    predicate: {
      buildDefinition: {
        buildType: 'run-claude build',
        externalParameters: { address: tag, inputs: JSON.parse(Config.Labels['run-claude.inputs']) },
        resolvedDependencies: [
          {
            uri: `git+${git('remote', 'get-url', 'origin') || 'local'}`,
            digest: { gitCommit: git('rev-parse', 'HEAD') },
          },
          { uri: `docker:${pins.debian.reference}`, ...(base && { digest: { sha256: base.replace('sha256:', '') } }) },
          ...packages.map(({ name, version, integrity }) => ({
            uri: `pkg:npm/${name.replace('@', '%40')}@${version}`,
            digest: { sha512: Buffer.from(integrity.replace('sha512-', ''), 'base64').toString('hex') },
          })),
        ],
      },
      runDetails: { builder: { id: 'scripts/publish-image.sh' }, metadata: { finishedOn: Created } },
      layers: RootFS.Layers,
    },
  });
  writeJson(join(dir, 'sbom.spdx.json'), bill({ tag, repository, digest, created: Created, packages, arch }));
}

/** The Debian packages that dpkg lists in the image, and the npm packages that it was made with. */
function bill({ tag, repository, digest, created, packages, arch }) {
  // biome-ignore lint/suspicious/noTemplateCurlyInString: dpkg-query's own placeholders
  const format = '${Package}\\t${Version}\\t${Architecture}\\n';
  const run = ['run', '--rm', '--network', 'none', '--entrypoint', 'dpkg-query', tag, '-W', '-f', format];
  const debian = docker(run)
    .trim()
    .split('\n')
    .map((line) => line.split('\t'));
  const described = [
    ...debian.map(([name, version, of]) => ({
      name,
      version,
      uri: `pkg:deb/debian/${name}@${encodeURIComponent(version)}?arch=${of}`,
    })),
    ...packages.map(({ name, version }) => ({ name, version, uri: `pkg:npm/${name.replace('@', '%40')}@${version}` })),
  ];
  const image = { SPDXID: 'SPDXRef-image', name: repository, versionInfo: digest, downloadLocation: 'NOASSERTION' };
  const parts = described.map(({ name, version, uri }) => ({
    SPDXID: `SPDXRef-${createHash('sha256').update(uri).digest('hex').slice(0, 16)}`,
    name,
    versionInfo: version,
    downloadLocation: 'NOASSERTION',
    externalRefs: [{ referenceCategory: 'PACKAGE-MANAGER', referenceType: 'purl', referenceLocator: uri }],
  }));
  const contains = (id) => ({ spdxElementId: image.SPDXID, relationshipType: 'CONTAINS', relatedSpdxElement: id });
  return {
    spdxVersion: 'SPDX-2.3',
    dataLicense: 'CC0-1.0',
    SPDXID: 'SPDXRef-DOCUMENT',
    name: `run-claude image for ${arch}`,
    documentNamespace: `https://spdx.org/spdxdocs/run-claude-${digest.replace(':', '-')}`,
    creationInfo: { created: created.replace(/\.\d+Z$/, 'Z'), creators: ['Tool: run-claude-publish-image'] },
    packages: [image, ...parts],
    relationships: [
      { spdxElementId: 'SPDXRef-DOCUMENT', relationshipType: 'DESCRIBES', relatedSpdxElement: image.SPDXID },
      ...parts.map(({ SPDXID }) => contains(SPDXID)),
    ],
  };
}

function docker(argv, more = {}) {
  return execFileSync('docker', argv, {
    encoding: 'utf8',
    env: { ...process.env, ...more },
    maxBuffer: 64 << 20,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
}

function git(...argv) {
  try {
    return execFileSync('git', argv, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  } catch {
    return '';
  }
}

const readPins = () => JSON.parse(readFileSync(PINS, 'utf8'));
const writePins = (pins) => writeJson(PINS, pins);

function writeJson(file, value) {
  writeFileSync(file, `${JSON.stringify(value, null, 2)}\n`);
}

const [action, ...rest] = process.argv.slice(2);
const actions = { base: pinBase, describe, pin };
if (!Object.hasOwn(actions, action)) throw new Error(`unknown action ${action}`);
actions[action](...rest);
