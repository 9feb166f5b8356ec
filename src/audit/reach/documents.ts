import { decodeBytes, parentPath } from '../../core/text/path.ts';

/** Documents that an agent reads by itself. */
const AGENT_DOCUMENT =
  /(^|\/)(CLAUDE(\.local)?|AGENTS?(\.override)?|GEMINI|QWEN|CONVENTIONS|CRUSH(\.local)?|OpenCode(\.local)?)\.md$|(^|\/)\.(claude|cursor)\/.*\.(md|mdc)$/i;
const TAKEN_OVER = /(?:^|[\s(])@((?:\.{1,2}\/|\/)*\w[\w./-]{0,200})/gm;
/** The most documents that are read from all agent documents together. */
const MAX_DOCUMENTS = 500;
const MAX_DOCUMENT_CHARS = 1 << 20;

export const isAgentDocument = (path: string): boolean => AGENT_DOCUMENT.test(path);

/**
 * The files that documents of an agent include, and that these include, at any depth, each with the file that names it.
 * A path begins in the folder of its document. `read`: the contents of a file, of which there may be two.
 */
export function includedDocuments(
  documents: readonly string[],
  read: (path: string) => readonly Buffer[],
): readonly (readonly [by: string, path: string])[] {
  const out: [string, string][] = [];
  const seen = new Set<string>(documents);
  const left = [...documents];
  for (let by = left.pop(); by !== undefined && seen.size < MAX_DOCUMENTS; by = left.pop())
    for (const bytes of read(by))
      for (const [, word = ''] of decodeBytes(bytes).slice(0, MAX_DOCUMENT_CHARS).matchAll(TAKEN_OVER))
        for (const path of placesOf(parentPath(by), word.replace(/[.:]+$/, ''))) {
          out.push([by, path]);
          if (seen.has(path)) continue;
          seen.add(path);
          left.push(path);
        }
  return out;
}

/** A path from the folder of its document; none that leaves the tree. */
function placesOf(dir: string, word: string): string[] {
  const stack = dir === '' ? [] : dir.split('/');
  for (const part of word.split('/')) {
    if (part === '' || part === '.') continue;
    if (part !== '..') stack.push(part);
    else if (stack.pop() === undefined) return [];
  }
  return [stack.join('/')];
}
