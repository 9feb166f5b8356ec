import { LONG_MS, type Scene, scenes } from './scene.ts';

const PROJECT = 'pyproject.toml setup.py setup.cfg requirements.txt conftest.py pytest.ini tox.ini';

export const PYTHON_SCENES: readonly Scene[] = scenes({ limitMs: LONG_MS }, [
  ['python in the folder', PROJECT, 'python3', 'python3 -c "import sys, os, json, subprocess"'],
  ['python -m unittest', PROJECT, 'python3', 'python3 -m unittest discover'],
  ['pytest --collect-only', PROJECT, 'pytest'],
  [
    'pip install -e .',
    'pyproject.toml setup.py',
    'pip3',
    'pip3 install --no-index --no-build-isolation --no-deps -e .',
  ],
  ['uv sync', 'uv.lock', 'uv', 'uv sync --offline'],
  ['poetry check', 'poetry.lock', 'poetry'],
  ['tox', 'tox.ini', 'tox', 'tox list'],
  ['nox', 'noxfile.py', 'nox', 'nox --list'],
]);
