import { anyOf, oneOf, pattern, words } from '../../../formats/words.ts';
import { below, type HarmlessKeys, type HarmlessTable, merged } from '../../../judges/harmless-keys.ts';
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
const REQUIREMENT =
  /[A-Za-z0-9][\w.-]*(?:\[[\w., -]*\])?\s{0,80}(?:\(?[<>=!~]=?=?[\w.*+!,<>=~ ]*\)?)?(?:\s{0,80};[^@\n]*)?/.source;
/** Lists of requirements, one on each line where the format has no lists. */
const REQUIRED_KEYS = oneOf`
  project\.(optional-)?dependencies(\.[^=]{1,80})? dependency-groups\.[^=]{1,80} tool\.uv\.dev-dependencies
  tool\.pdm\.dev-dependencies\.[^=]{1,80} options\.(install|tests)_requires? options\.extras_require\.[^=]{1,80}
`;
const REQUIRED = `(${REQUIRED_KEYS})`;

const INI_TOOLS: HarmlessKeys = merged(
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
export const PROJECT_TABLES: readonly HarmlessTable[] = [
  {
    files: ['pyproject.toml'],
    harmless: {
      ...merged(
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
      matching: anyOf(
        PYTEST_SAFE,
        ISORT_SAFE,
        PYLINT_SAFE,
        pattern()`^build-system\.requires\[\]=(${BUILD_BACKENDS})[ 0-9.,<>=!~*]*$`,
        pattern()`^${REQUIRED}\[\]=${REQUIREMENT}$`,
        /^tool\.poetry\.(group\.[\w-]+\.)?(dev-)?dependencies\.[\w-]+(\[\])?(\.(version|extras|optional|python|markers|allow-prereleases|platform)(\[\])?)?=(?!.*(\/|:\/))[^@]*$/,
      ),
    },
  },
  {
    files: ['Pipfile'],
    harmless: {
      version: words`{packages,dev-packages}.* {packages,dev-packages}.*.version requires.*`,
      words: words`{packages,dev-packages}.*.extras`,
      text: words`{packages,dev-packages}.*.markers`,
      switch: words`pipenv.allow_prereleases`,
    },
  },
  { files: ['hatch.toml', 'pdm.toml', '.pdm.toml', 'poetry.toml'], harmless: {} },
  { files: ['uv.toml'], harmless: { version: words`required-version` } },
  {
    files: ['pixi.toml'],
    harmless: {
      version: words`{,feature.*.}{,target.*.}{dependencies,pypi-dependencies,build-dependencies,host-dependencies}.* {,feature.*.}{,target.*.}{dependencies,pypi-dependencies}.*.version`,
      text: words`{workspace,project}.{name,description,license}`,
      words: words`{workspace,project}.{name,version,platforms} {,feature.*.}{,target.*.}{dependencies,pypi-dependencies}.*.{build,extras}`,
      any: words`{workspace,project}.authors`,
      matching: /^((workspace|project)\.)channels\[\]=(conda-forge|bioconda|pytorch|nvidia)$/,
    },
  },
  { files: ['ruff.toml', '.ruff.toml'], harmless: { any: words`***`, never: words`extend cache-dir output-file` } },
  {
    files: ['setup.cfg'],
    harmless: {
      ...merged(INI_TOOLS, {
        text: below(['metadata.'], { text: METADATA }).text ?? [],
        any: words`metadata.{classifiers,classifier,url,project_urls,keywords,license_files,license_file}`,
        version: words`options.python_requires`,
        switch: words`options.{zip_safe,include_package_data} bdist_wheel.* egg_info.{tag_date,tag_svn_revision} zest.releaser.{create-wheel,release,no-input}`,
        words: words`options.{py_modules,packages} egg_info.tag_build bumpversion.current_version`,
        globs: words`options.packages.find.* options.package_data.*`,
      }),
      matching: anyOf(
        PYTEST_SAFE,
        ISORT_SAFE,
        pattern()`^${REQUIRED}=\s*${REQUIREMENT}([^\S\n]{0,40}\n\s{0,200}${REQUIREMENT})*$`,
        /^metadata\.(long_description|license)=file:\s?[\w. ,-]+$|^options\.package_dir=\s*=\s*src$/,
        /^options\.packages=\s*find(_namespace)?:$/,
      ),
    },
  },
];

/** Settings of test runners, linters and type checkers in files of their own. */
export const TOOL_TABLES: readonly HarmlessTable[] = [
  {
    files: ['tox.ini', 'tox.toml'],
    harmless: {
      ...merged(INI_TOOLS, {
        globs: words`tox.{envlist,env_list} env_list {testenv***.,env.*.,env_run_base.}{platform,labels}`,
        version: words`tox.{minversion,min_version} minversion min_version`,
        switch: words`
        tox.{skip_missing_interpreters,isolated_build,skipsdist,no_package} skip_missing_interpreters
        {testenv***.,env.*.,env_run_base.}{skip_install,usedevelop,use_develop,ignore_errors,ignore_outcome,recreate,parallel_show_output,package}
      `,
        text: words`{testenv***.,env.*.,env_run_base.}description`,
        any: words`gh-actions.python gh.python.*`,
      }),
      matching: anyOf(PYTEST_SAFE, ISORT_SAFE),
    },
  },
  {
    files: ['{.,}pytest.{ini,toml}'],
    harmless: { ...merged(below(['pytest.', 'tool.pytest.', ''], PYTEST)), matching: PYTEST_SAFE },
  },
  { files: ['{.,}mypy.ini'], harmless: below(words`mypy. mypy-***.`, MYPY) },
  { files: ['{.,}pylintrc.toml'], harmless: { ...below(['', '***.'], PYLINT), matching: PYLINT_SAFE } },
  { files: ['{.,}pylintrc'], format: 'ini', harmless: { ...below(['', '***.'], PYLINT), matching: PYLINT_SAFE } },
  {
    files: ['.flake8'],
    format: 'ini',
    harmless: merged(below(['flake8.'], FLAKE8), below(words`isort.`, ISORT), DATA_ONLY),
  },
  { files: ['.coveragerc'], format: 'ini', harmless: COVERAGE },
  { files: ['.isort.cfg'], harmless: { ...below(words`settings. isort.`, ISORT), matching: ISORT_SAFE } },
  { files: ['{.,}robot.toml'], harmless: DATA_ONLY },
  {
    files: ['{.,}behave{.ini,rc}'],
    format: 'ini',
    harmless: {
      switch: words`
        behave.{color,dry_run,stop,summary,show_{skipped,timings,snippets,source,multiline},{stdout,stderr,log}_capture}
      `,
      word: words`behave.{lang,logging_level,default_format}`,
    },
  },
  { files: ['.style.yapf', '.pydocstyle'], format: 'ini', harmless: DATA_ONLY },
  {
    files: ['.bumpversion.cfg'],
    harmless: {
      word: words`bumpversion.{current_version,tag_name}`,
      switch: words`bumpversion.{commit,tag,allow_dirty,sign_tags}`,
    },
  },
  { files: ['pyrightconfig.json'], harmless: PYRIGHT },
  {
    files: ['alembic.ini'],
    harmless: {
      word: words`logger_*.{level,qualname} handler_*.level`,
      words: words`loggers.keys handlers.keys formatters.keys logger_*.handlers`,
      any: words`formatter_*.{format,datefmt} alembic.file_template`,
      switch: words`alembic.{truncate_slug_length,sourceless,recursive_version_locations}`,
    },
  },
  {
    files: ['prospector.y{,a}ml'],
    harmless: {
      switch: words`{strictness,test-warnings,doc-warnings,member-warnings,autodetect,max-line-length} *.run`,
      words: words`strictness *.{disable,enable} output-format`,
      any: words`ignore-paths ignore-patterns`,
    },
  },
  { files: ['.pyre_configuration'], harmless: { switch: words`strict` } },
  // Names that data may have as well.
  {
    files: ['log{,ging}{,_config,-config}.{conf,ini,json,y{,a}ml}'],
    harmless: {
      any: words`***`,
      never: words`***{class,(),args,formatter*,handler*,factory,filter*,plugin*,path*,command*}{,.***} {class,args,paths,()} ***.{env,hooks,backend,venv}`,
    },
  },
  { files: ['doit.cfg'], harmless: { switch: words`GLOBAL.{verbosity,num_process,continue}` } },
  { files: ['docutils.conf'], harmless: { switch: words`**`, text: words`**.{title,generator_note,footer_note}` } },
  {
    files: ['babel.{cfg,ini}', 'babel-mapping.{cfg,ini}'],
    harmless: { switch: words`***.silent`, word: words`***.{encoding,input_encoding,silent}` },
  },
];
