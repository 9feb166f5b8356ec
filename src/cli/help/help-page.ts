import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { packageRoot } from '../../core/host/package.ts';
import { wrapWords } from '../../terminal/columns/wrap-words.ts';
import { commandNamed, WHOLE_HELP } from '../grammar/commands.ts';
import { noSuchTopic } from '../grammar/grammar-errors.ts';
import { helpText } from '../grammar/help.ts';
import { plainPage } from './plain-page.ts';

/** Lists the pages. `docs/audit` is the page where `audit` is the command. */
const LIST = 'pages';
const DOCS = path.join(packageRoot, 'docs');

/** Whether `run-claude help TOPIC` is a page, or the list of them: longer than a screen, mostly. */
export function isPage(topic: string | undefined): boolean {
  return topic !== undefined && topic !== WHOLE_HELP && !commandNamed.has(topic);
}

/**
 * The text of `run-claude help TOPIC`: that of a command, or a page of the documentation in the package, for a terminal of
 * so many columns.
 *
 * @throws {RunClaudeError} USAGE for a topic that does not exist
 */
export function helpAbout(topic: string | undefined, columns = Number.POSITIVE_INFINITY, docs: string = DOCS): string {
  if (topic === undefined || !isPage(topic)) return helpText(topic);
  const pages = listPages(docs);
  if (topic === LIST) return pageList(pages, columns);
  const wanted = topic
    .toLowerCase()
    .replace(/^docs\//, '')
    .replace(/\.md$/, '');
  const page = [...pages].find(([name]) => `/${name.toLowerCase()}`.endsWith(`/${wanted}`))?.[1];
  if (page === undefined) throw noSuchTopic(topic, pages.keys());
  return plainPage(readFileSync(page, 'utf8'), columns);
}

/** Each page with its title, as 'docs/audit', which is not the command. */
function pageList(pages: ReadonlyMap<string, string>, columns: number): string {
  const width = [...pages.keys()].reduce((most, name) => Math.max(most, name.length), 0);
  const rows = [...pages].flatMap(([name, file]) => {
    const [, title = ''] = /^# (.*)$/m.exec(readFileSync(file, 'utf8')) ?? [];
    return wrapWords(`docs/${name.padEnd(width)}  ${title}`, columns);
  });
  return `${rows.join('\n')}\n`;
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
