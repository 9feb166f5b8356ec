import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { packageRoot } from '../../core/host/package.ts';
import { commandNamed, WHOLE_HELP } from '../grammar/commands.ts';
import { noSuchTopic } from '../grammar/grammar-errors.ts';
import { helpText } from '../grammar/help.ts';

/** Lists the pages. `docs/audit` is the page where `audit` is the command. */
const LIST = 'pages';
const DOCS = path.join(packageRoot, 'docs');

/**
 * The text of `run-claude help TOPIC`: that of a command, or a page of the documentation in the package.
 *
 * @throws {RunClaudeError} USAGE for a topic that does not exist
 */
export function helpAbout(topic: string | undefined, docs: string = DOCS): string {
  if (topic === undefined || topic === WHOLE_HELP || commandNamed.has(topic)) return helpText(topic);
  const pages = listPages(docs);
  if (topic === LIST) return [...pages.keys()].map((name) => `docs/${name}\n`).join('');
  const wanted = topic
    .toLowerCase()
    .replace(/^docs\//, '')
    .replace(/\.md$/, '');
  const page = [...pages].find(([name]) => `/${name.toLowerCase()}`.endsWith(`/${wanted}`))?.[1];
  if (page === undefined) throw noSuchTopic(topic, pages.keys());
  return plainPage(readFileSync(page, 'utf8'));
}

/** Names of the pages, as `help` takes them. */
export function pageNames(docs: string = DOCS): readonly string[] {
  return [...listPages(docs).keys()];
}

/** Pages by name: 'how-to/batch' for docs/how-to/batch.md. */
function listPages(docs: string): ReadonlyMap<string, string> {
  const names = readdirSync(docs, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.md'));
  return new Map(names.sort().map((name) => [name.slice(0, -'.md'.length), path.join(docs, name)]));
}

/** A page as a terminal shows it: no comments, no pictures, and links as their text. Code stays as it is. */
export function plainPage(markdown: string): string {
  let isCode = false;
  const lines = markdown.split('\n').flatMap((line) => {
    if (/^ *```/.test(line)) isCode = !isCode;
    if (isCode || /^ *```/.test(line)) return [line];
    if (/^ *<!-- .* -->$/.test(line) || /^!\[[^\]]*\]\([^)]*\)$/.test(line)) return [];
    return [line.replaceAll(/\[([^\]]*)\]\([^)\s]*\)/g, '$1').replaceAll('**', '')];
  });
  return lines.join('\n').replaceAll(/\n{3,}/g, '\n\n');
}
