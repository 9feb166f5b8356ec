import { beside, type Mutator, nameOf } from './mutator.ts';

/** A section of an INI file under its name in another file. */
const inFile = (
  name: string,
  to: string,
  files: RegExp,
  sections: readonly (readonly [RegExp, string])[],
): Mutator => ({
  name: `nested ${name}`,
  empty: '[metadata]\nname = x\n',
  text(text, path) {
    if (!files.test(nameOf(path))) return undefined;
    const renamed = sections.reduce((all, [from, section]) => all.replace(from, section), text);
    return `[metadata]\nname = x\n${renamed}`;
  },
  path: beside(to),
});

const SETUP_CFG = [
  [/^\[pytest\]/gm, '[tool:pytest]'],
  [/^\[(run|report|paths|html)\]/gm, '[coverage:$1]'],
  [/^\[tox\]/gm, '[tox:tox]'],
  [/^\[(MASTER|MAIN)\]/gim, '[pylint.$1]'],
  [/^\[settings\]/gm, '[isort]'],
] as const;

/** Sections of INI in pyproject.toml, by the name of the file and of the section. */
const IN_PYPROJECT: readonly (readonly [file: RegExp, section: RegExp, table: string])[] = [
  [/^pytest\.ini$|^tox\.ini$/, /^pytest$/, 'tool.pytest.ini_options'],
  [/^setup\.cfg$/, /^tool:pytest$/, 'tool.pytest.ini_options'],
  [/^(\.?mypy\.ini|setup\.cfg)$/, /^mypy$/, 'tool.mypy'],
  [/^\.coveragerc$/, /^(run|report|html)$/, 'tool.coverage.run'],
  [/^\.?pylintrc$/, /./, 'tool.pylint."messages control"'],
];

const inPyproject: Mutator = {
  name: 'nested in pyproject.toml',
  empty: '[project]\nname = "x"\n',
  text(text, path) {
    const out: string[] = [];
    let table: string | undefined;
    for (const line of text.replace(/\n[ \t]+(?=\S)/g, ' ').split('\n')) {
      const section = /^\[([^\]]+)\]/.exec(line)?.[1];
      const pair = /^([\w.-]+)[ \t]*[=:][ \t]*(.*)$/.exec(line);
      if (section !== undefined) {
        table = IN_PYPROJECT.find(([file, name]) => file.test(nameOf(path)) && name.test(section))?.[2];
        if (table !== undefined && !out.includes(`[${table}]`)) out.push(`[${table}]`);
      } else if (pair !== null && table !== undefined)
        out.push(`${JSON.stringify(pair[1])} = ${JSON.stringify(pair[2]?.trim())}`);
    }
    return out.length < 2 ? undefined : `[project]\nname = "x"\n${out.join('\n')}\n`;
  },
  path: beside('pyproject.toml'),
};

/** Sections of INI files in other files, where the same tool finds them. */
export const INI_NESTING: readonly Mutator[] = [
  inFile(
    'in setup.cfg',
    'setup.cfg',
    /^(pytest\.ini|tox\.ini|\.?mypy\.ini|\.coveragerc|\.flake8|\.?pylintrc|\.isort\.cfg)$/,
    SETUP_CFG,
  ),
  inFile('in tox.ini', 'tox.ini', /^(pytest\.ini|\.flake8|\.coveragerc)$/, SETUP_CFG.slice(1)),
  inFile("in pylint's section of formats", '.pylintrc', /^\.?pylintrc$/, [[/^\[(MASTER|MAIN)\]/gim, '[FORMAT]']]),
  inFile('in an environment of tox', 'tox.ini', /^tox\.ini$/, [[/^\[testenv\]/gm, '[testenv:py]']]),
  inPyproject,
];
