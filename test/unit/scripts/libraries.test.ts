import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { billOfMaterials, licenseTexts, readPackages } from '../../../scripts/bundled-packages.mjs';
import { placeDrawing } from '../../../scripts/draw-areas.mjs';
import { readSources } from '../../../scripts/imports.mjs';
import { drawLibraries, importedLibraries, readLicenses } from '../../../scripts/libraries.mjs';

const root = path.resolve(import.meta.dirname, '../../..');
const inModules = (file: string): string => path.join(root, 'node_modules', file);

describe('the table of libraries', () => {
  const libraries = importedLibraries(readSources(root));

  it('in docs/internals/architecture.md is current (npm run generate)', () => {
    const page = readFileSync(path.join(root, 'docs/internals/architecture.md'), 'utf8');
    const table = drawLibraries(libraries, readLicenses(root, libraries.keys()));
    expect(page).toBe(placeDrawing(page, 'libraries', table));
  });

  it('has every library that is loaded, and no other', () => {
    const planted = new Map([['src/a/b.ts', [{ specifier: 'left-pad/x.js', isType: false }]]]);
    expect([...importedLibraries(planted)]).toEqual([['left-pad', ['a']]]);
    expect(() => drawLibraries(importedLibraries(planted), new Map(), {})).toThrow('no task for left-pad');
    expect(() => drawLibraries(new Map(), new Map(), { gone: 'x' })).toThrow('nothing in src/ imports gone');
  });
});

describe('packages of the bundle', () => {
  it('are found by their modules, the innermost one, each once', () => {
    const ids = ['zod/index.js', 'tar-fs/a.js', 'tar-fs/b.js'];
    expect(readPackages(ids.map(inModules)).map(({ name }) => name)).toEqual(['tar-fs', 'zod']);
    expect(readPackages([path.join(root, 'src/main.ts')])).toEqual([]);
  });

  it('have a license text, the standard one where the package has no file', () => {
    const [one] = readPackages([inModules('split-ca/index.js')]);
    expect(one?.text).toMatch(/^Copyright \(c\) Charles Bushong\n\nPermission to use, copy, modify/);
  });

  it.each([
    ['no license', { author: 'A' }, 'names no license'],
    ['no license file, and no author', { license: 'ISC' }, 'no license file and no author'],
    ['no license file, and a license without a standard text', { license: 'Odd-1.0', author: 'A' }, 'Odd-1.0.txt'],
  ])('with %s fail the build', (_, described, message) => {
    const dir = mkdtempSync(path.join(tmpdir(), 'run-claude-packages-'));
    onTestFinished(() => rmSync(dir, { recursive: true }));
    const own = path.join(dir, 'node_modules/odd');
    mkdirSync(own, { recursive: true });
    writeFileSync(path.join(own, 'package.json'), JSON.stringify({ name: 'odd', version: '1.0.0', ...described }));
    expect(() => readPackages([path.join(own, 'index.js')])).toThrow(message);
  });

  it('are in the list of licenses and in the bill of materials, which has the same bytes each time', () => {
    const packages = readPackages([inModules('zod/index.js'), inModules('@secretlint/types/index.js')]);
    const own = { name: 'run-claude', version: '1.2.3', license: 'MIT' };
    const bill = JSON.parse(billOfMaterials(packages, own));
    expect(bill).toMatchObject({
      bomFormat: 'CycloneDX',
      specVersion: '1.6',
      metadata: { component: { version: '1.2.3' } },
    });
    expect(bill.components.map(({ name, purl }: { name: string; purl: string }) => [name, purl])).toEqual(
      packages.map(({ name, version }) => [name, `pkg:npm/${name.replace('@', '%40')}@${version}`]),
    );
    expect(bill.dependencies[0].dependsOn).toHaveLength(2);
    expect(billOfMaterials(packages, own)).toBe(billOfMaterials(packages, own));
    for (const { name, version } of packages) expect(licenseTexts(packages)).toContain(`${name} ${version} (`);
  });
});
