import type { Leaf } from '../../formats/leaf.ts';
import { newLeaves, readStructure } from '../../formats/structured.ts';
import { anyOf, oneOf, pattern, words } from '../../formats/words.ts';
import type { HarmlessTable } from '../../judges/harmless-keys.ts';
import type { JudgedText, Rule } from '../../judges/rule.ts';
import { DOCUMENT_TABLES } from './plain/documents.ts';

const DOXYGEN = ['Doxyfile', 'Doxyfile.*', '*.doxyfile', 'doxygen.{cfg,conf}', '*.dox{,y}file.in'];
/** Settings of Doxygen that hold text, switches, numbers, or what is read and where the output goes. */
const DOXYGEN_PLAIN = oneOf`
  PROJECT_(NAME|NUMBER|BRIEF|LOGO|ICON) INPUT EXCLUDE(_PATTERNS|_SYMBOLS|_SYMLINKS)? FILE_PATTERNS RECURSIVE (STRIP_FROM|EXAMPLE|IMAGE|STRIP_FROM_INC)_(PATH|INC_PATH)
  EXAMPLE_PATTERNS EXAMPLE_RECURSIVE PREDEFINED EXPAND_AS_DEFINED ALIASES OUTPUT_LANGUAGE USE_MDFILE_AS_MAINPAGE (HTML|LATEX|XML|RTF|MAN|DOCBOOK)_OUTPUT
  OUTPUT_DIRECTORY ABBREVIATE_BRIEF INPUT_ENCODING DOT_IMAGE_FORMAT DOXYFILE_ENCODING HTML_COLORSTYLE PAPER_TYPE WARN_FORMAT
`;

/** A comment, a name with a value that is a switch or a number, or a known name with plain words; a value goes on. */
const PLAIN_DOXYGEN = pattern()`^(#.*|[A-Z_]{2,60}\s*\+?=\s*(YES|NO|\d*)|(${DOXYGEN_PLAIN})\s*\+?=(?!.*(\.\.|\$\())[\w\s."'*,:+=/\\()-]*)$`;

const PIPELINES = [
  'dagster.yaml',
  'prefect.yaml',
  'airflow.cfg',
  'dbt_project.yml',
  '*.Rnw',
  '*.ipynb',
  '*.qmd',
  '*.Rmd',
  '*.livemd',
  '.jupytext.toml',
  'voila.json',
  '.ipynb_checkpoints/*',
];
/** What a stage of DVC reads, writes and shows. Its commands, folders and templates are not plain. */
const DVC: HarmlessTable = {
  files: ['dvc.yaml'],
  harmless: {
    glob: words`stages.*.{deps,outs,params,metrics,plots} plots metrics params`,
    text: words`stages.*.desc`,
    switch: words`stages.*.{frozen,always_changed} stages.*.{outs,metrics,plots}.*.{cache,persist,push}`,
    word: words`plots.*.{x,y,title} stages.*.plots.*.{x,y,title}`,
  },
};

/** Files of documentation, notebooks and data pipelines that run code when they are built or opened. */
export const documentRules: readonly Rule[] = [
  {
    id: 'docs-build',
    family: 'python',
    when: 'building or previewing the documentation',
    severity: 'suspect',
    files: [
      'conf.py',
      ...DOCUMENT_TABLES.flatMap(({ files }) => files),
      ...DOXYGEN,
      '.latexmkrc',
      'latexmkrc',
      'texmf.cnf',
      '.chktexrc',
      'make.bat',
    ],
    look: [
      { kind: 'code' },
      ...DOCUMENT_TABLES.map((table) => ({ kind: 'settings', format: 'auto', ...table }) as const),
      { kind: 'custom', see: doxygenRuns },
      {
        kind: 'custom',
        // Perl, and files without a format that a parser reads: any line counts.
        see: ({ path, added }) =>
          /(latexmkrc|texmf\.cnf|\.chktexrc)$/i.test(path)
            ? added()
                .map((line) => line.text)
                .filter((line) => !/^#|^\$pdf_mode\s*=\s*\d;?$/.test(line))
            : [],
      },
    ],
    why: 'The documentation tool runs its code, plugins and filters.',
    source: 'Sphinx, MkDocs, mdBook and latexmk documentation',
  },
  {
    id: 'data-pipeline',
    family: 'python',
    when: 'running the pipeline or opening the notebook',
    severity: 'suspect',
    files: [...DVC.files, ...PIPELINES],
    look: [
      { kind: 'settings', format: 'yaml', ...DVC, removed: /\.frozen$/ },
      {
        kind: 'lines',
        files: PIPELINES,
        danger: anyOf(
          /\bcmd:|command|^"?\s*!|"\s*(!|%%(bash|sh|script|system|cmd)|%(load_ext|system|sx|run)\b)/i,
          /text\/html.{0,200}(<script|<iframe|\\u003c|\son\w+=)|application\/javascript|"trusted"\s*:\s*true/i,
          /"kernelspec"|"argv"|on-run-(start|end)|pre-hook|post-hook|^```\{(r|python|bash|sh|julia|js|elixir)/i,
          /<script|hooks?:|^knit:|!r\s|`r\s|^filters?:|^<<.*>>=/i,
        ),
        harmless: /^"?(image|text)\/(png|plain)/,
      },
      { kind: 'custom', see: activeOutput },
    ],
    why: 'Its cells, hooks and commands run.',
    source: 'Jupyter security documentation',
  },
  {
    id: 'data-config',
    family: 'python',
    when: 'starting the pipeline, experiment or cluster',
    severity: 'suspect',
    files: [
      '{packages,dependencies}.yml',
      '{workspace,dagster}.yaml',
      'cluster.y{,a}ml',
      '*.cwl',
      '{conf,configs}/**/*.y{,a}ml',
    ],
    look: [
      {
        kind: 'lines',
        danger:
          /^-?\s*(_target_|class_path|_partial_|git|local|tarball|python_file|python_module|module|class|baseCommand)\s*:|_commands\s*:|^-?\s*(command|run)\s*:/i,
      },
    ],
    why: 'It names classes, packages or commands that the tool loads or runs.',
    source: 'Hydra, dbt, Dagster, Ray and CWL documentation',
  },
];

/** Pages in the outputs of a notebook, which a browser runs when it is opened. */
function activeOutput({ path, before = '', after = '' }: JudgedText): string[] {
  const active = /<(?:script|iframe|object|embed)|\son\w{2,20}\s*=|javascript:/i;
  // Most notebooks have large outputs and no page: these are not parsed.
  if (!/\.ipynb$/i.test(path) || !active.test(after)) return [];
  const pages = (text: string): Leaf[] =>
    (readStructure(text, 'jsonc', path)?.leaves ?? []).filter(
      ({ key, value }) => /\.text\/html(\[\])?$|\.image\/svg\+xml(\[\])?$/.test(key) && active.test(value),
    );
  return newLeaves(pages(before), pages(after)).map(({ value }) => value.slice(0, 120));
}

/** Settings of Doxygen that are not plain: it has a program, a filter or a module behind many names. */
function doxygenRuns(text: JudgedText): string[] {
  if (!/doxyfile|doxygen\.(cfg|conf)$/i.test(text.path)) return [];
  return text
    .added()
    .map(({ text: line }) => line)
    .filter((line) => !PLAIN_DOXYGEN.test(line))
    .map((line) => line.slice(0, 120));
}
