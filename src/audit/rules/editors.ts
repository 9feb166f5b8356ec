import { anyOf, oneOf, pattern } from '../formats/words.ts';
import { ANY_CHANGE, type JudgedText, type Rule } from '../judges/rule.ts';
import { PLAIN_VSCODE_SETTING } from './editor-settings.ts';
import { HARMLESS_IN_FLEET, HARMLESS_IN_VSCODE, HARMLESS_IN_XCODE } from './harmless-editors.ts';

const VSCODE_KEYS = oneOf`
  command args env cwd shell runOn dependsOn inputs program runtime preLaunch postDebug setup pipe recommendations Command$
  mounts runArgs image features build privileged folders remote forward ports
`;
const XCODE_SETTINGS = oneOf`
  script command binary run arguments build(ToolPath|ArgumentsString|WorkingDirectory) repositoryURL
  relativePath baseConfigurationReference CC LD LDPLUSPLUS CXX AR LIBTOOL SWIFTC TOOLCHAINS DEVELOPER_DIR
  SDKROOT
  \w*(FLAGS|LOCATION|SANDBOX\w*|_EXEC|_COMPILER|_LINKER|_LAUNCHER|_TOOL|PLUGINS?|_PREPROCESS\w*|ACTIONS?)
`;

const GUARDS = anyOf(
  /security\.workspace|supportUntrusted|allowAutomaticTasks|autoApprove|\bmcp\b|chat\.|unicodeHighlight/i,
  /renderControlCharacters|http\.|ignoredRepositories|(files|search)\.exclude|extensions\./i,
  /terminal\.integrated|code-runner|emeraldwalk|lsp|context_servers|debugger|task\./i,
  /workbench\.trustedDomains/i,
);

export const editorRules: readonly Rule[] = [
  {
    id: 'editor-vscode-settings',
    family: 'editors',
    when: 'opening the folder in VS Code or an editor like it',
    severity: 'suspect',
    files: ['.{vscode,cursor,windsurf,vscodium,kiro}/settings.json'],
    look: [
      // Every setting that is not known to be plain data.
      { kind: 'keys', format: 'jsonc', danger: /./, harmless: PLAIN_VSCODE_SETTING },
      {
        kind: 'keys',
        format: 'jsonc',
        danger: GUARDS,
        harmless: /^(files|search)\.exclude\.\*\*\/\*?\.?[\w*-]+=true$/,
      },
    ],
    why: 'An extension may take a program, a module or a server from the changed keys, or they disable a protection.',
    source: 'VS Code workspace trust; CVE-2025-53773',
  },
  {
    id: 'editor-vscode',
    family: 'editors',
    when: 'opening the folder in VS Code, running or debugging',
    severity: 'suspect',
    files: [
      '.vscode/**',
      '*.code-workspace',
      '.devcontainer/**',
      '.devcontainer.json',
      '.vscode-test/**',
      '.vscode-server/**',
      '.theia/**',
      '.gitpod.y{,a}ml',
      '.gitpod/**',
      '.ona/**',
      '!.vscode/settings.json',
    ],
    look: [
      ANY_CHANGE,
      {
        kind: 'keys',
        format: 'auto',
        danger: pattern('i')`${VSCODE_KEYS}`,
        removed: /./,
      },
    ],
    harmless: ['comments', ...HARMLESS_IN_VSCODE],
    why: 'Tasks, launches, extensions and containers defined here run on your machine.',
    source: 'VS Code and containers.dev documentation',
  },
  {
    id: 'editor-jetbrains',
    family: 'editors',
    when: 'opening, building or running the project in a JetBrains IDE',
    severity: 'suspect',
    files: ['.idea/**', '.run/**', '*.iml', '*.ipr', '*.iws', '.fleet/**'],
    look: [
      ANY_CHANGE,
      {
        kind: 'lines',
        danger:
          /SCRIPT_|VM_PARAMETERS|PROGRAM|beforeRun|option name=".{0,60}(path|command|script|interpreter|shell|home)|jdbc|plugin|envs?\b|processor/i,
      },
    ],
    harmless: ['comments', HARMLESS_IN_FLEET],
    why: 'Run configurations, watchers and start-up tasks run programs.',
    source: 'JetBrains project security',
  },
  {
    id: 'editor-xcode-project',
    family: 'editors',
    when: 'opening or building the project in Xcode',
    severity: 'suspect',
    files: ['*.xcodeproj/project.pbxproj'],
    look: [
      {
        kind: 'lines',
        // Script phases, build rules, tools, flags and packages, and escapes or other formats that could spell them.
        danger: anyOf(
          /shell(Script|Path)|PBX(ShellScript|BuildRule|LegacyTarget)|fileType\s*=\s*"?pattern|lldbinit/i,
          /XC(Remote|Local)\w*PackageReference/i,
          pattern('i')`\b(${XCODE_SETTINGS})(\[[^\]]{0,80}\])?"?\s*=`,
          /-load|-fplugin|\\[U0-7x]|&#|<!|^bplist|^[<{]\s*["?]/i,
        ),
        harmless: /^\/\* (Begin|End) \w+ section \*\/$|^(SDKROOT = (iphoneos|macosx|auto|appletvos|watchos|xros);)$/,
      },
    ],
    why: 'Xcode runs its script phases, build rules and tools, and fetches its packages.',
    source: 'Xcode documentation, Customizing the build phases of a target',
  },
  {
    id: 'editor-others',
    family: 'editors',
    when: 'opening or building the project in that editor',
    severity: 'suspect',
    files: [
      '*.sublime-{project,workspace,build,settings,commands}',
      '.zed/**',
      '.helix/**',
      '.project',
      '.classpath',
      '.factorypath',
      '.externalToolBuilders/**',
      '*.launch',
      '.settings/**',
      '.vs/**',
      '*.suo',
      '*.csproj.user',
      '*.vcxproj.user',
      'launch.vs.json',
      'tasks.vs.json',
      'CppProperties.json',
      '.vsconfig',
      '.nova/**',
      '.lapce/**',
      '.pulsar/**',
      '.atom/**',
      '.xcode.env*',
      '*.xcodeproj/**',
      '*.xcworkspace/**',
      '*.xcscheme',
      '*.xcconfig',
      '*.xctestplan',
      '*.playground/**',
      '.ijwb/**',
      '.clwb/**',
      '.kateproject',
      '.kdev4/**',
      '*.kdev4',
      '.netbeans/**',
      'nbproject/**',
      '.brackets.json',
      '.lsp.json',
      '.dbeaver/**',
      '.metals/**',
      '.bloop/**',
      '.bsp/**',
      'buildServer.json',
      '.cproject',
      'project.godot',
      'addons/**/plugin.cfg',
      'Packages/manifest.json',
      'Assets/**/Editor/**',
      '*.uproject',
      '*.uplugin',
      'CMakeSettings.json',
      'cmake-{kits,variants}.{json,yaml}',
      'compile_{commands.json,flags.txt}',
      'nbactions{,-*}.xml',
      '*.pro.user{,.*}',
      '*.{geany,cbp,workspace.layout,qbs.user,creator.user}',
      '.idx/**',
      'replit.nix',
      '!*.xcodeproj/**/*.xcuserstate',
      '!*.xcodeproj/project.pbxproj',
    ],
    look: [
      ANY_CHANGE,
      {
        kind: 'lines',
        danger:
          /shellScript|PreActions|PostActions|command|binary|lldbinit|OTHER_\w*FLAGS|SWIFT_EXEC|\b(CC|LD|CXX)\s*=|repositoryURL|arguments|LOCATION/i,
      },
    ],
    harmless: ['comments', HARMLESS_IN_XCODE],
    why: 'The editor takes build steps and programs from it.',
    source:
      'documentation of Sublime Text, Zed, Helix, Eclipse, Visual Studio, Xcode, Godot, Unity, Unreal; SourceKit-LSP',
  },
  {
    id: 'editor-http-client',
    family: 'editors',
    when: 'sending the request in the editor',
    severity: 'suspect',
    files: ['*.{http,rest}', '{http-client,rest-client}{,.private}.env.json'],
    look: [
      {
        kind: 'lines',
        danger:
          /^[<>]{1,2}!?\s*\{%|^<@?\s*(?!\.?\/?[\w-]+\/)|^<@?\s.*(\.\.|\.env|\.ssh|\.aws|secret|token)|client\.|\$(processEnv|dotenv)|^(import|run)\s/i,
      },
      { kind: 'custom', see: otherHosts },
    ],
    why: 'The editor runs scripts of the file, and sends local files and secrets to its hosts.',
    source: 'JetBrains HTTP client; VS Code REST client',
  },
  {
    id: 'editor-editorconfig',
    family: 'editors',
    when: 'saving a file',
    severity: 'suspect',
    files: ['.editorconfig'],
    look: [
      {
        kind: 'lines',
        danger: /^\s*(charset|end_of_line)\s*=|dotnet_diagnostic\..{0,80}=\s*(none|silent)|dotnet_analyzer.{0,80}none/i,
      },
    ],
    why: 'It changes the bytes of scripts on save, or silences analyzers.',
    source: 'editorconfig.org',
  },
];

/** Hosts of requests that the file did not name before. */
function otherHosts({ before, after = '' }: JudgedText): string[] {
  const hosts = (text: string): string[] =>
    [...text.matchAll(/\bhttps?:\/\/([\w.-]{1,200})/gi)].map((match) => (match[1] ?? '').toLowerCase());
  const had = new Set(hosts(before ?? ''));
  return before === undefined
    ? []
    : [...new Set(hosts(after))].filter((host) => !had.has(host)).map((host) => `to ${host}`);
}
