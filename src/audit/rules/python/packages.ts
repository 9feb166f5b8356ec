import { newLeaves, readStructure } from '../../formats/structured.ts';
import { anyOf, oneOf, pattern } from '../../formats/words.ts';
import { ANY_CHANGE, type JudgedText, type Rule } from '../../judges/rule.ts';
import { judgeYarnLock } from '../../locks/lockfiles.ts';

const PIP_OPTIONS = oneOf`
  index-url extra-index-url find-links trusted-host no-index pre config-settings global-option install-option
  no-binary
`;

/** Which packages are installed, and from where. */
export const pythonPackageRules: readonly Rule[] = [
  {
    id: 'python-requirements',
    family: 'python',
    when: 'pip install -r',
    severity: 'suspect',
    files: [
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
    look: [
      { kind: 'custom', see: newChannels },
      // Variables that conda sets when it activates the environment.
      {
        kind: 'lines',
        files: ['{environment,conda}.y{,a}ml'],
        danger: /^[A-Za-z_]\w*\s*:\s*\S/,
        harmless: /^(name|prefix)\s*:/,
      },
      {
        kind: 'lines',
        danger: anyOf(
          pattern('i')`--(${PIP_OPTIONS})`,
          /^-[ief]\b|^-[rc]\s*(\.\.|\/|https?:)|git\+|https?:|file:|^\.{0,2}\/|\s@\s|^(channels|- (https?:|\/))/i,
          /^(?:-\s+)?(script|script_env|entry_points|commands|run_test|post-link|pre-link|variables)\s*:/i,
          /\[scripts\]|^\w+\s*=\s*\{.*(path|git|url|index)/i,
        ),
        removed: /--hash=/,
      },
    ],
    why: 'Packages come from another source, or without their hash.',
    source: 'pip requirements format',
  },
  {
    id: 'python-installer-config',
    family: 'python',
    when: 'pip, uv, poetry or twine in this folder',
    severity: 'suspect',
    files: ['pip.conf', 'pip.ini', '.pypirc', '.pip/**', '.pydistutils.cfg'],
    look: [
      ANY_CHANGE,
      {
        kind: 'keys',
        format: 'ini',
        danger: /index|trusted|cert|proxy|find-links|script|repository|target|prefix|user/i,
      },
    ],
    harmless: ['comments'],
    why: 'The file decides where packages are fetched from and published to.',
    source: 'pip configuration',
  },
  {
    id: 'python-locks',
    family: 'python',
    when: 'poetry install, uv sync, pdm install',
    severity: 'suspect',
    files: ['poetry.lock', 'uv.lock', 'pdm.lock', 'Pipfile.lock', 'pylock*.toml', 'conda-lock.yml', 'pixi.lock'],
    look: [
      { kind: 'custom', see: judgeYarnLock },
      {
        kind: 'lines',
        danger: /^files\s*=\s*\[\s*\]|develop\s*=\s*true|^(type|source)\s*=.*(git|directory|url|file|path|editable)/,
        harmless: /^source = \{ editable = "\." \}$/,
      },
    ],
    why: 'A package comes from a new host, or its hash was removed.',
    source: 'poetry, uv and PEP 751 documentation',
  },
];

/** New conda channels, except well-known ones. */
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
