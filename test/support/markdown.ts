import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

const root = path.resolve(import.meta.dirname, '../..');

/** One fenced code block of a page. */
export interface CodeBlock {
  readonly language: string;
  readonly text: string;
  /** Line of the opening fence, from 1. */
  readonly line: number;
  /** Text of the HTML comment right above the block: `run` for `<!-- run -->`. */
  readonly marker: string | undefined;
}

/** Every page for users and contributors, as paths from the root of the repository. */
export function listPages(): string[] {
  const below = (dir: string): string[] =>
    readdirSync(path.join(root, dir), { recursive: true, encoding: 'utf8' }).map((name) => path.posix.join(dir, name));
  const all = [...below('docs'), ...below('examples'), 'README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'CHANGELOG.md'];
  return all.filter((name) => name.endsWith('.md')).sort();
}

/** Text of a page, by its path from the root of the repository. */
export function readPage(name: string): string {
  return readFileSync(path.join(root, name), 'utf8');
}

/** The fenced code blocks of a page, in order. Fences of three backticks only. */
export function codeBlocks(page: string): CodeBlock[] {
  const lines = page.split('\n');
  const blocks: CodeBlock[] = [];
  for (let at = 0; at < lines.length; at += 1) {
    const fence = /^( *)```(\w*)/.exec(lines[at] ?? '');
    if (fence === null) continue;
    const [, indent = '', language = ''] = fence;
    const end = lines.findIndex((line, row) => row > at && line === `${indent}\`\`\``);
    if (end < 0) throw new Error(`line ${at + 1}: the code block has no end`);
    const text = lines.slice(at + 1, end).map((line) => `${line.slice(indent.length)}\n`);
    blocks.push({ language, text: text.join(''), line: at + 1, marker: markerAbove(lines, at) });
    at = end;
  }
  return blocks;
}

function markerAbove(lines: readonly string[], fence: number): string | undefined {
  const above = lines[fence - 1]?.trim() === '' ? lines[fence - 2] : lines[fence - 1];
  return /^ *<!-- (.*) -->$/.exec(above ?? '')?.[1];
}

/** A page without its code: neither blocks nor spans. */
export function proseOf(page: string): string {
  return page.replaceAll(/^( *)```[\s\S]*?^\1```$/gm, '').replaceAll(/`[^`\n]*`/g, '');
}

/** The anchors that GitHub gives the headings of a page, and the ids of its own. */
export function anchorsOf(page: string): Set<string> {
  const anchors = new Set<string>();
  for (const [, heading = ''] of page.replaceAll(/^( *)```[\s\S]*?^\1```$/gm, '').matchAll(/^#+ (.*)$/gm)) {
    const text = heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').toLowerCase();
    const slug = text.replaceAll(/[^\p{L}\p{N}\p{M}_ -]/gu, '').replaceAll(' ', '-');
    let name = slug;
    for (let copy = 1; anchors.has(name); copy += 1) name = `${slug}-${copy}`;
    anchors.add(name);
  }
  for (const [, id = ''] of page.matchAll(/<a (?:id|name)="([^"]+)"/g)) anchors.add(id);
  return anchors;
}

/** Targets of the links and pictures of a page; code is left out. */
export function linksOf(page: string): string[] {
  const prose = proseOf(page);
  const inline = [...prose.matchAll(/\]\(([^)\s]+)(?: "[^"]*")?\)/g)].map(([, target = '']) => target);
  const html = [...prose.matchAll(/<(?:img|a) [^>]*(?:src|href)="([^"]+)"/g)].map(([, target = '']) => target);
  return [...inline, ...html];
}
