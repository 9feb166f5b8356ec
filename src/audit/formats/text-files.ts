import { matcherOf } from './glob.ts';
import { words } from './words.ts';

const endingIn = (endings: readonly string[]): readonly string[] => endings.map((ending) => `*.${ending}`);

/** Files that people read, in whatever language. */
const PROSE: readonly string[] = [
  '*.{md,markdown,rst,txt,adoc,htm,html,po,pot,xlf,arb,strings,srt,vtt,tex}',
  '{locale,locales,i18n,translation,translations,lang}/**',
];

/** Source by its extension or name: files that are always text. */
const SOURCE: readonly string[] = [
  ...endingIn(words`
    js cjs mjs jsx ts cts mts tsx vue svelte py pyw rb php pl pm lua sh bash zsh fish ps1 bat cmd c h cc cpp hpp
    cs java kt kts scala go rs swift m r jl ex exs erl hs ml clj dart groovy gradle sql tf mk cmake
  `),
  '{makefile,dockerfile,gemfile,rakefile,justfile}',
];

const IGNORE_LISTS = words`
  ignore gitignore dockerignore containerignore npmignore hgignore eslintignore prettierignore stylelintignore fdignore
  vscodeignore helmignore gcloudignore ebignore cfignore vercelignore nowignore slugignore cursorignore
  gitleaksignore aiderignore clineignore geminiignore codeiumignore rgignore agignore semgrepignore trivyignore terraformignore
  artifactignore bazelignore chefignore jshintignore jscsignore markdownlintignore remarkignore solhintignore p4ignore
  cvsignore bzrignore earthlyignore funcignore luacheckignore nycignore snykignore tfignore yarnignore sourceryignore
`.join(' ');

/** Text that no program is: prose, data, styles, schemas, what tests compare with, keys, and lists for git. */
const PROSE_AND_DATA = words`
  md markdown rst txt text adoc asciidoc textile org rtf htm html xhtml tex ltx sty cls bib po pot xlf xliff arb strings
  srt vtt json json5 jsonc jsonl ndjson geojson topojson webmanifest map har avsc yml yaml toml ini cfg conf cnf
  properties lock sum xml xsd xsl xslt svg dtd plist resx xaml storyboard xib csv tsv psv tab dat log out err diff patch
  snap golden expected stdout stderr approved css scss sass less styl pcss proto thrift graphql graphqls gql fbs capnp pem
  crt cer key pub asc sig gpg ${IGNORE_LISTS} gitattributes editorconfig mailmap gitmodules gitkeep obj mtl stl gltf ply drawio
  puml mmd dot gv feature license notice env example sample
`;

/** Whatever may be a program: every text that is not known as prose or data. Templates and notebooks are programs. */
export const CODE: readonly string[] = ['*', ...endingIn(PROSE_AND_DATA).map((glob) => `!${glob}`)];

/** Several rules in turn ask for the same path. */
function rememberLast(isOfKind: (path: string) => boolean): (path: string) => boolean {
  let [last, was] = ['', false];
  return (path) => {
    if (path !== last) [last, was] = [path, isOfKind(path)];
    return was;
  };
}

export const isProse = rememberLast(matcherOf(PROSE));
export const isSource = rememberLast(matcherOf(SOURCE));
export const isCode = rememberLast(matcherOf(CODE));

const INSTALLED = /(^|\/)(node_modules|vendor|third_party|\.venv|venv|\.tox|\.nox|site-packages)\//i;

/** Whether a path is below a folder into which package managers install. */
export const isInstalled = (path: string): boolean => INSTALLED.test(path);
