import { parentPath } from '../../core/text/path.ts';
import { type Name, named, placed, wordsOf } from './names.ts';

/** Documents that an agent reads by itself. */
export const AGENT_DOCUMENT: RegExp =
  /(^|\/)(CLAUDE(\.local)?|AGENTS?(\.override)?|GEMINI|QWEN|CONVENTIONS|CRUSH(\.local)?|OpenCode(\.local)?)\.md$|(^|\/)\.(claude|cursor)\/.*\.(md|mdc)$/i;
const TAKEN_OVER = /(?:^|[\s(])@((?:\.{1,2}\/|\/)*\w[\w./-]{0,200})/gm;

/** The files that a document of an agent includes: a path begins in the folder of its document. */
export const namesOfDocument = (path: string, text: string): Name[] =>
  named(
    'file',
    wordsOf(TAKEN_OVER, text).flatMap((word) => placed(parentPath(path), word) ?? []),
  );
