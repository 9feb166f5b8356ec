import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { Scene } from '../../../support/scene.ts';

type Files = Readonly<Record<string, string>>;

interface Project {
  readonly files: Files;
  /** What an ordinary session does, for a shell. */
  readonly change: string;
  /** That took part. */
  readonly command: string;
}

const NODE: Files = {
  'package.json': JSON.stringify({
    name: 'p',
    version: '1.0.0',
    scripts: { test: 'node --test', build: 'node build.js', lint: 'node --check lib/add.js' },
  }),
  'lib/add.js': 'exports.add = (a, b) => a + b;\n',
  'test/add.test.js':
    'require("node:test")("adds", () => { if (require("../lib/add.js").add(1, 2) !== 3) throw new Error(); });\n',
  'build.js':
    'const fs = require("fs");\nfs.mkdirSync("dist", { recursive: true });\nfs.writeFileSync("dist/out.js", fs.readFileSync("lib/add.js"));\n',
  '.gitignore': 'dist/\nnode_modules/\n__pycache__/\n*.egg-info/\n',
};
const PYTHON: Files = {
  'pyproject.toml': '[project]\nname = "demo"\nversion = "0.1"\n[tool.setuptools]\npackages = ["demo"]\n',
  'demo/__init__.py': 'def add(a, b):\n    return a + b\n',
  'tests/__init__.py': '',
  'tests/test_add.py':
    'import unittest\nimport demo\n\n\nclass Add(unittest.TestCase):\n    def test_add(self):\n        self.assertEqual(demo.add(1, 2), 3)\n',
  '.gitignore': '__pycache__/\n*.egg-info/\nbuild/\n',
};
const MAKE: Files = {
  Makefile:
    'all: out.txt\n\nout.txt: in.txt tools/gen.sh\n\tsh tools/gen.sh in.txt > out.txt\n\nclean:\n\trm -f out.txt\n',
  'tools/gen.sh': 'sort "$1"\n',
  'in.txt': 'b\na\n',
  '.gitignore': 'out.txt\n',
};

const PROJECTS: Readonly<Record<string, Project>> = {
  'a function and its test': {
    files: NODE,
    change:
      'echo "exports.sub = (a, b) => a - b;" >> lib/add.js; sed "s/add/sub/g; s/1, 2/4, 1/" test/add.test.js | sed "s/sub.js/add.js/" > test/sub.test.js',
    command: 'npm test',
  },
  'a module in two': {
    files: NODE,
    change: 'mv lib/add.js lib/sum.js; echo "module.exports = require(\\"./sum.js\\");" > lib/add.js',
    command: 'npm test',
  },
  'a build with one more file': {
    files: NODE,
    change: 'echo "fs.writeFileSync(\\"dist/readme.txt\\", \\"built\\");" >> build.js',
    command: 'npm run build',
  },
  'an asynchronous test with a local server': {
    files: NODE,
    change:
      'echo "require(\\"node:test\\")(\\"serves\\", async () => { const s = require(\\"http\\").createServer((q, r) => r.end(\\"x\\")).listen(0, \\"127.0.0.1\\"); await new Promise((f) => s.once(\\"listening\\", f)); await (await fetch(\\"http://127.0.0.1:\\" + s.address().port)).text(); s.close(); s.closeAllConnections(); });" > test/serves.test.js',
    command: 'npm test',
  },
  'the next version': {
    files: NODE,
    change: 'sed -i "s/1.0.0/1.1.0/" package.json; echo x > CHANGES.md',
    command: 'npm run',
  },
  'notes, pictures and a deleted test': {
    files: NODE,
    change: 'mkdir docs; echo x > docs/a.md; head -c 900 /dev/urandom > docs/a.bin; rm test/add.test.js',
    command: 'git status',
  },
  'a Python module and its test, in a package that pip installs': {
    files: PYTHON,
    change:
      'printf "def sub(a, b):\\n    return a - b\\n" > demo/sub.py; sed "s/demo.add(1, 2), 3/demo.sub.sub(3, 2), 1/; s/import demo/import demo.sub/; s/Add/Sub/" tests/test_add.py > tests/test_sub.py',
    command: 'python -m unittest',
  },
  'a Python test with a temporary folder': {
    files: PYTHON,
    change:
      'printf "import tempfile, unittest\\n\\n\\nclass Files(unittest.TestCase):\\n    def test_file(self):\\n        with tempfile.TemporaryDirectory() as d:\\n            open(d + \\"/a\\", \\"w\\").write(\\"x\\")\\n" > tests/test_files.py',
    command: 'python -m unittest',
  },
  'the input of a Makefile and a target that is not the first': {
    files: MAKE,
    change:
      'echo c >> in.txt; printf "\\ncheck: all\\n\\tdiff out.txt expected.txt\\n" >> Makefile; sort in.txt > expected.txt',
    command: 'make',
  },
  'a script of a Makefile': { files: MAKE, change: 'echo "sort -u \\"$1\\"" > tools/gen.sh', command: 'make' },
};

const rehearsed = z.object({
  findings: z.array(z.object({ severity: z.string(), path: z.string(), detail: z.string().optional() })),
  ran: z.array(z.string()),
});

it.each(Object.entries(PROJECTS))('is silent about %s', async (_, { files, change, command }) => {
  await using scene = new Scene();
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(scene.project, name)), { recursive: true });
    writeFileSync(path.join(scene.project, name), text);
  }
  scene.git('add', '-A');
  scene.git('commit', '-qm', 'project');
  await scene.run(['exec', scene.project, '--', 'sh', '-c', change]);
  const { findings, ran } = rehearsed.parse(JSON.parse((await scene.run(['rehearse', '--json'])).stdout));
  expect(findings.filter(({ severity }) => severity !== 'note')).toEqual([]);
  expect(ran).toContain(command);
});
