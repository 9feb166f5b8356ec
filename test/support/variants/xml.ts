import type { Mutator } from './mutator.ts';

const isXml = (text: string): boolean => /^\s*<[?!\w]/.test(text);
const of = (name: string, rewrite: (text: string) => string): Mutator => ({
  name: `xml ${name}`,
  text: (text, path) => (isXml(text) && !/\.(html?|md|php|tt|vue|svelte)$/.test(path) ? rewrite(text) : undefined),
});

export const XML_MUTATORS: readonly Mutator[] = [
  of('with single quotes', (text) => text.replace(/="([^"'<]*)"/g, "='$1'")),
  of('with blanks in tags', (text) =>
    text.replace(/(<[\w.:-]+(?:\s[^<>]*?)?)(\/?>)/g, '$1\n$2').replace(/(\s[\w.:-]+)=(?=["'])/g, '$1 = '),
  ),
  of('with character references', (text) =>
    text.replace(/="([A-Za-z])/g, (_, letter: string) => `="&#x${letter.charCodeAt(0).toString(16)};`),
  ),
  of('with comments', (text) => text.replace(/><(?=[A-Za-z])/g, '><!-- x --><')),
  of('on lines of their own', (text) => text.replace(/></g, '>\n<')),
  of('on one line', (text) => text.replace(/>\s*\n\s*</g, '><')),
  of('with CDATA', (text) => text.replace(/>([^<>&\s][^<>&]*)<\//g, '><![CDATA[$1]]></')),
];
