// Links of the packaged pages that lead out of the package become addresses of the repository while it is packed:
//   node scripts/pack-docs.mjs          (prepack)
//   node scripts/pack-docs.mjs restore  (postpack)
//   node scripts/pack-docs.mjs check DIR   a package that was unpacked to DIR: exit 1 and a line for each broken link
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const root = path.dirname(import.meta.dirname);
/** The pages as they were, while their rewritten text is packed. */
const KEPT = path.join(root, '.pack-docs.json');
/** npm packs these whatever `files` says. */
const ALWAYS = ['README.md', 'LICENSE', 'package.json'];
const LINK = /(\]\()([^)\s]+)(\))|((?:src|href)=")([^"]+)(")/g;
const CODE = /^( *)```[\s\S]*?^\1```$|`[^`\n]*`/gm;

/**
 * @param {readonly string[]} files `files` of package.json
 * @returns {(name: string) => boolean} whether a path of the repository is in the package
 */
export function packaged(files) {
  /** @type {(name: string, top: string) => boolean} */
  const isBelow = (name, top) => name === top || name.startsWith(`${top}/`);
  const left = files.filter((one) => one.startsWith('!')).map((one) => one.slice(1));
  return (name) =>
    [...ALWAYS, ...files].some((top) => isBelow(name, top) || isBelow(top, name)) &&
    !left.some((top) => isBelow(name, top));
}

/**
 * The page with an address in place of each relative link that leads out of the package. Code is left as it is.
 *
 * @param {string} page its path in the repository
 * @param {string} text
 * @param {(name: string) => boolean} isPackaged
 * @param {string} base the repository's address with the version: links are `BASE/PATH`
 */
export function packLinks(page, text, isPackaged, base) {
  /** @type {(target: string) => string} */
  const replaced = (target) => {
    if (/^([a-z]+:|#)/.test(target)) return target;
    const [file = '', anchor] = target.split('#');
    const name = path.posix.join(path.posix.dirname(page), file).replace(/\/$/, '');
    return isPackaged(name) ? target : `${base}/${name}${anchor === undefined ? '' : `#${anchor}`}`;
  };
  let at = 0;
  let out = '';
  /** @type {(part: string) => string} */
  const prose = (part) =>
    part.replaceAll(LINK, (_, a, link, b, c, attribute, d) => `${a ?? c}${replaced(link ?? attribute)}${b ?? d}`);
  for (const code of text.matchAll(CODE)) {
    out += prose(text.slice(at, code.index)) + code[0];
    at = code.index + code[0].length;
  }
  return out + prose(text.slice(at));
}

/**
 * @param {string} dir
 * @returns {string[]} relative links of the pages below a folder that lead to nothing, as 'page: target'
 */
export function brokenLinks(dir) {
  return pagesBelow(dir).flatMap((page) => {
    const text = readFileSync(path.join(dir, page), 'utf8').replaceAll(CODE, '');
    const targets = [...text.matchAll(LINK)].map(([, , link, , , attribute]) => link ?? attribute ?? '');
    return targets
      .filter((target) => !/^([a-z]+:|#)/.test(target))
      .filter((target) => !existsSync(path.join(dir, path.dirname(page), target.split('#')[0] ?? '')))
      .map((target) => `${page}: ${target}`);
  });
}

/** @param {string} dir */
function pagesBelow(dir) {
  const names = readdirSync(dir, { recursive: true, encoding: 'utf8' });
  return names.filter((name) => name.endsWith('.md') && statSync(path.join(dir, name)).isFile()).sort();
}

function pack() {
  restore();
  const { files, repository, version } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'));
  const isPackaged = packaged(files);
  const base = `${repository.url.replace(/^git\+|\.git$/g, '')}/blob/v${version}`;
  const tops = [...ALWAYS, ...files].filter((name) => !name.startsWith('!'));
  const pages = tops.flatMap((top) => {
    const at = path.join(root, top);
    if (!existsSync(at)) return [];
    return statSync(at).isDirectory() ? pagesBelow(at).map((name) => path.posix.join(top, name)) : [top];
  });
  /** @type {Record<string, { text: string, packedText: string }>} */
  const kept = {};
  for (const page of pages.filter((name) => name.endsWith('.md') && isPackaged(name))) {
    const text = readFileSync(path.join(root, page), 'utf8');
    const packedText = packLinks(page, text, isPackaged, base);
    if (packedText !== text) kept[page] = { text, packedText };
  }
  writeFileSync(KEPT, JSON.stringify(Object.fromEntries(Object.entries(kept).map(([page, { text }]) => [page, text]))));
  for (const [page, { packedText }] of Object.entries(kept)) writeFileSync(path.join(root, page), packedText);
}

function restore() {
  if (!existsSync(KEPT)) return;
  for (const [page, text] of Object.entries(JSON.parse(readFileSync(KEPT, 'utf8'))))
    writeFileSync(path.join(root, page), text);
  rmSync(KEPT);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const [, , what, dir] = process.argv;
  if (what === 'restore') restore();
  else if (what === 'check') {
    const broken = brokenLinks(dir ?? '.');
    for (const line of broken) console.error(`broken link: ${line}`);
    process.exitCode = broken.length === 0 ? 0 : 1;
  } else pack();
}
