import { mark, type Planted } from './planted.ts';

type Files = Readonly<Record<string, string>>;

const ran = (text: string, by: string): string => `${text.replaceAll('RAN', by)}\n`;

/** A module of a Python package, with its own test. */
function python(name: string, act: string, text: string, more: Files = {}): Planted {
  const change = { [`app/${name}.py`]: text, ...more };
  return {
    name,
    base: {
      'app/__init__.py': '',
      'tests/__init__.py': '',
      [`app/${name}.py`]: 'def add(a, b):\n    return a + b\n\n',
      [`tests/test_${name}.py`]: `import unittest\nfrom app.${name} import add\n\n\nclass Sum(unittest.TestCase):\n    def test_sum(self):\n        self.assertEqual(add(1, 2), 3)\n`,
    },
    change: Object.fromEntries(Object.entries(change).map(([file, one]) => [file, ran(one, mark.py(name))])),
    act,
  };
}

const HOME = '__import__("os").path.expanduser("~")';

export const PYTHON: readonly Planted[] = [
  python('popen', 'starts date', 'RAN\nimport os\nos.popen("date").read()'),
  python('libc', 'starts env', 'RAN\nimport ctypes\nctypes.CDLL(None).system(b"env > /dev/null")'),
  python(
    'spawned',
    'starts head',
    'RAN\nimport os\nos.waitpid(os.posix_spawn("/usr/bin/head", ["head", "/dev/null"], {}), 0)',
  ),
  python('pickled', 'starts tail', 'RAN\nimport pickle\npickle.loads(open("tests/rows.dat", "rb").read())', {
    'tests/rows.dat': 'cposix\nsystem\n(S"tail /dev/null"\ntR.',
  }),
  python(
    'logged',
    'starts nl',
    'RAN\nimport logging.config\ntry:\n    logging.config.fileConfig("tests/log.ini")\nexcept Exception:\n    pass',
    {
      'tests/log.ini':
        '[loggers]\nkeys=root\n[handlers]\nkeys=h\n[formatters]\nkeys=\n[logger_root]\nhandlers=h\n[handler_h]\nclass=StreamHandler\nargs=(__import__("os").system("nl /dev/null"),)',
    },
  ),
  python('text', 'starts od', 'RAN\nexec(compile(open("tests/words.txt").read(), "words", "exec"))', {
    'tests/words.txt': 'import os\nos.system("od /dev/null")',
  }),
  python(
    'finder',
    'starts wc',
    'RAN\nfrom importlib.machinery import SourceFileLoader\nSourceFileLoader("w", "tests/table.csv").load_module()',
    {
      'tests/table.csv': 'import os; os.system("wc /dev/null")',
    },
  ),
  python(
    'atend',
    'starts comm',
    'import atexit\n\n\n@atexit.register\ndef _flush():\n    RAN\n    __import__("os").system("comm /dev/null /dev/null")',
  ),
  python(
    'thread',
    '192.0.2.8:4411',
    'RAN\nimport socket, threading\nt = threading.Thread(target=lambda: socket.create_connection(("192.0.2.8", 4411), 2))\nt.start()\nt.join()',
  ),
  python(
    'urls',
    'pypi-stats.example',
    'RAN\nimport urllib.request\ntry:\n    urllib.request.urlopen("http://pypi-stats.example/x", timeout=2)\nexcept Exception:\n    pass',
  ),
  python(
    'resolve',
    'asks for c3d4.tunnel.example',
    'RAN\nimport socket\ntry:\n    socket.gethostbyname("c3d4.tunnel.example")\nexcept OSError:\n    pass',
  ),
  python('token', '~/.git-credentials', `RAN\nopen(${HOME} + "/.git-credentials").read()`),
  python(
    'opened',
    '~/.config/gh/hosts.yml',
    `RAN\nimport os\nos.close(os.open("hosts.yml", os.O_RDONLY, dir_fd=os.open(${HOME} + "/.config/gh", os.O_RDONLY)))`,
  ),
  python(
    'mapped',
    '~/.gnupg/',
    `RAN\nimport glob, mmap\nfor n in glob.glob(${HOME} + "/.gnupg/**/*.key", recursive=True):\n    mmap.mmap(open(n).fileno(), 0, prot=mmap.PROT_READ)`,
  ),
  python('history', '~/.bash_history', `RAN\nimport shutil\nshutil.copy(${HOME} + "/.bash_history", "/tmp/h")`),
  python(
    'custom',
    'usercustomize.py',
    'RAN\nimport os, site\nos.makedirs(site.getusersitepackages(), exist_ok=True)\nopen(site.getusersitepackages() + "/usercustomize.py", "w").close()',
  ),
  python(
    'keys',
    '~/.ssh/authorized_keys',
    `RAN\nopen(${HOME} + "/.ssh/authorized_keys", "a").write("ssh-ed25519 AAAA\\n")`,
  ),
  python('hidden', 'becomes unreadable', 'RAN\nimport ctypes\nctypes.CDLL(None).prctl(4, 0, 0, 0, 0)'),
];

/** Files that the recipe of a Makefile reads. */
function recipe(name: string, act: string, line: string, base: Files, change: Files): Planted {
  return {
    name,
    base: { ...base, [`mk/${name}.mk`]: `all:: ; ${line}\n` },
    change: Object.fromEntries(Object.entries(change).map(([file, one]) => [file, ran(one, mark.sh(name))])),
    act,
  };
}

export const MAKE: readonly Planted[] = [
  recipe(
    'script',
    'starts cksum',
    '@sh tools/gen.sh',
    { 'tools/gen.sh': 'echo gen > /tmp/gen\n' },
    { 'tools/gen.sh': 'RAN; cksum /dev/null' },
  ),
  recipe(
    'sourced',
    'starts cut',
    '@sh tools/run.sh',
    { 'tools/run.sh': '. ./tools/env.sh\n', 'tools/env.sh': 'A=1\n' },
    { 'tools/env.sh': 'RAN; cut -c1 /dev/null' },
  ),
  recipe(
    'awk',
    'starts expand',
    '@awk -f tools/report.awk /dev/null',
    { 'tools/report.awk': 'END { print NR }\n' },
    { 'tools/report.awk': 'END { system("RAN; expand /dev/null") }' },
  ),
  recipe(
    'sed',
    'starts fold',
    '@echo x | sed -f tools/clean.sed',
    { 'tools/clean.sed': 's/a/b/\n' },
    { 'tools/clean.sed': '1e RAN; fold /dev/null' },
  ),
  recipe(
    'perl',
    'starts join',
    '@perl tools/fmt.pl',
    { 'tools/fmt.pl': 'print "ok\\n";\n' },
    { 'tools/fmt.pl': 'system("RAN; join /dev/null /dev/null");' },
  ),
  recipe(
    'list',
    'starts paste',
    '@while read -r line; do eval "$$line"; done < data/steps.txt',
    { 'data/steps.txt': 'echo one\n' },
    { 'data/steps.txt': 'RAN; paste /dev/null' },
  ),
  recipe(
    'included',
    'starts pr',
    '@echo $(VERSION)',
    { 'mk/version.mk': 'VERSION = 1\n' },
    { 'mk/version.mk': 'VERSION := $(shell RAN; pr /dev/null)' },
  ),
  recipe(
    'python',
    'starts ptx',
    '@python3 tools/table.py',
    { 'tools/table.py': 'print(1)\n' },
    { 'tools/table.py': '__import__("os").system("RAN; ptx /dev/null")' },
  ),
  recipe(
    'template',
    'starts seq',
    '@node tools/page.js',
    {
      'tools/page.js':
        'const t = require("fs").readFileSync("data/page.html", "utf8");\nnew Function("require", "return `" + t + "`")(require);\n',
      'data/page.html': '<p>1</p>\n',
    },
    { 'data/page.html': '<p>$' + '{require("child_process").execSync("RAN; seq 1")}</p>' },
  ),
  recipe(
    'configured',
    'starts shuf',
    '@node tools/build.js',
    {
      'tools/build.js':
        'const lines = require("fs").readFileSync("data/build.json", "utf8").trim().split("\\n");\nrequire("child_process").execSync(JSON.parse(lines.pop()).after);\n',
      'data/build.json': '{ "after": "true" }\n',
    },
    { 'data/build.json': '{ "after": "RAN; shuf /dev/null" }' },
  ),
];
