import { expect, it } from 'vitest';
import { auditFiles } from './plant.ts';
import type { Planted } from './rows.ts';

/** What every object has: a table that is asked for such a name must not answer. */
const NAMES = ['constructor', '__proto__', 'toString', 'hasOwnProperty', 'valueOf'];

/** Files that name actions, modules, operations, keys and programs, each of the name given. */
const FILES: Readonly<Record<string, (name: string) => string>> = {
  '.github/workflows/a.yml': (name) => `on: push\njobs:\n  ${name}:\n    steps:\n      - uses: ${name}@v1\n`,
  'package.json': (name) => `{"${name}":"${name}","scripts":{"${name}":"${name}"},"dependencies":{"${name}":"1.0.0"}}`,
  'package-lock.json': (name) => `{"lockfileVersion":3,"packages":{"node_modules/${name}":{"resolved":"${name}"}}}`,
  'pyproject.toml': (name) => `[project]\ndependencies = ["${name}"]\n[tool.${name}]\n${name} = "${name}"\n`,
  'requirements.txt': (name) => `${name}==1.0\n`,
  'CMakeLists.txt': (name) => `string(${name} a b c)\n${name}(x)\nset(${name} y)\n`,
  'pom.xml': (name) => `<project><${name}>&${name};</${name}></project>`,
  'Cargo.toml': (name) => `[dependencies]\n${name} = "1"\n[package]\n${name} = "x"\n`,
  'compose.yml': (name) => `services:\n  ${name}:\n    ${name}: ${name}\n`,
  '.vscode/settings.json': (name) => `{"${name}": "${name}", "a.${name}": {"${name}": ["${name}"]}}`,
  '.gitattributes': (name) => `* filter=${name} ${name}\n`,
  '.gitconfig': (name) => `[${name}]\n\t${name} = ${name}\n`,
  Makefile: (name) => `${name}: ${name}.o\n\t${name}\n`,
  'a.py': (name) => `import ${name}\nfrom ${name} import ${name}\n`,
  'a.js': (name) => `require('${name}'); import('./${name}');\n`,
};

it.each(NAMES)('a file, key or value that is named %s is judged like any other', (name) => {
  for (const [path, textOf] of Object.entries(FILES)) {
    const usual = textOf('usualname');
    const planted: Planted[] = [textOf(name), [usual, textOf(name)], [textOf(name), usual]];
    for (const one of planted) expect(() => auditFiles({ [path]: one }), path).not.toThrow();
    expect(() => auditFiles({ [`dir/${name}`]: usual, [name]: usual }, { [path]: textOf(name) }), path).not.toThrow();
  }
});
