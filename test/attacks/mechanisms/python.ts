import { MARK, type Mechanism, PYTHON_TOUCH, SHELL_TOUCH, TOUCH } from './mechanism.ts';

const TEST = { 'test_a.py': 'def test_a():\n    pass\n' };
const PYPROJECT = '[project]\nname = "a"\nversion = "1"\n';
const SETUP = 'from setuptools import setup\nsetup(name="a", version="1", py_modules=[])\n';
const PIP = 'pip install --no-build-isolation --no-deps --target t';

const pyproject = (name: string, added: string, command: string, more: Partial<Mechanism> = {}): Mechanism => ({
  name,
  rule: 'python-pyproject',
  command,
  ...more,
  base: { 'pyproject.toml': PYPROJECT, 'a.py': 'x = 1\n', ...more.base },
  attack: { 'pyproject.toml': `${PYPROJECT}${added}`, ...more.attack },
});

export const PYTHON: readonly Mechanism[] = [
  {
    name: 'conftest.py',
    rule: 'python-runs',
    base: TEST,
    attack: { 'conftest.py': PYTHON_TOUCH },
    command: 'pytest',
  },
  {
    name: 'pytest.ini: a plugin, joined to its option',
    rule: 'python-ini',
    base: { ...TEST, 'pytest.ini': '[pytest]\naddopts = -q\n' },
    attack: { 'pytest.ini': '[pytest]\naddopts = -q -pspeed\n', 'speed.py': PYTHON_TOUCH },
    command: 'python3 -m pytest',
  },
  {
    name: 'setup.cfg: a plugin of pytest',
    rule: 'python-ini',
    base: { ...TEST, 'setup.cfg': '[tool:pytest]\naddopts = -q\n' },
    attack: { 'setup.cfg': '[tool:pytest]\naddopts = -q\n    -p speed\n', 'speed.py': PYTHON_TOUCH },
    command: 'python3 -m pytest',
  },
  pyproject(
    'pyproject.toml: a plugin of pytest',
    '[tool.pytest.ini_options]\naddopts = "-p speed"\n',
    'python3 -m pytest',
    {
      base: TEST,
      attack: { 'speed.py': PYTHON_TOUCH },
    },
  ),
  {
    name: 'pytest.ini: a log that is a start-up file outside',
    rule: 'python-ini',
    base: { 'p/pytest.ini': '[pytest]\n', 'p/test_a.py': 'import logging\n\ndef test_a():\n    logging.error("x")\n' },
    attack: {
      'p/pytest.ini': `[pytest]\nlog_file = ../.bashrc\nlog_file_mode = a\nlog_file_format = ${TOUCH} # %(message)s\n`,
    },
    command: '(cd p && pytest); HOME=$PWD bash -ic true',
  },
  {
    name: 'tox.ini',
    rule: 'python-ini',
    base: { 'tox.ini': '[tox]\nskipsdist = true\n[testenv]\ncommands = python -c 1\n' },
    attack: {
      'tox.ini': `[tox]\nskipsdist = true\n[testenv]\nallowlist_externals = touch\ncommands = python -c 1\n    ${TOUCH}\n`,
    },
    command: 'tox -e py',
  },
  {
    name: 'setup.py',
    rule: 'python-runs',
    base: { 'setup.py': SETUP },
    attack: { 'setup.py': `${SETUP}${PYTHON_TOUCH}` },
    command: 'python3 setup.py --version',
  },
  {
    name: 'setup.cfg: a class for a command',
    rule: 'python-ini',
    base: { 'setup.py': SETUP, 'setup.cfg': '[metadata]\nname = a\n' },
    attack: {
      'setup.cfg': '[metadata]\nname = a\n[options]\ncmdclass =\n    build_py = speed.Build\n',
      'speed.py': `from setuptools.command.build_py import build_py\n\nclass Build(build_py):\n    ${PYTHON_TOUCH}`,
    },
    command: 'python3 setup.py build',
  },
  {
    name: 'requirements.txt: a folder of the project',
    rule: 'python-requirements',
    base: { 'requirements.txt': '# none\n' },
    attack: { 'requirements.txt': '# none\n./lib\n', 'lib/setup.py': `${SETUP}${PYTHON_TOUCH}` },
    command: `${PIP} -r requirements.txt`,
  },
  pyproject(
    'pyproject.toml: a build backend of the project',
    '[build-system]\nrequires = []\nbuild-backend = "speed"\nbackend-path = ["."]\n',
    `${PIP} .`,
    { attack: { 'speed.py': PYTHON_TOUCH } },
  ),
  pyproject(
    "pyproject.toml: pylint's init-hook in a section with a blank",
    `[tool.pylint."messages control"]\ninit-hook = "open('${MARK}', 'w')"\n`,
    'pylint --disable=all a.py',
  ),
  {
    name: ".pylintrc: pylint's init-hook in another section",
    rule: 'python-ini',
    base: { '.pylintrc': '[FORMAT]\nmax-line-length = 100\n', 'a.py': 'x = 1\n' },
    attack: { '.pylintrc': `[FORMAT]\nmax-line-length = 100\ninit-hook : open('${MARK}', 'w')\n` },
    command: 'pylint --disable=all a.py',
  },
  {
    name: 'mypy.ini: a plugin',
    rule: 'python-ini',
    base: { 'mypy.ini': '[mypy]\nstrict = True\n', 'a.py': 'x = 1\n' },
    attack: {
      'mypy.ini': '[mypy]\nstrict = True\nplugins=\n    ./speed.py\n',
      'speed.py': `from mypy.plugin import Plugin\n${PYTHON_TOUCH}\ndef plugin(version):\n    return Plugin\n`,
    },
    command: 'mypy a.py',
  },
  {
    name: '.flake8: a plugin of the project',
    rule: 'python-ini',
    base: { '.flake8': '[flake8]\nmax-line-length = 100\n', 'a.py': 'x = 1\n' },
    attack: {
      '.flake8':
        '[flake8]\nmax-line-length = 100\n[flake8:local-plugins]\nextension =\n    X = speed:check\npaths = .\n',
      'speed.py': `${PYTHON_TOUCH}\ndef check(physical_line):\n    return None\n`,
    },
    command: 'flake8 a.py',
  },
  {
    name: '.coveragerc: a plugin',
    rule: 'python-ini',
    base: { '.coveragerc': '[run]\nbranch = True\n', 'a.py': 'x = 1\n' },
    attack: {
      '.coveragerc': '[run]\nbranch = True\nplugins = speed\n',
      'speed.py': `${PYTHON_TOUCH}\ndef coverage_init(reg, options):\n    pass\n`,
    },
    command: 'PYTHONPATH=. python3 -m coverage run a.py',
  },
  {
    name: 'conf.py of Sphinx',
    rule: 'docs-build',
    base: { 'docs/conf.py': "project = 'p'\n", 'docs/index.rst': 'p\n=\n' },
    attack: { 'docs/conf.py': `project = 'p'\n${PYTHON_TOUCH}` },
    command: 'sphinx-build docs out',
  },
  {
    name: 'mkdocs.yml: hooks, with a blank before the colon',
    rule: 'docs-build',
    base: {
      'mkdocs.yml': 'site_name: p\ntheme: {name: null, custom_dir: t}\n',
      'docs/index.md': '# p\n',
      't/main.html': 'x\n',
    },
    attack: {
      'mkdocs.yml': 'site_name: p\ntheme: {name: null, custom_dir: t}\nhooks :\n  - docs/h.py\n',
      'docs/h.py': PYTHON_TOUCH,
    },
    command: 'mkdocs build',
  },
  {
    name: 'mkdocs.yml: another file of settings',
    rule: 'docs-build',
    base: { 'mkdocs.yml': 'site_name: p\n', 'docs/index.md': '# p\n' },
    attack: {
      'mkdocs.yml': 'site_name: p\nINHERIT: docs/common.yml\n',
      'docs/common.yml': 'hooks:\n  - docs/h.py\n',
      'docs/h.py': PYTHON_TOUCH,
    },
    command: 'mkdocs build',
  },
  {
    name: 'noxfile.py',
    rule: 'python-runs',
    base: { 'a.py': 'x = 1\n' },
    attack: { 'noxfile.py': `import nox\n${PYTHON_TOUCH}\n@nox.session\ndef a(session):\n    pass\n` },
    command: 'nox --list',
  },
  {
    name: 'tasks of invoke, as a package',
    rule: 'program-by-name',
    base: { 'a.py': 'x = 1\n' },
    attack: { 'tasks/__init__.py': `from invoke import task\n${PYTHON_TOUCH}` },
    command: 'invoke --list',
  },
  {
    name: 'dodo.py',
    rule: 'python-runs',
    base: { 'a.py': 'x = 1\n' },
    attack: { 'dodo.py': PYTHON_TOUCH },
    command: 'doit list',
  },
  {
    name: 'sitecustomize.py',
    rule: 'python-runs',
    base: { 'app.py': 'x = 1\n' },
    attack: { 'sitecustomize.py': PYTHON_TOUCH },
    command: 'PYTHONPATH=. python3 app.py',
  },
  {
    name: 'a module with the name of one of the standard library',
    rule: 'python-shadow',
    base: { 'app.py': 'import json\n' },
    attack: { 'json.py': PYTHON_TOUCH },
    command: 'python3 app.py',
  },
  {
    name: 'a module that the prompt of Python imports',
    rule: 'python-shadow',
    base: { 'app.py': 'x = 1\n' },
    attack: { 'rlcompleter.py': PYTHON_TOUCH },
    command: 'python3 -i -c 1 </dev/null',
  },
  {
    name: 'a package next to a module of its name',
    rule: 'name-shadows',
    base: { 'lib.py': 'x = 1\n', 'app.py': 'import lib\n' },
    attack: { 'lib/__init__.py': PYTHON_TOUCH },
    command: 'python3 app.py',
  },
  {
    name: '.pdbrc',
    rule: 'python-runs',
    base: { 'a.py': 'x = 1\n' },
    attack: { '.pdbrc': `import os;os.system('${TOUCH}')\n` },
    command: 'echo q | python3 -m pdb a.py',
  },
  {
    name: 'a program of pip in a folder of tools',
    rule: 'run-command-name',
    base: { 'bin/tool': '#!/bin/sh\ntrue\n' },
    attack: { 'bin/pip': SHELL_TOUCH },
    command: 'PATH=$PWD/bin:$PATH pip --version',
  },
];
