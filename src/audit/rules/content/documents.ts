import { anyOf, oneOf, pattern } from '../../formats/words.ts';
import type { Rule } from '../../judges/rule.ts';

const ASSISTANTS = oneOf`
  claude copilot cursor gemini codex chatgpt assistant
`;
const IGNORED_OBJECTS = oneOf`
  all any every\w* the your this these those what previous prior above earlier other my its instructions?
  rules? safety security user users warnings? that
`;

/** Documents, pages, data and messages that act when they are opened or read. */
export const DOCUMENTS_SIGNALS: readonly Rule[] = [
  {
    id: 'csv-formula',
    title: 'Spreadsheet formula in a data file',
    family: 'content',
    when: 'reading, running or opening the file',
    severity: 'suspect',
    files: ['*.{csv,tsv,slk,iqy,dif}'],
    look: [{ kind: 'signal', danger: /(^|[,;\t]"?)\s?([=+@-](?=[A-Za-z@=+]{1,40}(\(|\||!))|=\(|=[^,;\t]{1,40}\|)/ }],
    why: 'Opening it in a spreadsheet evaluates it.',
    source: 'OWASP, CSV injection',
  },
  {
    id: 'agent-instruction',
    title: 'Text addressed to an agent',
    family: 'content',
    when: 'reading, running or opening the file',
    severity: 'suspect',
    files: ['*', '!*.{lock,map}'],
    look: [
      {
        kind: 'signal',
        danger: anyOf(
          /\bignore\s+(all\s+|any\s+)?(the\s+|your\s+)?(previous|prior|above|earlier)\s+(instructions|prompts?|rules)/i,
          /\bdisregard\s+(all\s+|any\s+)?(the\s+|your\s+)?(previous|prior|above)\b/i,
          /\b(AI|LLM)\s+(agents?|assistants?|models?)\s+(must|should|shall|have to)\b/i,
          pattern(
            'i',
          )`\b(${ASSISTANTS})[,:]?\s+(you\s+)?(must|should now|shall)\s+(run|execute|call|fetch|read|send|install)\b`,
          pattern(
            'i',
          )`<!--.{0,200}\b(you must|(?<![-\w])ignore\s+(${IGNORED_OBJECTS})|run the|execute|system prompt)\b`,
          /\[system\]\(#|<\|im_start\|>/i,
        ),
      },
    ],
    why: 'The next assistant that reads it may do what it says.',
    source: 'prompt-injection literature',
  },
  {
    id: 'html-active',
    title: 'Active content in a document or page',
    family: 'content',
    when: 'reading, running or opening the file',
    severity: 'suspect',
    files: [
      '*.{htm,html,xhtml,svg,md,mdx,markdown,css,vue,hbs,ejs,erb,twig,njk,pug,cshtml,pdf,ipynb}',
      '*{_document,layout}.*{,/**}',
      '!{test,tests,testdata,__tests__,spec,specs,fixtures,__fixtures__}/**',
    ],
    look: [
      {
        kind: 'signal',
        danger: anyOf(
          /<script[^>]{0,300}\ssrc\s*=\s*["']?(https?:)?\/\//i,
          /<(iframe|object|embed)\b[^>]{0,200}(src|data)\s*=\s*["']?(https?:)?\/\/|\bjavascript:|<foreignObject/i,
          /@import\s+(url\()?["']?https?:/i,
          /<link[^>]{0,200}href\s*=\s*["']?https?:\/\/[^"'>]{0,200}[^>]{0,100}stylesheet|\/(OpenAction|Launch)\b/i,
          /\/JavaScript\s*(\(|<|\d{1,9} \d{1,5} R)|<img[^>]{0,200}\bon(error|load)\s*=|<svg[^>]{0,200}\bonload\s*=/i,
          /\]\((search-ms|ms-(?!windows-store)[\w-]{1,30}|command|smb|ldap):/i,
        ),
      },
    ],
    why: 'Opening it runs a script or loads from another host.',
    source: 'SVG security; Magecart reports',
  },
  {
    id: 'svg-script',
    title: 'Script in a picture',
    family: 'content',
    when: 'reading, running or opening the file',
    severity: 'suspect',
    files: ['*.svg{,z}'],
    look: [{ kind: 'signal', danger: /<script|\bon[a-z]{3,12}\s*=|<!ENTITY/i }],
    why: 'Opening it in a browser runs it.',
    source: 'SVG security',
  },
  {
    id: 'xml-entity',
    title: 'XML entity or external document type',
    family: 'content',
    when: 'reading, running or opening the file',
    severity: 'suspect',
    files: ['*.{xml,xsd,xsl,svg,plist,pom,csproj,config,resx,xhtml,dtd}'],
    look: [{ kind: 'signal', danger: /<!ENTITY|<!DOCTYPE[^>]{0,200}SYSTEM\s+["'](?!http:\/\/www\.(apple|w3)\.)/i }],
    why: 'Parsers read files, or use memory without a limit.',
    source: 'billion laughs, XXE',
  },
  {
    id: 'commit-words',
    title: 'Commit message that skips checks or signs for others',
    family: 'content',
    when: 'reading, running or opening the file',
    severity: 'suspect',
    files: ['.gitmessage', '.git-commit-template', 'commit{,-,_}template*'],
    look: [
      {
        kind: 'signal',
        danger:
          /\[(skip ci|ci skip|no ci|skip actions)\]|\*\*\*NO_CI|^(signed-off-by|reviewed-by|co-authored-by|acked-by):|^BREAKING CHANGE|^release-as:|\b(closes|fixes|resolves) #\d/i,
      },
    ],
    why: 'These words of a template skip CI, close issues or sign for another author.',
    source: 'GitHub, GitLab and semantic-release documentation',
  },
];
