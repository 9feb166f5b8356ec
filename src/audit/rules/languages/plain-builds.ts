import { anyOf, oneOf, pattern, words } from '../../formats/words.ts';
import { onlyHarmlessKeys } from '../../judges/harmless-change.ts';
import { below, type HarmlessKeys, merged } from '../../judges/harmless-keys.ts';
import type { HarmlessChange } from '../../judges/rule.ts';

const DEPENDENCIES = ['', 'target.**.', 'workspace.'].flatMap((where) =>
  ['', 'dev-', 'build-', 'dev_', 'build_'].map((kind) => `${where}${kind}dependencies.*`),
);

/** What Cargo.toml may say without a program, a compiler's flag or another source of a crate. */
export const CARGO: HarmlessKeys = merged(
  {
    any: words`
      badges features lints profile dependencies dev-dependencies build-dependencies workspace.{dependencies,lints,package}
      {,workspace.}package.{authors,categories,keywords,license,documentation,homepage,repository} {,workspace.}lints.*** badges.***
      {,workspace.}package.metadata.docs.*** package.metadata.docs.rs.*** features.*** workspace.default-members
    `,
    text: words`{,workspace.}package.description`,
    glob: words`{,workspace.}package.{name,readme,license-file,exclude,include} workspace.exclude {bench,example,test}.{path,name}`,
    word: words`{,workspace.}package.{version,edition,rust-version,resolver} workspace.resolver lib.name {bench,example,test}.required-features`,
    switch: words`
      {,workspace.}package.{edition,rust-version,publish,autobins,autobenches,autoexamples,autotests,autolib,resolver,version}{,.workspace}
      {,workspace.}package.*.workspace workspace.resolver lints.workspace lib.{bench,test,doctest,doc}
      profile.***.{opt-level,debug,lto,strip,panic,codegen-units,incremental,overflow-checks,debug-assertions,rpath,split-debuginfo}
      {bench,example,test}.{harness,test,bench,doc,doctest}
    `,
    words: words`profile.***.{opt-level,debug,lto,strip,panic,inherits,split-debuginfo}`,
  },
  below(DEPENDENCIES, {
    version: ['', '.version'],
    switch: ['.optional', '.default-features', '.default_features', '.workspace', '.public'],
  }),
  below(DEPENDENCIES, { any: ['.features'] }),
);
export const CARGO_SAFE = anyOf(
  // An alias of a package to its own name.
  /dependencies\.([^.=]{1,100})\.package=\1$/,
  /^lib\.crate[-_]type(\[\])?=(lib|rlib|cdylib|staticlib|dylib)$/,
);

/** What a file of Maven may say: names, versions and scopes; every plugin has its own properties that run something. */
export const MAVEN: HarmlessKeys = {
  any: words`
    project@* {,***.}{developers,contributors,organization,scm,issueManagement,ciManagement,mailingLists,licenses,exclusions}.**
    project.{name,url,inceptionYear}
  `,
  text: words`project.{name,description,url}`,
  word: words`
    project.{modelVersion,packaging} project.{,profiles.profile.}{,dependencyManagement.}dependencies.dependency.{groupId,artifactId}
    {,***.}properties.{project.build.sourceEncoding,project.reporting.outputEncoding,java.version}
  `,
  version: words`
    {,***.}version {,***.}properties.{version*,**.version,**-version,**Version,maven.compiler.source,maven.compiler.target,maven.compiler.release}
    {,***.}configuration.{source,target,release}
  `,
  words: words`{,***.}dependency.{scope,type,optional,classifier} {,***.}properties.project.build.outputTimestamp`,
  switch: words`{,***.}dependency.optional {,***.}inherited`,
  never: words`***plugin***.configuration.***{fork,skip*,executable,jvm,argLine} {,***.}exclusions.***{path,file}`,
};
export const MAVEN_SAFE = anyOf(
  /(^|\.)groupId=org\.(apache|junit)[\w.]*$/,
  /^project\.([\w.]+\.)?dependencies\.dependency\.groupId=\$\{project\.groupId\}$/,
  /(^|\.)(url|name)=https?:\/\/(github|gitlab)\.com\/[^<]*$/,
  /(^|\.)(version|parent\.version)=\$\{(revision|project\.version|[\w.-]{1,60}[.-]?[vV]ersion)\}$/,
  /^(project\.)?(\?|!)?$/,
);

const ITEM_NAMES = oneOf`
  ProjectReference PackageReference PackageVersion Compile None Content EmbeddedResource Using InternalsVisibleTo Folder
  FrameworkReference
`;
const ITEMS =
  '{ProjectReference,Compile,None,Content,EmbeddedResource,Using,InternalsVisibleTo,Folder,FrameworkReference}';
const PROPERTY_NAMES = words`
  Version VersionPrefix VersionSuffix AssemblyVersion FileVersion TargetFramework TargetFrameworks LangVersion Nullable
  ImplicitUsings OutputType RootNamespace AssemblyName Description Authors Company Copyright Product Title PackageId
  PackageTags PackageLicenseExpression PackageProjectUrl PackageReadmeFile PackageIcon PackageReleaseNotes RepositoryUrl
  RepositoryType IsPackable IsTestProject GenerateDocumentationFile TreatWarningsAsErrors Deterministic
  InvariantGlobalization DebugType Optimize NeutralLanguage UserSecretsId EnableNullable Configuration Configurations
  Platform Platforms NoWarn WarningLevel AnalysisLevel ManagePackageVersionsCentrally
`;
const PROPERTIES = `{${PROPERTY_NAMES.join(',')}}`;

/** What a project of MSBuild may say: it has a property for each program that it starts. */
export const MSBUILD: HarmlessKeys = {
  text: [`{,Project.PropertyGroup.}${PROPERTIES}`, `Project.ItemGroup.${ITEMS}@*`, `Project.ItemGroup.${ITEMS}.*`],
  words: [
    `{,Project.PropertyGroup.}${PROPERTIES}`,
    '{,Project.ItemGroup.}{PackageReference,PackageVersion}@{Include,Update}',
    'Project.ItemGroup.PackageReference.{PrivateAssets,IncludeAssets,ExcludeAssets}',
    'Project.ItemGroup.PackageReference@{PrivateAssets,IncludeAssets,ExcludeAssets}',
    'packages.package@{id,version,targetFramework,developmentDependency}',
  ],
  any: [
    'Project.ItemGroup.ProjectReference@Include',
    'Project@xmlns',
    'Project@DefaultTargets',
    'Project@ToolsVersion',
  ],
  never: ['Project.ItemGroup.*@Condition'],
};
export const MSBUILD_SAFE = anyOf(
  /^Project@Sdk=Microsoft\.NET\.Sdk(\.\w+)*$/,
  /^(Project\.ItemGroup\.)?(PackageReference|PackageVersion)[@.]Version=[\w.*[\](), -]+$/,
  pattern()`^Project(\.(PropertyGroup|ItemGroup)(\.(${ITEM_NAMES}))?)?=$|^Project\.ItemGroup\.(${ITEM_NAMES})@(Include|Update|Remove|Exclude|Link|CopyToOutputDirectory)=(?!.*\$\(\[)[\w./*\\ -]*$`,
);

/** How many jobs Cargo runs, and how much of them it shows. */
export const CARGO_CONFIG: HarmlessChange = {
  files: ['.cargo/config.toml'],
  proves: onlyHarmlessKeys('toml', {
    harmless: {
      switch: words`
        build.jobs net.{retry,offline} term.{quiet,verbose,color,hyperlinks,unicode} term.progress.{when,width}
      `,
    },
    lines:
      /^\[(build|term|net)\]$|^(jobs|retry|offline|quiet|verbose|color|hyperlinks|unicode|when|width)\s*=\s*["']?\w+["']?$/,
  }),
};
