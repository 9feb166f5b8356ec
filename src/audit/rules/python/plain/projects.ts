import { anyOf, oneOf, pattern, words } from '../../../formats/words.ts';
import { below, merged, type PlainKeys, type PlainTable } from '../../../judges/plain.ts';
import {
  COVERAGE,
  DATA_ONLY,
  FLAKE8,
  ISORT,
  ISORT_SAFE,
  MYPY,
  PYLINT,
  PYLINT_SAFE,
  PYRIGHT,
  PYTEST,
  PYTEST_SAFE,
} from './tools.ts';

const BUILD_BACKENDS = oneOf`
  setuptools wheel hatchling poetry-core flit_core pdm-backend setuptools[_-]scm(\[toml\])? hatch-vcs maturin
`;
/** A package by its name, versions and conditions; none by an address. */
const REQUIREMENT = /[A-Za-z0-9][\w.-]*(?:\[[\w., -]*\])?\s*(?:\(?[<>=!~]=?=?[\w.*+!,<>=~ ]*\)?)?(?:\s*;[^@\n]*)?/
  .source;
/** Lists of requirements, one on each line where the format has no lists. */
const REQUIRED_KEYS = oneOf`
  project\.(optional-)?dependencies(\.[^=]{1,80})? dependency-groups\.[^=]{1,80} tool\.uv\.dev-dependencies
  tool\.pdm\.dev-dependencies\.[^=]{1,80} options\.(install|tests)_requires? options\.extras_require\.[^=]{1,80}
`;
const REQUIRED = `(${REQUIRED_KEYS})`;

const INI_TOOLS: PlainKeys = merged(
  below(words`pytest. tool:pytest.`, PYTEST),
  below(words`mypy. mypy-***.`, MYPY),
  below(['', 'coverage:'], COVERAGE),
  below(words`flake8.`, FLAKE8),
  below(words`isort. settings. tool:isort.`, ISORT),
  below(words`pylint. pylint.***.`, PYLINT),
  DATA_ONLY,
);

/** Metadata of a package, for readers. */
const METADATA = words`
  name version description summary author* maintainer* license* keywords classifiers classifier platform* url* home_page home-page
  project_urls* download_url requires-python requires_python provides_extra readme
`;

/** The project's own file, and those of package managers. */
export const PROJECT_TABLES: readonly PlainTable[] = [
  {
    paths: ['pyproject.toml'],
    plain: merged(
      below(words`project. tool.poetry.`, {
        word: words`version`,
        version: words`requires-python`,
        glob: words`name readme* license-files license.file packages.{include,from,to,format} include{,.*} exclude`,
        text: words`description summary`,
        any: words`authors authors.* maintainers maintainers.* license license.text keywords classifiers urls.* homepage repository documentation`,
        words: words`dynamic requires-poetry extras.* group.*.optional`,
        switch: words`package-mode requires-poetry group.*.optional`,
      }),
      below(words`tool.pytest.ini_options. tool.pytest.`, PYTEST),
      below(words`tool.mypy.`, MYPY),
      below(words`tool.coverage.`, COVERAGE),
      below(words`tool.flake8.`, FLAKE8),
      below(words`tool.isort.`, ISORT),
      below(words`tool.pylint. tool.pylint.***.`, PYLINT),
      below(words`tool.pyright. tool.basedpyright.`, PYRIGHT),
      DATA_ONLY,
      {
        words: words`
          tool.setuptools.{packages,py-modules,platforms} tool.flit.module.name tool.uv.{required-version,default-groups} dependency-groups.*.include-group
          tool.hatch.build.targets.*.packages tool.commitizen.version tool.towncrier.{name,version}
        `,
        switch: words`
          tool.setuptools.{include-package-data,zip-safe,packages.find.namespaces} tool.pdm.distribution tool.uv.{package,managed}
          tool.commitizen.{update_changelog_on_bump,major_version_zero,version_scheme} tool.towncrier.{all_bullets,wrap,type.showcontent}
        `,
        text: words`tool.towncrier.type.*`,
        any: words`tool.towncrier.{title_format,issue_format,underlines,start_string}`,
        globs: words`
          tool.setuptools.{packages.find.*,package-data.***,exclude-package-data.***,license-files} tool.hatch.version.path
          tool.hatch.build.{include,exclude,artifacts} tool.hatch.build.targets.*.{include,exclude,only-include,packages,artifacts}
          tool.towncrier.{directory,filename}
        `,
      },
    ),
    safe: anyOf(
      PYTEST_SAFE,
      ISORT_SAFE,
      PYLINT_SAFE,
      pattern()`^build-system\.requires\[\]=(${BUILD_BACKENDS})[ 0-9.,<>=!~*]*$`,
      pattern()`^${REQUIRED}\[\]=${REQUIREMENT}$`,
      /^tool\.poetry\.(group\.[\w-]+\.)?(dev-)?dependencies\.[\w-]+(\[\])?(\.(version|extras|optional|python|markers|allow-prereleases|platform)(\[\])?)?=(?!.*(\/|:\/))[^@]*$/,
    ),
  },
  {
    paths: ['Pipfile'],
    plain: {
      version: words`{packages,dev-packages}.* {packages,dev-packages}.*.version requires.*`,
      words: words`{packages,dev-packages}.*.extras`,
      text: words`{packages,dev-packages}.*.markers`,
      switch: words`pipenv.allow_prereleases`,
    },
  },
  { paths: ['hatch.toml', 'pdm.toml', '.pdm.toml', 'poetry.toml'], plain: {} },
  { paths: ['uv.toml'], plain: { version: words`required-version` } },
  {
    paths: ['pixi.toml'],
    plain: {
      version: words`{,feature.*.}{,target.*.}{dependencies,pypi-dependencies,build-dependencies,host-dependencies}.* {,feature.*.}{,target.*.}{dependencies,pypi-dependencies}.*.version`,
      text: words`{workspace,project}.{name,description,license}`,
      words: words`{workspace,project}.{name,version,platforms} {,feature.*.}{,target.*.}{dependencies,pypi-dependencies}.*.{build,extras}`,
      any: words`{workspace,project}.authors`,
    },
    safe: /^((workspace|project)\.)channels\[\]=(conda-forge|bioconda|pytorch|nvidia)$/,
  },
  { paths: ['ruff.toml', '.ruff.toml'], plain: { any: words`***`, never: words`extend cache-dir output-file` } },
  {
    paths: ['setup.cfg'],
    plain: merged(INI_TOOLS, {
      text: below(['metadata.'], { text: METADATA }).text ?? [],
      any: words`metadata.{classifiers,classifier,url,project_urls,keywords,license_files,license_file}`,
      version: words`options.python_requires`,
      switch: words`options.{zip_safe,include_package_data} bdist_wheel.* egg_info.{tag_date,tag_svn_revision} zest.releaser.{create-wheel,release,no-input}`,
      words: words`options.{py_modules,packages} egg_info.tag_build bumpversion.current_version`,
      globs: words`options.packages.find.* options.package_data.*`,
    }),
    safe: anyOf(
      PYTEST_SAFE,
      ISORT_SAFE,
      pattern()`^${REQUIRED}=\s*${REQUIREMENT}(\s*\n\s*${REQUIREMENT})*$`,
      /^metadata\.(long_description|license)=file:\s*[\w. ,-]+$|^options\.package_dir=\s*=\s*src$/,
      /^options\.packages=\s*find(_namespace)?:$/,
    ),
  },
];

/** Settings of test runners, linters and type checkers in files of their own. */
export const TOOL_TABLES: readonly PlainTable[] = [
  {
    paths: ['tox.ini', 'tox.toml'],
    plain: merged(INI_TOOLS, {
      globs: words`tox.{envlist,env_list} env_list {testenv***.,env.*.,env_run_base.}{platform,labels}`,
      version: words`tox.{minversion,min_version} minversion min_version`,
      switch: words`
        tox.{skip_missing_interpreters,isolated_build,skipsdist,no_package} skip_missing_interpreters
        {testenv***.,env.*.,env_run_base.}{skip_install,usedevelop,use_develop,ignore_errors,ignore_outcome,recreate,parallel_show_output,package}
      `,
      text: words`{testenv***.,env.*.,env_run_base.}description`,
      any: words`gh-actions.python gh.python.*`,
    }),
    safe: anyOf(PYTEST_SAFE, ISORT_SAFE),
  },
  {
    paths: ['{.,}pytest.{ini,toml}'],
    plain: merged(below(['pytest.', 'tool.pytest.', ''], PYTEST)),
    safe: PYTEST_SAFE,
  },
  { paths: ['{.,}mypy.ini'], plain: below(words`mypy. mypy-***.`, MYPY) },
  { paths: ['{.,}pylintrc.toml'], plain: below(['', '***.'], PYLINT), safe: PYLINT_SAFE },
  { paths: ['{.,}pylintrc'], format: 'ini', plain: below(['', '***.'], PYLINT), safe: PYLINT_SAFE },
  {
    paths: ['.flake8'],
    format: 'ini',
    plain: merged(below(['flake8.'], FLAKE8), below(words`isort.`, ISORT), DATA_ONLY),
  },
  { paths: ['.coveragerc'], format: 'ini', plain: COVERAGE },
  { paths: ['.isort.cfg'], plain: below(words`settings. isort.`, ISORT), safe: ISORT_SAFE },
  { paths: ['{.,}robot.toml'], plain: DATA_ONLY },
  {
    paths: ['{.,}behave{.ini,rc}'],
    format: 'ini',
    plain: {
      switch: words`
        behave.{color,dry_run,stop,summary,show_{skipped,timings,snippets,source,multiline},{stdout,stderr,log}_capture}
      `,
      word: words`behave.{lang,logging_level,default_format}`,
    },
  },
  { paths: ['.style.yapf', '.pydocstyle'], format: 'ini', plain: DATA_ONLY },
  {
    paths: ['.bumpversion.cfg'],
    plain: {
      word: words`bumpversion.{current_version,tag_name}`,
      switch: words`bumpversion.{commit,tag,allow_dirty,sign_tags}`,
    },
  },
  { paths: ['pyrightconfig.json'], plain: PYRIGHT },
  {
    paths: ['alembic.ini'],
    plain: {
      word: words`logger_*.{level,qualname} handler_*.level`,
      words: words`loggers.keys handlers.keys formatters.keys logger_*.handlers`,
      any: words`formatter_*.{format,datefmt} alembic.file_template`,
      switch: words`alembic.{truncate_slug_length,sourceless,recursive_version_locations}`,
    },
  },
  {
    paths: ['prospector.y{,a}ml'],
    plain: {
      switch: words`{strictness,test-warnings,doc-warnings,member-warnings,autodetect,max-line-length} *.run`,
      words: words`strictness *.{disable,enable} output-format`,
      any: words`ignore-paths ignore-patterns`,
    },
  },
  { paths: ['.pyre_configuration'], plain: { switch: words`strict` } },
  // Names that data may have as well.
  {
    paths: ['log{,ging}{,_config,-config}.{conf,ini,json,y{,a}ml}'],
    plain: {
      any: words`***`,
      never: words`***{class,(),args,formatter*,handler*,factory,filter*,plugin*,path*,command*}{,.***} {class,args,paths,()} ***.{env,hooks,backend,venv}`,
    },
  },
  { paths: ['doit.cfg'], plain: { switch: words`GLOBAL.{verbosity,num_process,continue}` } },
  { paths: ['docutils.conf'], plain: { switch: words`**`, text: words`**.{title,generator_note,footer_note}` } },
  {
    paths: ['babel.{cfg,ini}', 'babel-mapping.{cfg,ini}'],
    plain: { switch: words`***.silent`, word: words`***.{encoding,input_encoding,silent}` },
  },
];
