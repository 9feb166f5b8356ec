import { judgeYarnLock } from '../formats/lockfiles.ts';
import type { FileRule, JudgedText } from '../formats/rule.ts';
import { newLeaves, readStructure } from '../formats/structured.ts';
import { anyOf, oneOf, pattern } from '../formats/words.ts';
import { STDLIB } from './python-names.ts';

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
const PIP_OPTIONS = oneOf`
  index-url extra-index-url find-links trusted-host no-index pre config-settings global-option install-option
  no-binary
`;

/**
 * Tables of pyproject.toml whose every key is data, or whose other keys the list of dangerous ones names. A table that
 * is not here belongs to a tool that may run what stands in it.
 */
const UNKNOWN_TOOL = pattern()`^tool\.(?!(${KNOWN_TOOLS})(\.|\[|$))`;
const PLAIN_POETRY =
  /^tool\.poetry\.(group\.[\w-]+\.optional|(group\.[\w-]+\.)?(dev-)?dependencies\.[\w-]+(\[\])?(\.(version|extras|optional|python|markers|allow-prereleases|platform)(\[\])?)?)=/;

export const pythonRules: readonly FileRule[] = [
  {
    id: 'python-runs',
    family: 'python',
    trigger: 'pip install, pytest, tox, a Python started in that folder, a debugger',
    severity: 'suspect',
    paths: [
      'setup.py',
      'conftest.py',
      'noxfile.py',
      '/tasks.py',
      'fabfile.py',
      'dodo.py',
      'duties.py',
      'toxfile.py',
      'wscript',
      'SConstruct',
      'SConscript',
      'site_scons/**',
      'sitecustomize.py',
      'usercustomize.py',
      '.pdbrc',
      '.pdbrc.py',
      'pavement.py',
      'hatch_build.py',
      '/build.py',
      '/_build.py',
      'jupyter_*config.{py,json}',
      'ipython_config.py',
      'ipython_kernel_config.py',
      '.ipython/**',
      '.jupyter/**',
      'kernel.json',
      'gunicorn.conf.py',
      'gunicorn_config.py',
      'celeryconfig.py',
      'alembic/env.py',
      'migrations/env.py',
      'locustfile.py',
      'features/environment.py',
      'scrapy.cfg',
      'wsgi.py',
      'asgi.py',
      'manage.py',
      'Snakefile',
      'MLproject',
      'pyinstaller*.spec',
      'versioneer.py',
      '__editable__*.py',
      '_virtualenv.py',
    ],
    always: true,
    unlessGone: true,
    judges: [],
    why: 'The tool runs it by its name, without being told.',
    source: 'setuptools, pytest, site and pdb documentation',
  },
  {
    id: 'python-tasks',
    family: 'python',
    trigger: 'invoke in that folder',
    severity: 'suspect',
    paths: ['tasks.py'],
    except: ['/tasks.py'],
    // Below the top it is more often a module of an application: Celery's, say.
    judges: [{ kind: 'custom', see: ({ before = '', after = '' }) => invokes(before) ?? invokes(after) ?? [] }],
    unlessGone: true,
    why: 'The tool runs it by its name, without being told.',
    source: 'invoke documentation',
  },
  {
    id: 'python-pth',
    family: 'python',
    trigger: 'any Python of the environment that holds it',
    severity: 'suspect',
    paths: [
      '*.pth',
      '*.egg-link',
      '*.dist-info/{entry_points.txt,RECORD,direct_url.json}',
      '*.egg-info/entry_points.txt',
      'pyvenv.cfg',
      '_manylinux.py',
    ],
    always: true,
    judges: [{ kind: 'lines', danger: /^import[\s;]|\.\.|^\// }],
    why: 'A line that begins with import is run at every start of Python.',
    source: 'Python site documentation',
  },
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
    why: 'The changed fields pick code that runs at install, test or lint, or where packages come from.',
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
    why: 'It loads plugins or runs commands.',
    source: 'pytest, tox, pylint, mypy and flake8 documentation',
  },
  {
    id: 'python-requirements',
    family: 'python',
    trigger: 'pip install -r',
    severity: 'suspect',
    paths: [
      '*requirements*.{txt,in}',
      '*constraints*.txt',
      'requirements/**',
      'reqs/*.txt',
      'environment.y{,a}ml',
      'conda.y{,a}ml',
      'Pipfile',
      '.condarc',
      'meta.yaml',
    ],
    judges: [
      { kind: 'custom', see: newChannels },
      {
        kind: 'lines',
        danger: anyOf(
          pattern('i')`--(${PIP_OPTIONS})`,
          /^-[ief]\b|^-[rc]\s*(\.\.|\/|https?:)|git\+|https?:|file:|^\.{0,2}\/|\s@\s|^(channels|- (https?:|\/))/i,
          /\[scripts\]|^\w+\s*=\s*\{.*(path|git|url|index)/i,
        ),
        removed: /--hash=/,
      },
    ],
    why: 'Packages come from another place, or without their hash.',
    source: 'pip requirements format',
  },
  {
    id: 'python-installer-config',
    family: 'python',
    trigger: 'pip, uv, poetry or twine here',
    severity: 'suspect',
    paths: ['pip.conf', 'pip.ini', '.pypirc', '.pip/**', '.pydistutils.cfg'],
    always: true,
    judges: [
      {
        kind: 'keys',
        format: 'ini',
        danger: /index|trusted|cert|proxy|find-links|script|repository|target|prefix|user/i,
      },
    ],
    why: 'It decides where packages come from and go to.',
    source: 'pip configuration',
  },
  {
    id: 'python-locks',
    family: 'python',
    trigger: 'poetry install, uv sync, pdm install',
    severity: 'suspect',
    paths: ['poetry.lock', 'uv.lock', 'pdm.lock', 'Pipfile.lock', 'pylock*.toml', 'conda-lock.yml', 'pixi.lock'],
    judges: [
      { kind: 'custom', see: judgeYarnLock },
      {
        kind: 'lines',
        danger: /^files\s*=\s*\[\s*\]|develop\s*=\s*true|^(type|source)\s*=.*(git|directory|url|file|path|editable)/,
        safe: /^source = \{ editable = "\." \}$/,
      },
    ],
    why: 'A package comes from a host that was not there, or its hash is gone.',
    source: 'poetry, uv and PEP 751 documentation',
  },
  {
    id: 'python-shadow',
    family: 'python',
    trigger: 'running any script in that folder',
    severity: 'suspect',
    paths: [
      ...STDLIB.map((name) => `/${name}.py`),
      ...STDLIB.map((name) => `/{scripts,bin,tools,src}/${name}.py`),
      ...STDLIB.map((name) => `/${name}/__init__.py`),
    ],
    judges: [{ kind: 'new' }],
    why: 'Python imports it instead of the standard module of that name.',
    source: 'Python sys.path documentation',
  },
  {
    id: 'python-main',
    family: 'python',
    trigger: 'python FOLDER, pip install --find-links',
    severity: 'suspect',
    paths: ['__main__.py'],
    judges: [{ kind: 'new' }],
    why: 'It is what runs when the folder is given to Python.',
    source: 'Python zipapp documentation',
  },
];

function invokes(text: string): string[] | undefined {
  const found = /^[ \t]{0,20}(?:from|import)[ \t]{1,20}(invoke|fabric)\b/m.exec(text)?.[1];
  return found === undefined ? undefined : [`tasks of ${found}`];
}

/** A channel of conda that was not there, unless it is one of the large ones. */
function newChannels({ path, before = '', after = '' }: JudgedText): string[] {
  if (!/\.ya?ml$/i.test(path)) return [];
  const [old, now] = [before, after].map((text) => readStructure(text, 'yaml', path));
  return newLeaves(old?.leaves ?? [], now?.leaves ?? [])
    .filter(
      ({ key, value }) =>
        key === 'channels[]' && !/^(conda-forge|defaults|bioconda|pytorch|nvidia|nodefaults)$/.test(value),
    )
    .map(({ value }) => `channel ${value}`);
}
