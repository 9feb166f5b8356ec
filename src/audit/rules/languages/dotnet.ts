import { readStructure } from '../../formats/structured.ts';
import { anyOf, oneOf, pattern, words } from '../../formats/words.ts';
import type { JudgedText, Rule } from '../../judges/rule.ts';
import { MSBUILD, MSBUILD_SAFE } from './plain-builds.ts';

const ITEMS = oneOf`
  ProjectReference Compile None Content EmbeddedResource Using InternalsVisibleTo Folder FrameworkReference
`;
const PROPERTIES = oneOf`
  Version VersionPrefix VersionSuffix AssemblyVersion FileVersion TargetFrameworks? LangVersion Nullable
  ImplicitUsings OutputType RootNamespace AssemblyName Description Authors Company Copyright Product Title
  PackageId PackageTags PackageLicenseExpression PackageProjectUrl PackageReadmeFile PackageIcon
  PackageReleaseNotes RepositoryUrl RepositoryType IsPackable IsTestProject GenerateDocumentationFile
  TreatWarningsAsErrors PrivateAssets IncludeAssets Deterministic InvariantGlobalization DebugType Optimize
  NeutralLanguage UserSecretsId EnableNullable Configurations? Platforms?
`;
const MODULE_KEYS = oneOf`
  ScriptsToProcess RootModule ModuleToProcess NestedModules RequiredAssemblies TypesToProcess FormatsToProcess
  CustomRulePath
`;

/** An element that starts nothing. */
const PLAIN_ELEMENT = anyOf(
  /<PackageReference\s+(Include|Update)="[\w.-]+"(\s+Version="[\w.*[\](), -]+")?\s*\/?>(<\/PackageReference>)?/,
  /<(PackageVersion|package)\s+(Include|id)="[\w.-]+"\s+[vV]ersion="[\w.*[\](), -]+"(\s+\w+="[\w.]+")?\s*\/>/,
  /<(PropertyGroup|ItemGroup)>|<Project Sdk="Microsoft\.NET\.Sdk(\.\w+)*">|<Project>|<\?xml [^>]*\?>|<!--[^>]*-->/,
  pattern()`<(${ITEMS})\s[^<>]*\/?>`,
  pattern()`<(${PROPERTIES})>[^<$]*<\/\w+>`,
);

/** Files of MSBuild and NuGet, which are XML. */
const MSBUILD_FILES = [
  '*.{cs,fs,vb,vcx,sql,es,pb,py,njs,wix,dc,wap,il,sh,sf,cc,d}proj',
  '*.{proj,projitems,tasks,overridetasks,msbuild}',
  '*.pubxml{,.user}',
  '*.props',
  '*.targets',
  'packages.config',
];
/** Files that select the tools, the compiler and the packages of the build. */
const VERSION_FILES = ['global.json', 'dotnet-tools.json', '.config/dotnet-tools.json'];
const PROGRAMS = ['*.{cake,csx,tt,t4}', 'build.fsx'];
const OTHER_FILES = [
  ...PROGRAMS,
  'stylecop.json',
  'xunit.runner.json',
  '*.{sln,slnx}',
  'FodyWeavers.xml',
  '*.rsp',
  'after.*.sln.targets',
  'before.*.sln.targets',
  'nuget.config',
  'tools/{init,install,uninstall}.ps1',
  'web.config',
  'app.config',
  'paket.dependencies',
  '*.nuspec',
  'launchSettings.json',
  'omnisharp.json',
  '*.runsettings',
  '*.ruleset',
  '*.sln.DotSettings',
];

export const dotnetRules: readonly Rule[] = [
  {
    id: 'dotnet-build',
    family: 'languages',
    when: 'dotnet build, restore or test, opening in an IDE',
    severity: 'suspect',
    files: [...MSBUILD_FILES, ...VERSION_FILES, ...OTHER_FILES],
    look: [
      { kind: 'settings', format: 'xml', files: MSBUILD_FILES, harmless: { ...MSBUILD, matching: MSBUILD_SAFE } },
      {
        kind: 'settings',
        format: 'jsonc',
        files: VERSION_FILES,
        harmless: {
          any: words`$schema`,
          switch: words`version isRoot tools.*.rollForward sdk.allowPrerelease`,
          version: words`tools.***.version sdk.version`,
          word: words`sdk.rollForward`,
        },
      },
      { kind: 'custom', see: newForBuild },
      {
        kind: 'lines',
        files: OTHER_FILES,
        // Any element that is not known to be harmless: MSBuild has a property for each program that it starts.
        danger: anyOf(
          /<[\w?!]|^Project\(|\$\(\[|packageSources|commandName|executablePath|commandLineArgs|environmentVariables/i,
          /<#|"(version|sdk|rollForward|commands|tools|paths|msbuild-sdks|LocationPaths)"|DataCollector/i,
          // An editor fetches the schema that a file names.
          /"\$schema"\s*:\s*"(?!https:\/\/(raw\.githubusercontent\.com\/DotNetAnalyzers|json\.schemastore\.org|xunit\.net)\/)/i,
          /allowedExtensions|Process\.|#(addin|tool|load|module|r)\b|\bsource\b/i,
        ),
        removed: /<clear\b|packageSourceMapping|trustedSigners|signatureValidationMode/i,
        harmless: pattern()`^(?!.*\$\(\[)(${PLAIN_ELEMENT.source})$`,
      },
      // Programs: their lines call what they like.
      { kind: 'lines', files: PROGRAMS, danger: /^(?!\/\/)/, removed: /^(?!\/\/)/ },
      {
        kind: 'custom',
        see: ({ path, after }) => (/\.rsp$/i.test(path) && after !== undefined ? ['a response file'] : []),
      },
    ],
    why: 'The build, and an IDE that opens the project, runs its tasks.',
    source: 'MSBuild documentation',
  },
  {
    id: 'dotnet-tools',
    family: 'languages',
    when: 'dotnet build, a PowerShell that loads the module, opening in an IDE',
    severity: 'suspect',
    files: [
      '*.{t4,ttinclude}',
      'licenses.licx',
      'nlog.config',
      '*.dll.config',
      'libman.json',
      'nswag.json',
      '*.psd1',
      '*.ps1xml',
    ],
    look: [
      {
        kind: 'lines',
        danger: anyOf(
          /<#|,|<(add|extensions|target|codeBase|include|ScriptBlock)\b/i,
          /"(defaultProvider|provider|library|assemblyPaths|project|command)"/i,
          pattern('i')`(${MODULE_KEYS})\s*=`,
        ),
        harmless: /^(#|ModuleVersion|Description|Author|CompanyName|Copyright|GUID|ReleaseNotes|Tags)/i,
      },
    ],
    why: 'It names programs, assemblies or scripts that the tool loads.',
    source: 'MSBuild, T4, NLog and PowerShell documentation',
  },
];

/** A file that a build imports because of its name, and a tool that a version alone does not explain. */
function newForBuild({ path, before, after }: JudgedText): string[] {
  if (after === undefined) return [];
  if (/\.(props|targets)$/i.test(path)) return before === undefined ? ['new file'] : [];
  if (!/(^|\/)dotnet-tools\.json$/i.test(path)) return [];
  const toolsIn = (text: string): string[] =>
    (readStructure(text, 'jsonc', path)?.leaves ?? []).flatMap(
      ({ key }) => /^(tools\..+)\.version$/.exec(key)?.[1] ?? [],
    );
  const had = new Set(toolsIn(before ?? ''));
  return toolsIn(after).filter((tool) => !had.has(tool));
}
