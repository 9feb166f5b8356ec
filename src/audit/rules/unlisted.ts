import { readStructure } from '../formats/structured.ts';
import { oneOf, pattern } from '../formats/words.ts';
import { judge } from '../judges/judge.ts';
import { type JudgedText, type Look, not, type Rule } from '../judges/rule.ts';

const KEYS_THAT_RUN = oneOf`
  [\w-]*_commands? [\w-]+_hooks? run runs command commands cmds? exec execute script scripts hook hooks shell
  entrypoint entry program executable interpreter before after pre post
  (pre|post|before|after)[_-]?(build|install|commit|push|run|start|release|publish|bump|test|deploy|create|update)\w*
  plugins? extends include mcpServers servers library_?path
`;
const PROGRAMS = oneOf`([cm]?[jt]s|tsx) py rb sh bash pl php lua ps1 wasm so dylib dll star rhai pkl`;
const INTERPRETERS = oneOf`
  (ba|z|da|k|fi|tc)?sh env sudo xargs find [gmn]?awk python[\d.]* node nodejs deno bun bunx tsx perl ruby php
  lua\w* make gmake cmake ninja just task rake npx npm pnpm yarn uvx? pipx? docker podman go cargo java curl
  wget nc ncat netcat socat ssh git open start cmd powershell pwsh osascript eval exec source
`;

/** Hidden names of text for readers or for git, not of settings that run something. */
const QUIET_NAMES = [
  '.gitkeep',
  '.keep',
  '.gitignore',
  '.*ignore',
  '.nojekyll',
  '.empty',
  '.placeholder',
  '.mailmap',
  '.editorconfig',
  '.all-contributorsrc',
  '.authors.yml',
  '.zenodo.json',
  '.codespellrc',
  '.env.{example,sample,template}',
  '.env.*.example',
  '.yamllint{,.yml,.yaml}',
  '.markdownlint.{json,yml,yaml}',
  '.markdownlintrc',
  '.browserslistrc',
  '.nvmrc',
  '.node-version',
  '.python-version',
  '.ruby-version',
  '.java-version',
  '.prettierrc*',
  '.eslintrc*',
  '.stylelintrc*',
  '.rubocop*.yml',
  '.rspec',
  '.yardopts',
  '.codecov.y{,a}ml',
  '.coveralls.yml',
  '.golangci.y{,a}ml',
  '.rustfmt.toml',
  '.clang-format',
  '.spi.yml',
  '.scalafmt.conf',
  '.php-cs-fixer.dist.php',
  '.styleci.yml',
  '.hlint.yaml',
  '.swiftlint.yml',
  '.swiftformat',
  '.clippy.toml',
  '.typos.toml',
  '._typos.toml',
  '.cspell.json',
  '.hgtags',
  '.hgeol',
  '.DS_Store',
];
const QUIET_FOLDERS = [
  '.github/**/*.md',
  '.github/labels.{json,yml,yaml}',
  '.github/{ISSUE,DISCUSSION,PULL_REQUEST}_TEMPLATE/**',
  '.changeset/*.md',
  '.{changes,chloggen,unreleased}/**/*.{md,txt,rst,yml,yaml,json,toml}',
  '.well-known/*.{txt,json}',
  '.reuse/dep5',
  '.sqlx/*.json',
  '.licenses/**/*.dep.yml',
];
/** In these folders a name is more often data than a tool; rules that know the name still apply. */
const SAMPLES = ['{test,tests,testdata,fixtures,__fixtures__,__tests__,spec,specs}/**'];

/** Rules for files that no other rule knows. */
export const unlistedRules: readonly Rule[] = [
  {
    id: 'unlisted-hidden',
    title: 'Hidden file of an unknown tool',
    family: 'unlisted',
    when: 'the tool that it belongs to',
    severity: 'suspect',
    files: [
      '.*',
      '.*/**',
      ...not(QUIET_NAMES),
      ...not(QUIET_FOLDERS),
      ...not(SAMPLES),
      '!.git/**',
      '!*.{png,jpg,jpeg,gif,svg,webp,ico}',
    ],
    lastResort: true,
    look: [{ kind: 'custom', see: settingsInside }],
    why: 'Tools keep files that they run and load under hidden names, which most lists do not show.',
    source: 'docs/audit.md',
  },
  {
    id: 'unlisted-settings',
    title: 'Settings that run something',
    family: 'unlisted',
    when: 'the tool that it belongs to',
    severity: 'suspect',
    files: [
      '/*.{toml,y{,a}ml,json,jsonc,json5,pkl,hcl,ini,cfg,conf}',
      '*.{task,hook,job,tool,runner}.{toml,y{,a}ml,json}',
      '!/openapi*.*',
      '!/swagger*.*',
      '!/mkdocs.yml',
      '!/_config.yml',
      '!/{{.,}codecov,action,CITATION,composer,bower,component,manifest,lerna,tslint,components}.*',
      '!/*.schema.json',
    ],
    lastResort: true,
    look: [
      {
        kind: 'lines',
        // Formats without a parser.
        danger: /\{\{\s*exec|\bprogram\s*=|\bexec\b\s*[({]/,
      },
      { kind: 'custom', see: runsSomething },
    ],
    why: 'A tool reads the settings file of its name at the top of a project.',
    source: 'docs/audit.md',
  },
];

const RUNS: Look = {
  kind: 'keys',
  format: 'auto',
  danger: pattern('i')`(^|[.\]])(${KEYS_THAT_RUN})(\.|\[|$)`,
  // A program of the tree, by its path, or a function in one.
  value: pattern('i')`^(file:)?(\.{1,2}\/)?[\w@-][\w@./-]{0,200}\.(${PROGRAMS})(:\w+)?$|^\.{1,2}\/[\w@./-]{1,200}:\w+$`,
  harmless: /=(true|false|null|[\d.]*|\[\]|\{\})$/i,
};
/** Names of programs that run their arguments, or files of the folder. */
const INTERPRETER = pattern('i')`^(${INTERPRETERS})(\.exe)?$`;
const MANY_OF_A_KIND = 5;

/**
 * The values of a settings file that run something. A new entry of a table that already names one installed program for
 * each entry follows the project's convention: it is not a finding if it is the bare name of such a program.
 */
function runsSomething(text: JudgedText): readonly string[] {
  const seen = judge({ look: [RUNS] }, text);
  if (seen.length === 0 || text.before === undefined) return seen;
  const kindOfKey = (key: string): string => key.replace(/\.[^.]+(\.command)$/, '.*$1');
  const isBare = (value: string): boolean => /^[\w-]{2,60}$/.test(value) && !INTERPRETER.test(value);
  const kinds = new Map<string, number>();
  for (const { key, value } of readStructure(text.before, 'auto', text.path)?.leaves ?? [])
    if (isBare(value)) kinds.set(kindOfKey(key), (kinds.get(kindOfKey(key)) ?? 0) + 1);
  return seen.filter((one) => {
    const [, key = '', value = ''] = /^([^:]{1,200}\.command): (.*)$/s.exec(one) ?? [];
    return !(isBare(value) && (kinds.get(kindOfKey(key)) ?? 0) >= MANY_OF_A_KIND);
  });
}

/** Folders of pages, styles and snapshots: only a program in them runs, when the site is built. */
const DATA_FOLDERS = /(^|\/)\.(vitepress|vuepress|dumi|snapshots)\//i;
const PROGRAM = /\.([cm]?[jt]sx?|sh|bash|py|rb|pl|php|lua|ps1|bat|cmd|node|wasm)$/i;

/** A file in a hidden folder, or a hidden file with more than one word. */
function settingsInside({ path, after, change }: JudgedText): string[] {
  if (after === undefined) return [];
  const program = PROGRAM.test(path) || after.startsWith('#!') || ((change.after?.mode ?? 0) & 0o111) !== 0;
  if (!program && DATA_FOLDERS.test(path)) return [];
  if (/(^|\/)\.[^/]+\//.test(path)) return ['in a hidden folder'];
  return /[=:({[/]|\S\s+\S/.test(after) ? ['settings'] : [];
}
