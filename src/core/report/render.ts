import { usageError } from '../errors.ts';
import { jsonText } from './json.ts';
import { markdownReport } from './markdown.ts';
import { sarifReport } from './sarif.ts';
import type { Report } from './schema.ts';

const FORMATS: Readonly<Record<string, (report: Report) => string>> = {
  '.json': jsonText,
  '.sarif': sarifReport,
  '.md': markdownReport,
};

/**
 * The function that writes a report, by the file's ending.
 *
 * @throws {RunClaudeError} USAGE when no format has the ending.
 */
export function rendererFor(file: string): (report: Report) => string {
  const render = FORMATS[/\.[a-z]+$/.exec(file)?.[0] ?? ''];
  if (render === undefined) throw usageError(`--report ${file}: its name ends in .json, .sarif or .md`);
  return render;
}
