import type { FileRule } from '../../formats/rule.ts';
import { anyOf, oneOf, pattern } from '../../formats/words.ts';

const KNOWN_TOOLS = oneOf`
  black isort ruff(?!\.extend$) codespell typos interrogate djlint docformatter pydocstyle numpydoc_validation
  coverage mypy (based)?pyright(?!\.(venv|pythonPath|executionEnv|stubPath|extraPaths)) pytest\.ini_options
  pylint vulture deptry autoflake pycln yapf doc8 rstcheck check-manifest check-wheel-contents refurb bandit
  mdformat pdm\.(distribution|dev-dependencies)
  setuptools\.(packages|package-data|include-package-data|exclude-package-data|py-modules|zip-safe|license-files|platforms)
  setuptools_scm(?=$|\.(version_file|write_to|fallback_version|root)$) uv towncrier commitizen
  flit\.module\.name
  poetry\.(name|version|description|authors|maintainers|license|readme|homepage|repository|documentation|keywords|classifiers|packages|include|exclude|extras|urls|package-mode|requires-poetry)
`;
const PYPROJECT_KEYS = oneOf`
  build-system project\.(scripts|gui-scripts|entry-points)
  tool\.[\w-]+\.(scripts|source|sources|index|plugins|hooks|build|extensions|envs|tasks|commands?|shell|virtualenvs|workspace|pypi|registries|env|env-files|cmdclass)
  tool\.setuptools\.(cmdclass|dynamic|package-dir|data-files)
  tool\.uv\.(?!dev-dependencies|required-version|package\b|managed\b|default-groups)[\w-]+ tool\.meson-python
  tool\.(taskipy|poe|invoke|pdm\.scripts|tox|nox|cibuildwheel|briefcase|maturin|scikit-build|commitizen|semantic_release|bumpversion|bump-my-version|towncrier)
  tool\.pytest\.ini_options\.(addopts|pythonpath|python_files|required_plugins|env|filterwarnings)
  tool\.(mypy\.(plugins|python_executable|mypy_path|custom_typing_module)|pylint\.[\w.-]*(init-hook|load-plugins)|coverage\.run\.plugins|isort\.[\w.]*path|flake8)
  scripts source index virtualenvs hooks envs build index-url extra-index-url allow-insecure-host keyring
`;
const BUILD_BACKENDS = oneOf`
  setuptools wheel hatchling poetry-core flit_core pdm-backend setuptools[_-]scm(\[toml\])?
`;
const INI_KEYS = oneOf`
  addopts pythonpath python_files required_plugins \benv\b plugins? init-hook load-plugins paths?
  commands?(_pre|_post)? allowlist_externals setenv passenv deps install_command python_executable mypy_path
  custom_typing_module cmdclass entry_points console_scripts package_data data_files extension report hooks
  script_location sqlalchemy\.url extraPaths stubPath venv files_command setup_requires dependency_links
  index_url find_links ^aliases compiler include_dirs library_dirs command_packages \bargs\b \bclass\b
  formatter backend verbosity \(\)
`;
/**
 * Tables of pyproject.toml whose every key is data, or whose other keys the list of dangerous ones names. A table that
 * is not listed belongs to a tool that may run its values.
 */
const UNKNOWN_TOOL = pattern()`^tool\.(?!(${KNOWN_TOOLS})(\.|\[|$))`;
const PLAIN_POETRY =
  /^tool\.poetry\.(group\.[\w-]+\.optional|(group\.[\w-]+\.)?(dev-)?dependencies\.[\w-]+(\[\])?(\.(version|extras|optional|python|markers|allow-prereleases|platform)(\[\])?)?)=/;

/** Settings of Python tools. */
export const pythonSettingsRules: readonly FileRule[] = [
  {
    id: 'python-pyproject',
    family: 'python',
    trigger: 'pip install, uv sync, pytest, lint, opening in an IDE',
    severity: 'suspect',
    paths: [
      'pyproject.toml',
      'Pipfile',
      'hatch.toml',
      'pdm.toml',
      '.pdm.toml',
      'poetry.toml',
      'uv.toml',
      'pixi.toml',
      'ruff.toml',
      '.ruff.toml',
    ],
    judges: [
      {
        kind: 'keys',
        format: 'toml',
        danger: pattern('i')`^(${PYPROJECT_KEYS})(\.|\[|$)`,
        value: /\s@\s*(git\+|https?:|file:)|^(git\+|file:|\.{1,2}\/|[/~])/,
        safe: anyOf(
          pattern('i')`^build-system\.requires\[\]=(${BUILD_BACKENDS})[ 0-9.,<>=!~*]*$`,
          /^tool\.(towncrier|commitizen)\.(version|name|filename|directory)=[^/]*$/i,
        ),
      },
      { kind: 'keys', format: 'toml', danger: UNKNOWN_TOOL, safe: PLAIN_POETRY },
    ],
    why: 'The changed fields select code that runs at install, test or lint, or the source of packages.',
    source: 'PEP 517, PEP 518; documentation of the tools',
  },
  {
    id: 'python-ini',
    family: 'python',
    trigger: 'pytest, tox, lint, type check, coverage',
    severity: 'suspect',
    paths: [
      'setup.cfg',
      'tox.ini',
      'tox.toml',
      '{.,}pytest.{ini,toml}',
      '{.,}mypy.ini',
      '{.,}pylintrc',
      '{.,}pylintrc.toml',
      '.flake8',
      '.coveragerc',
      '.isort.cfg',
      '.style.yapf',
      '.bumpversion.cfg',
      'pyrightconfig.json',
      '.pydocstyle',
      'alembic.ini',
      'prospector.y{,a}ml',
      '.pyre_configuration',
      'log{,ging}{,_config,-config}.{conf,ini,json,y{,a}ml}',
      'doit.cfg',
    ],
    judges: [
      {
        kind: 'keys',
        format: 'auto',
        danger: pattern('i')`(${INI_KEYS})`,
        value: /^attr:/,
        safe: /^[^=]*(testpaths|markers|ignore_missing_imports|exclude)[^=.]*=/i,
      },
    ],
    why: 'The tool loads plugins or runs commands that it names.',
    source: 'pytest, tox, pylint, mypy and flake8 documentation',
  },
];
