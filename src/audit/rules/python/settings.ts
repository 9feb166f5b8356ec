import { newLinesWith } from '../../judges/judge.ts';
import type { JudgedText, Rule } from '../../judges/rule.ts';
import { PROJECT_TABLES, TOOL_TABLES } from './plain/projects.ts';

/** Settings of Python tools. */
export const pythonSettingsRules: readonly Rule[] = [
  {
    id: 'python-pyproject',
    family: 'python',
    when: 'pip install, uv sync, pytest, lint, opening in an IDE',
    severity: 'suspect',
    files: PROJECT_TABLES.filter(({ files }) => !isIni(files)).flatMap(({ files }) => files),
    look: PROJECT_TABLES.filter(({ files }) => !isIni(files)).map(
      (table) => ({ kind: 'settings', format: 'toml', ...table }) as const,
    ),
    why: 'The changed fields select code that runs at install, test or lint, or the source of packages.',
    source: 'PEP 517, PEP 518; documentation of the tools',
  },
  {
    id: 'python-ini',
    family: 'python',
    when: 'pytest, tox, lint, type check, coverage',
    severity: 'suspect',
    files: [...PROJECT_TABLES.filter(({ files }) => isIni(files)), ...TOOL_TABLES].flatMap(({ files }) => files),
    look: [
      ...[...PROJECT_TABLES.filter(({ files }) => isIni(files)), ...TOOL_TABLES].map(
        (table) => ({ kind: 'settings', format: 'auto', ...table }) as const,
      ),
      { kind: 'custom', see: extractors },
    ],
    why: 'The tool loads plugins or runs commands that it names.',
    source: 'pytest, tox, pylint, mypy and flake8 documentation',
  },
];

function isIni(paths: readonly string[]): boolean {
  return paths.includes('setup.cfg');
}

/** Sections of a Babel mapping whose names are those of modules. */
function extractors(text: JudgedText): string[] {
  if (!/(^|\/)babel[^/]*\.(cfg|ini)$/i.test(text.path)) return [];
  return newLinesWith(text, /^\[(?!(python|javascript|ignore|jinja2)\s*:\s*[\w*./-]+\]$)/);
}
