// The packages whose code is in the bundle: their licenses, and the bill of materials (CycloneDX). Pure, but for readPackages.
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** @typedef {{ name: string, version: string, license: string, author: string, text: string }} Package `text`: of its license */

/** Texts of licenses for packages without their own file: the standard ones, from spdx.org. */
const TEXTS = path.join(import.meta.dirname, 'license-texts');

/**
 * @param {Iterable<string>} ids of modules
 * @returns {Package[]} sorted by name and version, each once
 * @throws {Error} where a package has no license, or one without a text
 */
export function readPackages(ids) {
  const dirs = [...ids].flatMap((id) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(id)?.[0] ?? []);
  const packages = new Map([...new Set(dirs)].map(readPackage).map((one) => [`${one.name} ${one.version}`, one]));
  return [...packages].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, one]) => one);
}

/** @param {string} dir @returns {Package} */
function readPackage(dir) {
  const { name, version, license, author } = JSON.parse(readFileSync(path.join(dir, 'package.json'), 'utf8'));
  if (typeof license !== 'string') throw new Error(`${name} ${version} names no license`);
  const file = readdirSync(dir).find((one) => /^licen[cs]e/i.test(one));
  const holder = typeof author === 'string' ? author : (author?.name ?? '');
  const text = file === undefined ? standardText(license, holder, name) : readFileSync(path.join(dir, file), 'utf8');
  return { name, version, license, author: holder, text: text.trim() };
}

/** @param {string} license @param {string} holder @param {string} name */
function standardText(license, holder, name) {
  if (holder === '') throw new Error(`${name} has no license file and no author`);
  return readFileSync(path.join(TEXTS, `${license}.txt`), 'utf8').replace('<copyright holder>', holder);
}

/** @param {Package[]} packages @returns {string} licenses.txt */
export function licenseTexts(packages) {
  return packages.map(({ name, version, license, text }) => `${name} ${version} (${license})\n\n${text}\n`).join('\n');
}

/** @param {{ name: string, version: string }} of @returns {string} */
const purl = ({ name, version }) => `pkg:npm/${name.replace('@', '%40')}@${version}`;

/**
 * The same bytes for the same bundle: no time, no random serial number.
 * @param {Package[]} packages
 * @param {{ name: string, version: string, license: string }} own
 * @returns {string} sbom.cdx.json
 */
export function billOfMaterials(packages, own) {
  /** @param {{ name: string, version: string, license: string }} one @param {string} type */
  const component = ({ name, version, license }, type) => ({
    type,
    'bom-ref': purl({ name, version }),
    name,
    version,
    // An expression such as `(MIT OR CC0-1.0)` has its own field.
    licenses: [/[ (]/.test(license) ? { expression: license } : { license: { id: license } }],
    purl: purl({ name, version }),
  });
  const bill = {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: { lifecycles: [{ phase: 'build' }], component: component(own, 'application') },
    components: packages.map((one) => component(one, 'library')),
    dependencies: [{ ref: purl(own), dependsOn: packages.map(purl) }, ...packages.map((one) => ({ ref: purl(one) }))],
  };
  return `${JSON.stringify(bill, null, 2)}\n`;
}
