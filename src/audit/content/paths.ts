import { anyOf, oneOf, pattern } from '../formats/words.ts';

/** Files that people read, in whatever language. */
export const PROSE = anyOf(
  /\.(md|markdown|rst|txt|adoc|html?|po|pot|xlf|arb|strings|srt|vtt|tex)$/i,
  /(^|\/)(locales?|i18n|translations?|lang)\//i,
);

const SOURCE_EXTENSIONS = oneOf`
  js cjs mjs jsx ts cts mts tsx vue svelte py pyw rb php pl pm lua sh bash zsh fish ps1 bat cmd c h cc cpp hpp
  cs java kt kts scala go rs swift m r jl ex exs erl hs ml clj dart groovy gradle sql tf mk cmake
`;
/** Source by its extension or name: files that are always text. */
export const SOURCE = anyOf(
  pattern('i')`\.(${SOURCE_EXTENSIONS})$`,
  /(^|\/)(makefile|dockerfile|gemfile|rakefile|justfile)$/i,
);

/** Text that no program is: prose, data, styles, schemas, what tests compare with, keys, and lists for git. */
const PROSE_AND_DATA = oneOf`
  md markdown rst txt text adoc asciidoc textile org rtf html? xhtml tex ltx sty cls bib po pot xlf xliff arb strings
  srt vtt json5? jsonc jsonl ndjson geojson topojson webmanifest map har avsc ya?ml toml ini cfg conf cnf properties
  lock sum xml xsd xslt? svg dtd plist resx xaml storyboard xib csv tsv psv tab dat log out err diff patch snap golden
  expected stdout stderr approved css scss sass less styl pcss proto thrift graphqls? gql fbs capnp pem crt cer key
  pub asc sig gpg \w*ignore gitattributes editorconfig mailmap gitmodules gitkeep obj mtl stl gltf ply drawio puml
  mmd dot gv feature license notice env example sample
`;
/** Whatever may be a program: every text that is not known as prose or data. Templates and notebooks are programs. */
export const PROGRAM = pattern('i')`^(?![^]*\.(${PROSE_AND_DATA})$)`;
