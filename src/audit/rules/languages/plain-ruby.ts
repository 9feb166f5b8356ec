import { oneOf, pattern, words } from '../../formats/words.ts';
import type { HarmlessTable } from '../../judges/harmless-keys.ts';

/** Linters and language servers of Ruby. */
export const RUBY_TABLES: readonly HarmlessTable[] = [
  {
    files: ['.rubocop*.y{,a}ml', '.standard*.y{,a}ml', '.{erb,haml}{_,-}lint*.y{,a}ml', '.reek.yml', '.slim-lint.yml'],
    harmless: {
      // Cops are `Department/Name`; a custom one is loaded by `require` alone.
      switch: words`*** `,
      words: words`***`,
      text: words`***.{Description,Reason,Details,StyleGuide}`,
      glob: words`***.{Exclude,Include,exclude,include,exclude_paths} ignore ignore.***`,
      any: words`***.{AllowedPatterns,AllowedMethods,IgnoredPatterns,Patterns,ForbiddenPatterns}`,
      never: words`
        {,***.}{require*,plugin*,inherit_*,extend_config,extends,load*,rubocop_config,*file,*path,*command*,linters.*.rubocop_config,custom_linters*}{,.***}
      `,
    },
  },
  {
    files: ['.solargraph.y{,a}ml'],
    harmless: {
      switch: words`max_files formatter.**`,
      glob: words`include exclude`,
      words: words`domains`,
      never: words`formatter.**.{extra_args,only}`,
    },
  },
];

const RSPEC_OPTIONS = oneOf`
  --(no-)?(color|colour|warnings|profile|fail-fast|dry-run|backtrace) --force-color -[bwc] -f\s?[pd]
  --format[\x20=](documentation|progress|doc|p|d) --order[\x20=](rand(om)?|defined|rand:\d+) --seed[\x20=]\d+ --profile[\x20=]\d+
  --fail-fast=\d+
`;
/** What .rspec may hold: colours, order and the formats that rspec itself has. */
export const PLAIN_RSPEC = pattern()`^(\s*(${RSPEC_OPTIONS}))*\s*$|^#`;
