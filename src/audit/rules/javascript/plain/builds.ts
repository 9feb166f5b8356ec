import { words } from '../../../formats/words.ts';
import type { HarmlessTable } from '../../../judges/harmless-keys.ts';

/** Targets of Angular and Nx: what they read and write, and the targets before them. */
const TARGETS = words`
  {,projects.*.}{targets,architect}.*.{outputs,inputs} {,projects.*.}{targets,architect}.*.**.{assets,styles,inlineStyleLanguage,outputPath,outputDir}
`;

/** Compilers, bundlers, frameworks, generators and programs that deploy or run an application. */
export const BUILD_TABLES: readonly HarmlessTable[] = [
  {
    files: ['babel.config.json', '.babelrc', '.babelrc.json', 'babel.config.*.json'],
    harmless: {
      switch: words`
        {,env.*.}{comments,compact,minified,sourceMaps,retainLines,shouldPrintComment,inputSourceMap,sourceType}
        assumptions.* {,env.*.}presets.{loose,modules,bugfixes,useBuiltIns,debug,development,runtime,corejs,spec}
      `,
      version: words`targets targets.** {,env.*.}presets.targets {,env.*.}presets.targets.**`,
      glob: words`{,env.*.}{ignore,only}`,
    },
  },
  { files: ['.postcssrc', '.postcssrc.{json,yml,yaml}'], harmless: { switch: words`map map.*` } },
  {
    files: ['.swcrc', '.swcrc.*'],
    harmless: {
      any: words`$schema`,
      switch: words`
        minify sourceMaps inlineSourcesContent isModule jsc.{loose,externalHelpers,keepClassNames,preserveAllComments} jsc.parser.*
        jsc.transform.{legacyDecorator,decoratorMetadata,useDefineForClassFields,treatConstEnumAsEnum} jsc.minify.**
        jsc.transform.react.{refresh,development,throwIfNamespace,useBuiltins} module.* env.{coreJs,debug,loose}
      `,
      word: words`jsc.{target,parser.syntax,transform.react.runtime,transform.decoratorVersion} module.type env.{mode,coreJs}`,
      version: words`env.targets env.targets.**`,
      glob: words`exclude test`,
    },
  },
  {
    files: ['nodemon.json', '.nodemonrc'],
    harmless: {
      switch: words`delay verbose legacyWatch colours restartable stdin`,
      words: words`ext signal`,
      glob: words`ignore watch ignoreRoot`,
    },
  },
  {
    files: ['nest-cli.json'],
    harmless: {
      any: words`$schema`,
      switch: words`monorepo compilerOptions.{deleteOutDir,webpack,watchAssets,manualRestart} generateOptions.*`,
      word: words`language`,
      glob: words`sourceRoot projects.*.{root,sourceRoot,type}`,
    },
  },
  {
    files: ['angular.json', 'project.json', 'workspace.json'],
    harmless: {
      any: words`$schema`,
      switch: words`
        version {,projects.*.}{targets,architect}.** {,projects.*.}schematics.***.{skipTests,standalone,inlineStyle,inlineTemplate,flat}
        cli.{analytics,cache.enabled,warnings.*} {,projects.*.}{targets,architect}.*.cache
      `,
      word: words`
        {,projects.*.}{name,prefix,projectType} {,projects.*.}tags {,projects.*.}{targets,architect}.**.budgets.*
        {,projects.*.}{targets,architect}.**.{outputHashing,inlineStyleLanguage} schematics.***.style
        {,projects.*.}{targets,architect}.*.defaultConfiguration
      `,
      glob: [...TARGETS, ...words`newProjectRoot {,projects.*.}{root,sourceRoot,implicitDependencies,tags}`],
      matching: /^(projects\.[^.]*\.)?(targets|architect)\.[^.]*\.dependsOn(\[\])*=\^?[\w:@*-]+$/,
    },
    // Names of targets, of which `^` and a project may come first.
  },
  {
    files: ['.graphqlrc', '.graphqlrc.{json,yml,yaml}'],
    harmless: {
      glob: words`{,projects.*.}{documents,include,exclude}`,
      matching: /^(projects\.[^.]*\.)?schema(\[\])?=(?!.*\.\.)[\w./*-]+\.(graphqls?|gql|json)$/,
    },
  },
  {
    files: ['wrangler.{toml,json,jsonc}'],
    harmless: {
      any: words`$schema`,
      word: words`compatibility_date compatibility_flags`,
      switch: words`{,env.*.}observability.** {,env.*.}{workers_dev,minify,preview_urls,upload_source_maps}`,
    },
  },
  {
    files: ['netlify.toml', 'vercel.json', 'amplify.yml'],
    harmless: { any: words`$schema`, switch: words`cleanUrls trailingSlash public`, word: words`regions` },
  },
  {
    files: ['app.json', 'wails.json', 'ionic.config.json', 'book.json'],
    harmless: {
      any: words`$schema`,
      text: words`
        {,expo.}{name,displayName,description,slug,title,author,language,copyright} author.* info.* keywords
      `,
      word: words`
        {,expo.}{version,orientation,userInterfaceStyle,scheme,backgroundColor} type id gitbook
        expo.{ios,android}.{bundleIdentifier,package,buildNumber,versionCode} outputfilename
        expo.**.{backgroundColor,resizeMode}
      `,
      switch: words`expo.{ios,android,web}.* expo.{newArchEnabled,jsEngine,platforms}`,
      glob: words`expo.{icon,splash.image,assetBundlePatterns,ios.icon,android.icon,web.favicon} expo.android.adaptiveIcon.* structure.*`,
      matching:
        /^(expo\.)?(backgroundColor|splash\.backgroundColor|primaryColor|android\.adaptiveIcon\.backgroundColor)=#[\da-f]{3,8}$/i,
    },
  },
  {
    files: ['electron-builder.{json,json5,yml,yaml,toml}', 'electron-builder.*.{json,yml,yaml}'],
    harmless: {
      any: words`$schema appId productName copyright artifactName {mac,win,linux,nsis,dmg,deb,rpm}.artifactName`,
      switch: words`
        asar compression npmRebuild nodeGypRebuild removePackageScripts nsis.{oneClick,perMachine}
        nsis.{allowToChangeInstallationDirectory,deleteAppDataOnUninstall,createDesktopShortcut,createStartMenuShortcut,differentialPackage,runAfterFinish}
        dmg.{iconSize,iconTextSize,window.*,contents.{x,y}}
      `,
      words: words`{mac,win,linux}.{target,target.target,target.arch,category} linux.{maintainer,synopsis,vendor} compression`,
      text: words`linux.{description,synopsis,maintainer} nsis.shortcutName dmg.title`,
      glob: words`{mac,win,linux,dmg}.icon directories.output`,
    },
  },
  {
    files: ['typedoc.json'],
    harmless: {
      any: words`$schema`,
      switch: words`* validation.* navigation.* searchCategoryBoosts.* searchGroupBoosts.*`,
      text: words`name`,
      word: words`sort kindSortOrder categoryOrder groupOrder entryPointStrategy visibilityFilters.* highlightLanguages`,
      glob: words`entryPoints out readme exclude projectDocuments externalPattern json`,
      url: words`hostedBaseUrl navigationLinks.*`,
    },
  },
  {
    files: ['{.,}jsdoc{,.conf,.config}.json'],
    harmless: {
      switch: words`tags.* recurseDepth opts.{recurse,private,verbose,pedantic} templates.{cleverLinks,monospaceLinks} templates.default.*`,
      word: words`sourceType opts.{encoding,access} tags.dictionaries`,
      any: words`source.{includePattern,excludePattern}`,
      glob: words`source.{include,exclude} opts.{destination,readme,package}`,
      matching:
        /^plugins\[\]=plugins\/(markdown|summarize|shout|commentConvert|escapeHtml|overloadHelper|sourcetag|underscore)$|^opts\.template=templates\/default$/,
    },
  },
  {
    files: ['relay.config.json'],
    harmless: { switch: words`*`, word: words`language`, glob: words`src schema exclude* artifactDirectory` },
  },
  {
    files: ['ormconfig.{json,yml,yaml}'],
    harmless: { switch: words`{,**.}logging {,**.}{cache,maxQueryExecutionTime}` },
  },
  {
    files: ['{process,pm2,ecosystem}.{json,yml,yaml}'],
    harmless: {
      switch: words`apps.{instances,autorestart,max_restarts,min_uptime,merge_logs}`,
      word: words`apps.max_memory_restart`,
    },
  },
  {
    // Its dependencies are packages of hvigor plugins.
    files: ['hvigor-config.json5'],
    harmless: {
      word: words`modelVersion hvigorVersion execution.* logging.level debugging.stacktrace`,
      switch: words`execution.* debugging.* nodeOptions.{maxOldSpaceSize,maxSemiSpaceSize,exposeGC} properties.*`,
    },
  },
  {
    files: ['openapitools.json'],
    harmless: { any: words`$schema`, switch: words`spaces`, matching: /^generator-cli\.version=[\d.]+$/ },
  },
];
