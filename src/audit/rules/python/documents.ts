import type { FileRule } from '../../formats/rule.ts';
import { anyOf } from '../../formats/words.ts';

/** Files of documentation, notebooks and data pipelines that run code when they are built or opened. */
export const documentRules: readonly FileRule[] = [
  {
    id: 'docs-build',
    family: 'python',
    trigger: 'building or previewing the documentation',
    severity: 'suspect',
    paths: [
      'conf.py',
      'mkdocs.y{,a}ml',
      '.readthedocs.y{,a}ml',
      '_quarto.yml',
      '_config.yml',
      'hugo.{toml,yaml,yml,json}',
      'config/_default/*',
      'myst.yml',
      'book.toml',
      'antora-playbook.yml',
      'Doxyfile',
      'doxygen.cfg',
      '_bookdown.yml',
      '_pkgdown.yml',
      '.latexmkrc',
      'latexmkrc',
      'arara.yaml',
      'texmf.cnf',
      '.chktexrc',
      '_toc.yml',
      'make.bat',
    ],
    judges: [
      { kind: 'code' },
      {
        kind: 'lines',
        danger: anyOf(
          /hooks?:|plugins?:|extensions?|!!python|jobs:|pre[-_]render|post[-_]render|preprocessor|command|filter/i,
          /INPUT_FILTER|system\(|\$\w+\s*=\s*["'].*(%|exec|sh\b|-shell)|shell|theme:|custom_dir|includes?:|exec/i,
          /\bimports\b|security\.|^path\s*=/i,
        ),
      },
      {
        kind: 'custom',
        see: ({ path, added }) =>
          // The file is Perl: any line counts.
          /latexmkrc$/i.test(path)
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
    trigger: 'running the pipeline or opening the notebook',
    severity: 'suspect',
    paths: [
      'dvc.yaml',
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
    ],
    judges: [
      {
        kind: 'lines',
        danger: anyOf(
          /\bcmd:|command|^"?\s*!|"\s*(!|%%(bash|sh|script|system|cmd)|%(load_ext|system|sx|run)\b)/i,
          /text\/html.{0,200}(<script|<iframe|\\u003c|\son\w+=)|application\/javascript|"trusted"\s*:\s*true/i,
          /"kernelspec"|"argv"|on-run-(start|end)|pre-hook|post-hook|^```\{(r|python|bash|sh|julia|js|elixir)/i,
          /<script|hooks?:|^knit:|!r\s|`r\s|^filters?:|^<<.*>>=/i,
        ),
        safe: /^"?(image|text)\/(png|plain)/,
      },
    ],
    why: 'Its cells, hooks and commands run.',
    source: 'Jupyter security documentation',
  },
  {
    id: 'data-config',
    family: 'python',
    trigger: 'starting the pipeline, experiment or cluster',
    severity: 'suspect',
    paths: ['{packages,dependencies}.yml', '{workspace,dagster,cluster}.yaml', '*.cwl', '{conf,configs}/**/*.y{,a}ml'],
    judges: [
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
