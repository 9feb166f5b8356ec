import { anyOf, oneOf, pattern, words } from '../../../formats/words.ts';
import { below, type HarmlessKeys, merged } from '../../../judges/harmless-keys.ts';

// Plain keys of tools that have a table in pyproject.toml, a section in setup.cfg or tox.ini, or their own file.

export const PYTEST: HarmlessKeys = {
  switch: words`
    log_{cli,level,cli_level,file_level,auto_indent} xfail_strict junit_* asyncio_* timeout faulthandler_timeout
    console_output_style django_find_project enable_assertion_pass_hook empty_parameter_set_mark tmp_path_retention_*
    verbosity_* truncation_limit_* consider_namespace_packages timeout_method strict*
  `,
  version: words`minversion`,
  word: words`asyncio_* timeout_method console_output_style log_*level junit_{family,suite_name,logging} doctest_encoding`,
  words: words`doctest_optionflags`,
  globs: words`testpaths norecursedirs python_classes python_functions`,
  any: words`markers log_{format,date_format,cli_format,cli_date_format}`,
};
const WARNING = /(?:[A-Za-z]{0,20}Warning)?/.source;
const WARNING_FILTER = pattern()`(?:error|ignore|default|always|module|once)(?::[^:\n]*(?::${WARNING}(?::[\w.*-]*(?::\d*)?)?)?)?`;
/** Options of pytest that print more or less, or stop earlier. */
const PYTEST_OPTIONS = oneOf`
  -ra -rA -rf -rs -rsx -r\w{1,6} -q{1,3} -v{1,3} -s -x --strict --strict-markers --strict-config --tb=\w+ --maxfail=\d+
  --durations=\d+ --durations-min=[\d.]+ --color=\w+ --showlocals -l --exitfirst --failed-first --ff --verbose --quiet --no-header
  --cov --cov=[\w/-]+ --cov-report=[\w-]+ --cov-branch --cov-fail-under=\d+ --no-cov --import-mode=\w+ -n\x20?\w+ --dist=\w+
  --dist\x20\w+ --numprocesses=\w+ --timeout=\d+ --benchmark-\w+ --random-order --disable-warnings --cov-report\x20[\w-]+ --no-summary
`;
/** Values of pytest that need more than a look at their shape: no filter may name a class, no option a module. */
const PYTEST_FILTERS = pattern()`filterwarnings(?:\[\])*=\s*${WARNING_FILTER.source}(?:[^\S\n]{0,40}\n\s{0,200}${WARNING_FILTER.source})*`;
const PYTEST_ADDED = pattern()`addopts(?:\[\])*=\s*["']?(?:(?:${PYTEST_OPTIONS})(?:\s+|["']?$))+`;
const PYTEST_FILES = /python_files(?:\[\])*=(?:(?:test_\*|\*_test|tests|test|test\*|\*_tests)\.py[\s,]*)+/;
const PYTEST_PARTS = anyOf(PYTEST_FILTERS, PYTEST_ADDED, PYTEST_FILES).source;
export const PYTEST_SAFE = pattern()`(?:^|\.)(?:${PYTEST_PARTS})$`;

export const MYPY: HarmlessKeys = {
  switch: words`* overrides.*`,
  version: words`python_version`,
  words: words`
    {,overrides.}{enable,disable}_error_code overrides.module untyped_calls_exclude {,overrides.}follow_imports platform always_{true,false}
  `,
  any: words`exclude`,
  globs: words`files packages modules`,
};
export const COVERAGE: HarmlessKeys = {
  switch: words`{run,report,html,xml,json,lcov}.*`,
  any: words`report.{exclude_lines,exclude_also,partial_branches,partial_also} paths.*`,
  globs: words`run.{source,omit,include,source_pkgs,source_dirs} report.{omit,include} {html,xml,json,lcov}.{directory,output}`,
  word: words`report.{format,sort} run.{concurrency,dynamic_context,core}`,
  words: words`run.{disable_warnings,concurrency}`,
  text: words`html.title`,
};
export const FLAKE8: HarmlessKeys = {
  switch: words`*`,
  words: words`
    {,extend-,extend_,extended-default-,default-}{ignore,select} known-* builtins application-import-names import-order-style docstring-convention
    inline-quotes multiline-quotes rst-* pytest-* type-checking-* ignore-names
  `,
  globs: words`{,extend-,extend_}exclude filename`,
  any: words`per-file-ignores per_file_ignores noqa-regex`,
  never: words`enable-extensions enable_extensions`,
};
export const ISORT: HarmlessKeys = {
  switch: words`*`,
  words: words`
    known_* known-* default_section sections no_lines_before extra_standard_library single_line_exclusions force_to_top force_sort_within_sections
    add_imports forced_separate multi_line_output py_version treat_comments_as_code
  `,
  globs: words`{,extend_,extend-}skip{,_glob,-glob} src_paths filter_files`,
  text: words`import_heading_* import_footer_*`,
};
export const ISORT_SAFE = /(^|\.)profile=(black|django|pycharm|google|open_stack|plone|attrs|hug|wemake|appnexus)$/;
export const PYLINT: HarmlessKeys = {
  switch: words`*`,
  words: words`
    disable enable ignore good-names bad-names ignored-* generated-members overgeneral-exceptions valid-* additional-builtins callbacks notes
    logging-modules logging-format-style *-naming-style allowed-* deprecated-modules known-* preferred-modules expected-line-ending-format
    confidence dummy-variables ext-import-graph include-naming-hint defining-attr-methods exclude-protected spelling-ignore-words property-classes
    check-* contextmanager-decorators missing-member-hint-distance mixin-class-rgx signature-mutators
  `,
  any: words`*-rgx *-rgxs ignore-paths ignore-patterns ignore-long-lines ignore-comments indent-string notes-rgx`,
  version: words`py-version`,
  never: words`unsafe-load-any-extension extension-pkg-*`,
};
export const PYLINT_SAFE = /(^|\.)output-format=(text|parseable|colorized|json|json2|msvs|github)$/;
export const PYRIGHT: HarmlessKeys = {
  any: words`$schema`,
  switch: words`* defineConstant.*`,
  words: words`pythonVersion pythonPlatform typeCheckingMode`,
  globs: words`include exclude ignore strict`,
};
/** These read their settings and the project's text, and load no code that a setting names. */
export const DATA_ONLY: HarmlessKeys = merged(
  below(words`black. tool.black.`, { any: words`*` }),
  below(words`ruff. tool.ruff.`, { any: words`***`, never: words`extend cache-dir output-file` }),
  below(words`codespell. tool.codespell. typos. tool.typos. tool:codespell.`, { any: words`***` }),
  below(words`yapf. tool.yapf. style. pydocstyle. tool.pydocstyle. pycodestyle. pep8. tool.numpydoc_validation.`, {
    any: words`*`,
  }),
  below(
    words`tool.interrogate. tool.djlint. tool.docformatter. docformatter. tool.vulture. tool.deptry. tool.autoflake. tool.pycln. tool.bandit. bandit. doc8. tool.doc8.
      tool.rstcheck. rstcheck. check-manifest. tool.check-manifest. tool.check-wheel-contents. tool.refurb. refurb. tool.mdformat. interrogate. vulture.`,
    {
      switch: words`**`,
      words: words`**`,
      globs: words`**`,
      never: words`{load,plugins,extensions,config*,plugin***,badge*,custom*,generate-badge,baseline,extends,template}`,
    },
  ),
  below(words`setuptools_scm. tool.setuptools_scm.`, {
    word: words`fallback_version`,
    glob: words`version_file write_to`,
  }),
);
