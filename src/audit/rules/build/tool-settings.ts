import { anyOf, words } from '../../formats/words.ts';
import type { HarmlessTable } from '../../judges/harmless-keys.ts';
import type { Rule } from '../../judges/rule.ts';

const TEXTS = words`$schema name title displayName description version`;

/** Tools that build, check, serve or deploy, each with what is plain in its settings. */
const TABLES: readonly HarmlessTable[] = [
  // Generators, executors and migrations of Nx, schematics and builders of Angular.
  {
    files: ['{generators,executors,migrations,collection,builders}.json'],
    harmless: {
      any: words`$schema name version ***description`,
      switch: words`***.hidden ***.x-*`,
      matching: /^(?!(schematics|generators|executors|builders|migrations|packageJsonUpdates|extends)\b)/,
    },
    // A file of that name may be data of the project.
  },
  // Servers of the Model Context Protocol, and graphs of agents.
  {
    files: ['fastmcp.json', '*.fastmcp.json', 'langgraph.json'],
    harmless: { any: TEXTS, version: words`{python,node}_version` },
  },
  {
    files: ['litellm*.y{,a}ml', 'litellm_config.y{,a}ml'],
    harmless: { switch: words`litellm_settings.{num_retries,request_timeout}` },
  },
  { files: ['manifest.json'], harmless: { matching: /^(?!server\b|mcp_config\b|user_config\b)/ } },
  { files: ['Pulumi.y{,a}ml'], harmless: { any: words`name description author website license` }, format: 'yaml' },
  {
    files: ['dist-workspace.toml'],
    harmless: { switch: words`dist.{allow-dirty,auto-includes}`, version: words`dist.cargo-dist-version` },
  },
  { files: ['poe_tasks.{toml,y{,a}ml,json}'], harmless: { any: words`***help` } },
  {
    files: ['ty.toml', '.ty.toml'],
    harmless: {
      switch: words`{,overrides.}rules.* terminal.*`,
      word: words`{,overrides.}rules.* terminal.*`,
      version: words`environment.python-version`,
      glob: words`src.{include,exclude} overrides.{include,exclude}`,
    },
  },
  {
    files: ['pyrefly.toml'],
    harmless: {
      switch: words`{,sub-config.}{errors.*,ignore-errors-in-generated-code,untyped-def-behavior}`,
      version: words`python-version`,
      globs: words`project-includes project-excludes sub-config.matches`,
    },
  },
  {
    files: ['zensical.toml'],
    harmless: {
      any: words`project.{site_name,site_author,site_description,copyright}`,
      switch: words`project.{use_directory_urls,theme.*}`,
      word: words`project.theme.{language,palette.*} project.theme.features`,
    },
  },
  { files: ['vlt.json', 'vlt-workspaces.json', 'lage.config.json'], harmless: { any: words`$schema` } },
  {
    files: ['config/{heft,rig,node-service,typescript,api-extractor-task}.json', 'workspace.jsonc'],
    harmless: { any: words`$schema` },
  },
  { files: ['tspconfig.y{,a}ml'], harmless: { switch: words`trace warn-as-error`, words: words`linter.disable.*` } },
  { files: ['vacuum*.conf.y{,a}ml', 'vacuum.y{,a}ml'], harmless: {} },
  {
    files: ['zls.json', 'zls.build.json'],
    harmless: {
      any: words`$schema`,
      switch: words`enable_{snippets,argument_placeholders} inlay_hints_* warn_style highlight_*`,
    },
  },
  { files: ['vitest.{workspace,projects}.json'], harmless: {} },
  {
    files: ['lakefile.toml'],
    harmless: {
      any: words`name description keywords homepage license licenseFiles readmeFile`,
      version: words`version require.{rev,version}`,
      words: words`defaultTargets`,
    },
  },
  { files: ['elm-watch.json', 'gren.json'], harmless: { any: words`summary license` } },
  {
    files: ['elm-tooling.json'],
    harmless: { version: words`tools.{elm,elm-format,elm-json,elm-test-rs}` },
  },
  { files: ['*.mill.y{,a}ml', 'module.yaml'], harmless: { any: words`description` } },
  {
    files: ['profiles/*/config*.y{,a}ml'],
    harmless: {
      switch: words`cores jobs keep-going rerun-incomplete printshellcmds latency-wait restart-times retries`,
    },
  },
  { files: ['profiles.yml'], harmless: { switch: words`*.outputs.*.{threads,port,connect_timeout,retries}` } },
  { files: ['airflow.cfg'], harmless: { switch: words`core.{parallelism,load_examples,dags_are_paused_at_creation}` } },
  { files: ['prefect.yaml'], harmless: { any: words`name deployments.{name,description,tags}` } },
  { files: ['feature_store.y{,a}ml'], harmless: { any: words`project` } },
  { files: ['environments/**/spec.json'], harmless: { any: words`apiVersion kind metadata.name` } },
];

/** Files of Meson that name programs, under any ending: the `[binaries]` of a machine. */
const MACHINE_FILES = ['{native,cross}*.{ini,txt,build}', '{native,cross}{,-files,_files}/**', 'meson/**'];

export const toolSettingsRules: readonly Rule[] = [
  {
    id: 'build-tool-settings',
    family: 'build',
    when: 'starting that tool in this folder',
    severity: 'suspect',
    files: [...TABLES.flatMap(({ files }) => files), '*.baml'],
    look: [
      ...TABLES.map((table) => ({ kind: 'settings', format: 'auto', ...table }) as const),
      { kind: 'lines', files: ['*.baml'], danger: /\bon_generate\b/ },
    ],
    why: 'It names programs, modules, servers or commands that the tool runs.',
    source: 'documentation of the tools',
  },
  {
    id: 'build-machine-file',
    family: 'build',
    when: 'meson setup with this machine file',
    severity: 'suspect',
    files: MACHINE_FILES,
    look: [
      {
        kind: 'lines',
        danger: anyOf(
          /^\[(binaries|properties|paths|built-in options|project options|constants)\]/,
          /^\w[\w-]*\s*=\s*['[].*(\/|-wrapper|-B|-specs)/,
          /^(c|cpp|ar|exe_wrapper|pkg-config|pkgconfig|cmake|rust|strip|ld|c_ld|cpp_ld|llvm-config)\s*=/,
        ),
      },
    ],
    why: 'It names the compilers and other programs of the build.',
    source: 'Meson manual',
  },
];
