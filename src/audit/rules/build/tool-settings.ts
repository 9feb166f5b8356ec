import { anyOf, words } from '../../formats/words.ts';
import type { PlainTable } from '../../judges/plain.ts';
import type { FileRule } from '../../judges/rule.ts';

const TEXTS = words`$schema name title displayName description version`;

/** Tools that build, check, serve or deploy, each with what is plain in its settings. */
const TABLES: readonly PlainTable[] = [
  // Generators, executors and migrations of Nx, schematics and builders of Angular.
  {
    paths: ['{generators,executors,migrations,collection,builders}.json'],
    plain: { any: words`$schema name version ***description`, switch: words`***.hidden ***.x-*` },
    // A file of that name may be data of the project.
    safe: /^(?!(schematics|generators|executors|builders|migrations|packageJsonUpdates|extends)\b)/,
  },
  // Servers of the Model Context Protocol, and graphs of agents.
  {
    paths: ['fastmcp.json', '*.fastmcp.json', 'langgraph.json'],
    plain: { any: TEXTS, version: words`{python,node}_version` },
  },
  {
    paths: ['litellm*.y{,a}ml', 'litellm_config.y{,a}ml'],
    plain: { switch: words`litellm_settings.{num_retries,request_timeout}` },
  },
  { paths: ['manifest.json'], plain: {}, safe: /^(?!server\b|mcp_config\b|user_config\b)/ },
  { paths: ['Pulumi.y{,a}ml'], plain: { any: words`name description author website license` }, format: 'yaml' },
  {
    paths: ['dist-workspace.toml'],
    plain: { switch: words`dist.{allow-dirty,auto-includes}`, version: words`dist.cargo-dist-version` },
  },
  { paths: ['poe_tasks.{toml,y{,a}ml,json}'], plain: { any: words`***help` } },
  {
    paths: ['ty.toml', '.ty.toml'],
    plain: {
      switch: words`{,overrides.}rules.* terminal.*`,
      word: words`{,overrides.}rules.* terminal.*`,
      version: words`environment.python-version`,
      glob: words`src.{include,exclude} overrides.{include,exclude}`,
    },
  },
  {
    paths: ['pyrefly.toml'],
    plain: {
      switch: words`{,sub-config.}{errors.*,ignore-errors-in-generated-code,untyped-def-behavior}`,
      version: words`python-version`,
      globs: words`project-includes project-excludes sub-config.matches`,
    },
  },
  {
    paths: ['zensical.toml'],
    plain: {
      any: words`project.{site_name,site_author,site_description,copyright}`,
      switch: words`project.{use_directory_urls,theme.*}`,
      word: words`project.theme.{language,palette.*} project.theme.features`,
    },
  },
  { paths: ['vlt.json', 'vlt-workspaces.json', 'lage.config.json'], plain: { any: words`$schema` } },
  {
    paths: ['config/{heft,rig,node-service,typescript,api-extractor-task}.json', 'workspace.jsonc'],
    plain: { any: words`$schema` },
  },
  { paths: ['tspconfig.y{,a}ml'], plain: { switch: words`trace warn-as-error`, words: words`linter.disable.*` } },
  { paths: ['vacuum*.conf.y{,a}ml', 'vacuum.y{,a}ml'], plain: {} },
  {
    paths: ['zls.json', 'zls.build.json'],
    plain: {
      any: words`$schema`,
      switch: words`enable_{snippets,argument_placeholders} inlay_hints_* warn_style highlight_*`,
    },
  },
  { paths: ['vitest.{workspace,projects}.json'], plain: {} },
  {
    paths: ['lakefile.toml'],
    plain: {
      any: words`name description keywords homepage license licenseFiles readmeFile`,
      version: words`version require.{rev,version}`,
      words: words`defaultTargets`,
    },
  },
  { paths: ['elm-watch.json', 'gren.json'], plain: { any: words`summary license` } },
  {
    paths: ['elm-tooling.json'],
    plain: { version: words`tools.{elm,elm-format,elm-json,elm-test-rs}` },
  },
  { paths: ['*.mill.y{,a}ml', 'module.yaml'], plain: { any: words`description` } },
  {
    paths: ['profiles/*/config*.y{,a}ml'],
    plain: { switch: words`cores jobs keep-going rerun-incomplete printshellcmds latency-wait restart-times retries` },
  },
  { paths: ['profiles.yml'], plain: { switch: words`*.outputs.*.{threads,port,connect_timeout,retries}` } },
  { paths: ['airflow.cfg'], plain: { switch: words`core.{parallelism,load_examples,dags_are_paused_at_creation}` } },
  { paths: ['prefect.yaml'], plain: { any: words`name deployments.{name,description,tags}` } },
  { paths: ['feature_store.y{,a}ml'], plain: { any: words`project` } },
  { paths: ['environments/**/spec.json'], plain: { any: words`apiVersion kind metadata.name` } },
];

/** Files of Meson that name programs, under any ending: the `[binaries]` of a machine. */
const MACHINE_FILES = ['{native,cross}*.{ini,txt,build}', '{native,cross}{,-files,_files}/**', 'meson/**'];

export const toolSettingsRules: readonly FileRule[] = [
  {
    id: 'build-tool-settings',
    family: 'build',
    trigger: 'starting that tool in this folder',
    severity: 'suspect',
    paths: [...TABLES.flatMap(({ paths }) => paths), '*.baml'],
    judges: [
      ...TABLES.map((table) => ({ kind: 'settings', format: 'auto', ...table }) as const),
      { kind: 'lines', paths: ['*.baml'], danger: /\bon_generate\b/ },
    ],
    why: 'It names programs, modules, servers or commands that the tool runs.',
    source: 'documentation of the tools',
  },
  {
    id: 'build-machine-file',
    family: 'build',
    trigger: 'meson setup with this machine file',
    severity: 'suspect',
    paths: MACHINE_FILES,
    judges: [
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
