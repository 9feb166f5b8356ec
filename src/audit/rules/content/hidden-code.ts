import { CODE } from '../../formats/text-files.ts';
import { anyOf, oneOf, pattern } from '../../formats/words.ts';
import type { Rule } from '../../judges/rule.ts';

/** Functions that run a text as code. */
const EVALUATORS = oneOf`
  eval exec Function execScript setTimeout runInThisContext loadstring Invoke-Expression iex system popen
`;
const OPENS_ARGUMENT = /[(\s$"'`]/;
const DECODERS = oneOf`
  atob b64decode base64 fromCharCode fromCodePoint unhexlify fromhex decompress marshal codecs\.decode
  FromBase64String gzinflate str_rot13 unescape -d\b
`;
/** Code that does not look like what it does. */
export const HIDDEN_CODE_SIGNALS: readonly Rule[] = [
  {
    id: 'text-codec',
    title: 'Unusual source encoding',
    family: 'content',
    when: 'reading, running or opening the file',
    severity: 'suspect',
    files: [
      '*',
      '!*.*',
      '*.{py,pyw,rb,xml,xsd,xsl,xslt,svg,plist,pom,*proj,config,props,targets,resx,xaml,xhtml}{,.dist}',
    ],
    look: [
      {
        kind: 'signal',
        danger: /^#.{0,40}coding[:=]\s*[\w-]|^\s{0,4}<\?xml[^>]{0,80}encoding\s{0,4}=/i,

        harmless:
          /coding\s{0,4}[:=]\s{0,4}["']?(utf-?8(-sig)?|utf-16|latin-?1|ascii|us-ascii|iso-8859-\d+|cp1252|windows-125\d|gb2312|gbk|big5|euc-jp|shift_jis)\b/i,
      },
    ],
    why: 'The interpreter decodes the file into other code than is shown.',
    source: 'PEP 263',
  },
  {
    id: 'text-splice',
    title: 'Comment that continues on the next line',
    family: 'content',
    when: 'reading, running or opening the file',
    severity: 'suspect',
    files: ['*.{c,h,cc,cpp,cxx,hpp,hh,m,mm,cu,ino}'],
    look: [{ kind: 'signal', danger: /^(?=.*\/\/).*\\$|\?\?\// }],
    why: 'A backslash at its end makes the next line a comment.',
    source: 'C standard, translation phases',
  },
  {
    id: 'text-obfuscated',
    title: 'Code that decodes and runs text',
    family: 'content',
    when: 'reading, running or opening the file',
    severity: 'suspect',
    files: ['*', '!*.{md,rst,lock,map,svg,min.js}'],
    look: [
      {
        kind: 'signal',
        danger: anyOf(
          pattern('i')`\b(${EVALUATORS})\b\s*${OPENS_ARGUMENT.source}.{0,120}\b(${DECODERS})`,
          /\b(base64\s+(-d|--decode|-D)|xxd\s+-r)\b.{0,200}\|\s*(ba|z|da)?sh\b|\bmarshal\.loads\(/i,
          /-e(nc|ncodedcommand)\s+[A-Za-z0-9+/=]{40}|\beval\s+["']?\$\(.{0,80}base64/i,
          /_0x[0-9a-f]{1,12}\b.{0,200}_0x[0-9a-f]{1,12}|_0x[0-9a-f]+\s*=\s*\[|while\(--\w+\)\{\w+\.push\(\w+\.shift\(\)\)|\$'(\\x[0-9a-f]{2}){6}/i,
        ),
      },
    ],
    why: 'The code that runs cannot be read.',
    source: 'malware reports',
  },
  {
    id: 'text-blob',
    title: 'Long encoded text in a call',
    family: 'content',
    when: 'reading, running or opening the file',
    severity: 'note',
    files: [
      '*.{js,cjs,mjs,ts,py,rb,php,pl,lua,sh,ps1}',
      '!{test,tests,spec,specs,__tests__,testing}/**',
      '!*{.,_,-}{test,spec}{,s}.{js,cjs,mjs,ts,py,rb,php,pl,lua,sh}',
      '!test_*.py',
    ],
    look: [{ kind: 'signal', danger: /\w\(\s{0,4}["'`][A-Za-z0-9+/=]{200}|\w\(\s{0,4}["'`][0-9a-fA-F]{200}/ }],
    why: 'It may be data, or code that a decoder runs.',
    source: 'malware reports',
  },
  {
    id: 'text-built-word',
    title: 'Dynamic lookup of a function that runs code',
    family: 'content',
    when: 'reading, running or opening the file',
    severity: 'suspect',
    files: CODE,
    look: [
      {
        kind: 'signal',
        danger: anyOf(
          /\[\s*['"](ev|ex|re|req|Fun|chi|pro)['"]\s*\+\s*['"]|\\u00[67][0-9a-f](?=[a-z]{2,6}\s*\()/,
          /[\w.]\\u0{0,2}\{?[67][0-9a-f]\}?[a-z]*\s*\(|getattr\(\s*__builtins__/,
          /__import__\(\s*["'][^"']{0,20}["']\s*\+|\$\{IFS\}|\$0\s*<<<|import\(\s*["'`]data:/,
          /\brequire\(\s*["'][^"']{1,20}["']\s*\+|__builtins__\s*\[/,
        ),
        inCode: true,
      },
    ],
    why: 'The name of the function is assembled so that no search finds it.',
    source: 'ECMAScript identifiers',
  },
  {
    id: 'text-built-global',
    title: 'Dynamic lookup of a function that runs code',
    family: 'content',
    when: 'reading, running or opening the file',
    severity: 'suspect',
    // In files of other languages it is text for a browser or an engine.
    files: ['*', '!*.*', '*.{js,cjs,mjs,jsx,ts,cts,mts,tsx,mdx,vue,svelte,astro,svx,marko,htm,html,ejs,hbs,ipynb}'],
    look: [{ kind: 'signal', danger: /globalThis\[\s*[^'"\]]|\bReflect\.get\(\s*globalThis/ }],
    why: 'The name of the function is assembled so that no search finds it.',
    source: 'ECMAScript, the global object',
  },
  {
    id: 'diff-lookalike',
    title: 'Content that looks like a diff',
    family: 'content',
    when: 'reading, running or opening the file',
    severity: 'note',
    files: ['*', '!*.{diff,patch,md,rst}', '!{test,tests,fixtures,testdata}/**'],
    look: [
      {
        kind: 'signal',
        danger:
          /^(\+\+\+ b\/|--- a\/|\+\+ b\/|-- a\/|@@ -\d+(,\d+)? \+\d+|diff --git a\/|\\ No newline at end of file)/,
      },
    ],
    why: 'It may mislead a diff viewer; the one of run-claude marks every line itself.',
    source: 'unified diff format',
  },
];
