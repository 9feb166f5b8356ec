import { anyOf, oneOf, pattern } from '../formats/words.ts';

/** Files that people read, in whatever language. */
export const PROSE = anyOf(
  /\.(md|mdx|markdown|rst|txt|adoc|html?|po|pot|xlf|arb|strings|srt|vtt|tex)$/i,
  /(^|\/)(locales?|i18n|translations?|lang)\//i,
);

const CODE_EXTENSIONS = oneOf`
  js cjs mjs jsx ts cts mts tsx vue svelte py pyw rb php pl pm lua sh bash zsh fish ps1 bat cmd c h cc cpp hpp
  cs java kt kts scala go rs swift m r jl ex exs erl hs ml clj dart groovy gradle sql tf mk cmake
`;
/** Source by its extension or name. */
export const CODE = anyOf(
  pattern('i')`\.(${CODE_EXTENSIONS})$`,
  /(^|\/)(makefile|dockerfile|gemfile|rakefile|justfile)$/i,
);
