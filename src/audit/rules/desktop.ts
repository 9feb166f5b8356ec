import { words } from '../formats/words.ts';
import { ANY_CHANGE, type Rule } from '../judges/rule.ts';

const COMMANDS = words`
  bash cargo cat cd chmod chown code cp curl docker env find gcc git go grep gh java kill kubectl ls make
  mkdir mv nano node npm npx open perl php pip pip3 pnpm ps python python3 rm rsync ruby sed sh ssh sudo
  tar terraform test vi vim wget which xargs yarn zsh
`;

/** Extensions of files that a desktop opens by itself. */
const LAUNCHERS = words`
  lnk url scf library-ms searchConnector-ms theme themepack hta chm reg vbs wsf settingcontent-ms inf
  application appref-ms webloc inetloc fileloc terminal command workflow scpt action mobileconfig website
  diagcab iqy slk xll ppam xlam
`;
/** Extensions of files whose program runs something in them when they are opened. */
const OPENED_BY_PROGRAMS = words`
  tool applescript jnlp rdp code-profile search-ms wsb sct msc xbap appinstaller gadget udl odc mht one
  swf run flatpak shortcut alfredworkflow nemo_action msl
`;

export const desktopRules: readonly Rule[] = [
  {
    id: 'run-command-name',
    title: 'File with the name of a command',
    family: 'desktop',
    when: 'typing that command where this folder is searched for programs',
    severity: 'suspect',
    files: COMMANDS.flatMap((name) => [
      `/${name}`,
      `/{bin,scripts,tools,.direnv/bin,node_modules/.bin,sbin,.bin}/${name}`,
    ]),
    look: [
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
    id: 'shell-completion',
    family: 'shell',
    when: 'pressing Tab, if the folder is one of the shell',
    severity: 'suspect',
    files: [
      '{completion,completions,site-functions}/_*',
      '{completion,completions,site-functions,vendor_completions.d,bash_completion.d}/*.{bash,fish,zsh,ps1,nu,elv}',
      '{bash-completion,zsh,fish}/**/{completions,site-functions,vendor_completions.d}/*',
      'bash_completion.d/*',
      '!*.{md,txt,css,scss,sass,less,html,js,jsx,ts,tsx,py,rb,go,rs,java,kt,vue,svelte}',
    ],
    look: [{ kind: 'content' }],
    harmless: ['deletion'],
    why: 'The shell runs it as soon as the command is completed.',
    source: 'bash(1), Programmable Completion; zshcompsys(1)',
  },
  {
    id: 'run-windows-name',
    title: 'File that Windows runs by its name',
    family: 'desktop',
    when: 'opening a terminal or editor in that folder on Windows',
    severity: 'suspect',
    files: [
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
    look: [ANY_CHANGE],
    harmless: ['comments'],
    why: 'Windows searches the current folder first.',
    source: 'CVE-2020-26233, CVE-2020-27955',
  },
  {
    id: 'desktop-launcher',
    title: 'File that a desktop opens by itself',
    family: 'desktop',
    when: 'showing the folder in a file manager, or a double click',
    severity: 'suspect',
    files: [
      `*.{${LAUNCHERS.join(',')}}`,
      '*.{app,workflow,action,prefPane,qlgenerator,saver,kext,mdimporter,service}/**',
      `*.{${OPENED_BY_PROGRAMS.join(',')}}`,
      '*.{docm,dotm,xlsm,xltm,xlsb,pptm,potm,iso,img,vhd,vhdx,cab}',
      '*.{scptd,framework,plugin,bundle,xpc,appex,qlplugin,osax}/**',
      'delegates.xml',
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
      '!*.md',
    ],
    look: [
      ANY_CHANGE,
      { kind: 'lines', danger: /Exec\s*=|open\s*=|IconFile|\\\\|URL=|command|shell/i, harmless: /^Name(\[\w+\])?=/ },
    ],
    harmless: ['comments'],
    why: 'Showing or opening it starts a program or reaches a server.',
    source: 'Desktop Entry specification; CVE-2025-24054, CVE-2017-8464',
  },
  {
    id: 'debugger-file',
    family: 'desktop',
    when: 'gdb, lldb, valgrind or a database client started in this folder',
    severity: 'suspect',
    files: [
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
      'jdb.ini',
      '.jdbrc',
      '.dbxinit',
      '.perldb',
      '.delverc',
      '.dlv/**',
      '*.dSYM/**/*.py',
      '.odbc.ini',
      '.strace*',
    ],
    look: [
      ANY_CHANGE,
      {
        kind: 'lines',
        danger: /shell|\\!|system|python|source|pager|plugin|command|log-file|init/i,
      },
    ],
    harmless: ['comments'],
    why: 'The tool runs the file when it starts.',
    source: 'manuals of gdb, lldb, valgrind, psql and sqlite3',
  },
];
