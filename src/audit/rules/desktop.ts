import { judgeYarnLock } from '../lockfiles.ts';
import type { FileRule } from '../rule.ts';

const COMMANDS =
  'bash cargo cat cd chmod chown code cp curl docker env find gcc git go grep gh java kill kubectl ls make mkdir mv nano node npm npx open perl php pip pip3 pnpm ps python python3 rm rsync ruby sed sh ssh sudo tar terraform test vi vim wget which xargs yarn zsh'.split(
    ' ',
  );

export const desktopRules: readonly FileRule[] = [
  {
    id: 'run-command-name',
    title: 'A file with the name of a command',
    family: 'desktop',
    trigger: 'typing that command where this folder is searched for programs',
    severity: 'suspect',
    paths: COMMANDS.flatMap((name) => [
      `/${name}`,
      `/{bin,scripts,tools,.direnv/bin,node_modules/.bin,sbin,.bin}/${name}`,
    ]),
    judges: [
      { kind: 'new' },
      {
        kind: 'custom',
        see: ({ change }) =>
          ((change.after?.mode ?? 0) & 0o111) !== 0 && ((change.before?.mode ?? 0) & 0o111) === 0
            ? ['can be executed']
            : [],
      },
    ],
    why: 'The shell may start it instead of the program you meant.',
    source: 'bash(1), PATH',
  },
  {
    id: 'run-windows-name',
    title: 'A file that Windows runs by its name',
    family: 'desktop',
    trigger: 'opening a terminal or editor in that folder on Windows',
    severity: 'suspect',
    paths: [
      ...[
        'git',
        'node',
        'npm',
        'npx',
        'python',
        'python3',
        'code',
        'where',
        'ssh',
        'cmd',
        'make',
        'go',
        'cargo',
        'docker',
        'pip',
        'java',
        'yarn',
        'pnpm',
        'powershell',
        'bash',
        'sh',
      ].map((name) => `${name}.{exe,bat,cmd,com,ps1,vbs,js,wsf}`),
      '{version,python3,wininet,dbghelp,winmm,userenv,cryptbase}.dll',
      '*.exe.config',
      '*.exe.local',
      '*.local.exe',
      'desktop.ini',
      '*.{exe,scr,com,msi,msp,cpl,jse,vbe,wsh,pif}',
    ],
    always: true,
    judges: [],
    why: 'Windows looks in the current folder first.',
    source: 'CVE-2020-26233, CVE-2020-27955',
  },
  {
    id: 'desktop-launcher',
    title: 'A file that a desktop opens by itself',
    family: 'desktop',
    trigger: 'a file manager shows the folder or somebody double-clicks',
    severity: 'suspect',
    paths: [
      '*.{lnk,url,scf,library-ms,searchConnector-ms,theme,themepack,hta,chm,reg,vbs,wsf,settingcontent-ms,inf,application,appref-ms,webloc,inetloc,fileloc,terminal,command,workflow,scpt,action,mobileconfig,website,diagcab,iqy,slk,xll,ppam,xlam}',
      '*.desktop',
      '.directory',
      '*.AppImage',
      'autorun.inf',
      '.autorun',
      'autorun.sh',
      'Thumbs.db',
      'AUTORUN*',
      '*.flatpakref',
      '*.snap.yaml',
    ],
    except: ['*.md'],
    always: true,
    judges: [
      { kind: 'lines', danger: /Exec\s*=|open\s*=|IconFile|\\\\|URL=|command|shell/i, safe: /^Name(\[\w+\])?=/ },
    ],
    why: 'Showing or opening it starts a program or reaches a server.',
    source: 'Desktop Entry specification; CVE-2025-24054, CVE-2017-8464',
  },
  {
    id: 'debugger-file',
    family: 'desktop',
    trigger: 'gdb, lldb, valgrind or a database client started here',
    severity: 'suspect',
    paths: [
      '.gdbinit',
      '.gdbearlyinit',
      '*-gdb.{py,gdb,scm}',
      '.lldbinit',
      '.lldbinit-*',
      '.valgrindrc',
      '.psqlrc',
      '.sqliterc',
      '.my.cnf',
      '.mongorc.js',
      '.mongoshrc.js',
      '.duckdbrc',
      '.usqlrc',
      '.pgpass',
      '.pg_service.conf',
      '.radare2rc',
      '.rizinrc',
      '.cgdb/**',
      '.pwndbg',
      '.mycli*',
      '.pgclirc',
      '.litecli/**',
      '.rdbg*',
      'pg_service.conf',
      '.odbc.ini',
      '.strace*',
    ],
    always: true,
    judges: [
      {
        kind: 'lines',
        danger: /shell|\\!|system|python|source|pager|plugin|command|log-file|init/i,
        safe: /^--leak-check=full$/,
      },
    ],
    why: 'The tool runs it at its start.',
    source: 'manuals of gdb, lldb, valgrind, psql and sqlite3',
  },
  {
    id: 'ruby-files',
    family: 'languages',
    trigger: 'bundle, rake, rspec, irb, or an editor with Ruby',
    severity: 'suspect',
    paths: [
      '.rspec',
      'spec_helper.rb',
      'rails_helper.rb',
      '.irbrc',
      '.pryrc',
      '.rdbgrc',
      '.byebugrc',
      'Guardfile',
      'Capfile',
      'Dangerfile',
      'Fastfile',
      'Appfile',
      'Matchfile',
      'fastlane/**',
      'Podfile',
      'config.ru',
      '.simplecov',
      '.bundle/**',
      'Brewfile',
      '.yardopts',
      '.rubocop*.yml',
      '.erb{_,-}lint.yml',
      '.haml-lint.yml',
      '.solargraph.yml',
      '.reek.yml',
      '.standard.yml',
      'puma.rb',
      'unicorn.rb',
      'Thorfile',
      'Vagrantfile',
      'Steepfile',
      'Deliverfile',
      'Gymfile',
      'Snapfile',
    ],
    judges: [
      {
        kind: 'custom',
        see: ({ path, after }) =>
          /(^|\/)\.(irbrc|pryrc|rdbgrc|byebugrc|simplecov)$|file$|\.rb$|\.ru$|\.bundle\//i.test(path) &&
          after !== undefined
            ? ['a program or its settings']
            : [],
      },
      {
        kind: 'lines',
        danger: /^(-r|--require|-I|--load|-e)\b|require:|plugins:|inherit_(from|gem)|BUNDLE_|path|load|- \.?\//i,
      },
    ],
    why: 'Ruby tools run it, or load what it names.',
    source: 'rspec, rubocop, bundler and irb documentation',
  },
  {
    id: 'ruby-gemfile',
    family: 'languages',
    trigger: 'bundle, any bundle exec, an editor with Ruby',
    severity: 'suspect',
    paths: ['Gemfile', '*.gemspec', 'gems.rb', '*.gemfile'],
    judges: [
      {
        kind: 'lines',
        danger: /^[^#]/,
        safe: /^(gem\s*\(?\s*["'][\w.-]+["'](,\s*["'][~><= 0-9.]+["']){0,3}(,\s*(require|group|platforms?|groups):\s*[\w:[\]", ']+)?\)?|group\s[\w:, ]+do|end|ruby\s+["'][\d.~> ]+["']|#.*|\w+\.(version|summary|description|license|homepage|authors?|email|metadata\[.*\])\s*=.*["'\]]|\w+\.add_(runtime_|development_)?dependency\s*\(?["'][\w.-]+["'](,\s*["'][~><= 0-9.]+["']){0,3}\)?)$/,
      },
    ],
    why: 'It is a Ruby program, and says where gems come from.',
    source: 'bundler gemfile(5)',
  },
  {
    id: 'locks-other',
    family: 'languages',
    trigger: 'installing dependencies',
    severity: 'suspect',
    paths: [
      'Gemfile.lock',
      'gems.locked',
      'Cargo.lock',
      'composer.lock',
      'mix.lock',
      'pubspec.lock',
      'Package.resolved',
      'Podfile.lock',
      'Cartfile.resolved',
      'renv.lock',
      'packrat.lock',
      'gradle.lockfile',
      'packages.lock.json',
      'project.assets.json',
      'Manifest.toml',
      'stack.yaml.lock',
      'cabal.project.freeze',
      'shard.lock',
      'Chart.lock',
      'elm-stuff/**',
      'conan.lock',
      'spago.lock',
      'rebar.lock',
      'nimble.lock',
      'dub.selections.json',
      'cpanfile.snapshot',
      'paket.lock',
      '*.lock.hcl',
      'go.sum',
      'go.work.sum',
      'vcpkg-lock.json',
      'gleam.toml.lock',
      'manifest.toml',
      'buf.lock',
      'MODULE.bazel.lock',
    ],
    judges: [
      { kind: 'custom', see: judgeYarnLock },
      {
        kind: 'lines',
        danger:
          /^(GIT|PATH|PLUGIN SOURCE)$|^remote:\s*(?!https:\/\/rubygems\.org)|"(type|RemoteType)":\s*"(path|git|vcs|local)"|^source\s*=\s*"(?!registry\+)|path:\s*"?\.\.?\//,
        removed: /checksum\s*=|shasum|^CHECKSUMS/,
      },
      { kind: 'custom', see: goSum },
    ],
    why: 'A package comes from a place that was not there, or its checksum is gone.',
    source: 'Cargo, bundler, composer and Go module documentation',
  },
];

/** go.sum only grows for a version that stays: another hash for a version is never right. */
function goSum({
  path,
  before = '',
  after = '',
}: {
  path: string;
  before: string | undefined;
  after: string | undefined;
}): string[] {
  if (!/\.sum$/.test(path)) return [];
  const had = new Map(
    before
      .split('\n')
      .map((line) => line.split(' '))
      .filter((parts) => parts.length === 3)
      .map(([module, version, hash]) => [`${module} ${version}`, hash]),
  );
  return after
    .split('\n')
    .map((line) => line.split(' '))
    .filter(
      ([module, version, hash]) =>
        hash !== undefined && had.has(`${module} ${version}`) && had.get(`${module} ${version}`) !== hash,
    )
    .map(([module, version]) => `${module} ${version}: other hash`);
}
