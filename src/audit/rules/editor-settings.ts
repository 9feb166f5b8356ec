import { anyOf, oneOf, pattern } from '../formats/words.ts';

/**
 * Settings of VS Code that are plain data: how text is shown, written and searched. Every other setting belongs to an
 * extension or to a part that starts programs, and most extensions have one that names a program, a module or a
 * configuration to load.
 */
const SHOWN = oneOf`
  editor breadcrumbs diffEditor explorer outline problems scm window zenMode notebook\.(output|lineNumbers|diff)
  workbench\.(color\w*|iconTheme|productIconTheme|preferredDarkColorTheme|preferredLightColorTheme|tree|editor|list)
  workbench\.(startupEditor|sideBar|activityBar|statusBar|panel|layoutControl|hover|tips|view|fontAliasing)
  debug\.(inlineValues|toolBarLocation|console|showBreakpointsInOverviewRuler|internalConsoleOptions)
  testing\.(gutterEnabled|followRunningTest|countBadge|automaticallyOpenPeekView|openTesting)
  (javascript|typescript)\.(format|suggest|preferences|updateImportsOnFileMove|inlayHints|validate|autoClosingTags)
  (javascript|typescript)\.(suggestionActions|referencesCodeLens|implementationsCodeLens|preferGoToSourceDefinition)
  (css|scss|less)\.(lint|validate|format|completion|hover) html\.(format|suggest|hover|autoClosingTags|validate)
  json\.(format|validate|maxItemsComputed) markdown\.(preview|validate|suggest|updateLinksOnFileMove|links|occurrencesHighlight)
  emmet\.(includeLanguages|triggerExpansionOnTab|showExpandedAbbreviation|excludeLanguages|variables)
  peacock\.(color|remoteColor|affect\w+) material-icon-theme indentRainbow better-comments bracket-pair-colorizer-2
  jupyter\.themeMatplotlibPlots
`;
const WRITTEN = oneOf`
  eol insertFinalNewline trimTrailingWhitespace trimTrailingWhitespaceInRegexAndStrings trimFinalNewlines encoding
  autoGuessEncoding autoSave\w* associations exclude watcherExclude readonlyInclude readonlyExclude defaultLanguage
  hotExit maxMemoryForLargeFilesMB
`;
/** Rules of formatters and linters that take no path, by the names that these tools give them. */
const STYLE = oneOf`
  prettier\.(enable|printWidth|tabWidth|useTabs|semi|(jsxS|s)ingleQuote|quoteProps|trailingComma|bracketSpacing)
  prettier\.(bracketSameLine|arrowParens|proseWrap|endOfLine|requireConfig|useEditorConfig|documentSelectors|disableLanguages)
  eslint\.(enable|validate|probe|quiet|format\.enable|run|codeAction\.\w+|codeActionsOnSave\.\w+|useFlatConfig)
  eslint\.(experimental\.useFlatConfig|lintTask\.enable|rules\.customizations|ignoreUntitled|onIgnoredFiles)
  stylelint\.(enable|validate|snippet) tailwindCSS\.(emmetCompletions|includeLanguages|classAttributes|validate|lint)
  tailwindCSS\.(classFunctions|colorDecorators|showPixelEquivalents|suggestions|hovers|rootFontSize)
  cSpell\.(words|userWords|ignoreWords|flagWords|enabled|language|ignorePaths|ignoreRegExpList|minWordLength|caseSensitive)
  cSpell\.(enabledLanguageIds|enableFiletypes|enabledFileTypes|allowCompoundWords|diagnosticLevel|maxNumberOfProblems)
  markdownlint\.config\.(?!extends)(MD\d+|default|[a-z-]+) markdownlint\.(ignore|focusMode|run)
  yaml\.(format|validate|hover|completion|customTags|maxItemsComputed|keyOrdering) biome\.enabled
  python\.analysis\.(typeCheckingMode|diagnosticMode|autoImportCompletions|completeFunctionParens|inlayHints|exclude|ignore)
  python\.analysis\.(diagnosticSeverityOverrides|indexing|supportRestructuredText|autoFormatStrings)
  ruff\.(lineLength|lint\.(enable|select|ignore|extendSelect)|format\.(preview|backend)|organizeImports|fixAll|enable)
  rust-analyzer\.(inlayHints|imports|lens|completion|diagnostics|hover|highlightRelated|semanticHighlighting|typing)
  rust-analyzer\.cargo\.(features|allFeatures|noDefaultFeatures) rust-analyzer\.(check|checkOnSave)\.(allTargets|features)
  go\.(lintOnSave|vetOnSave|formatOnSave|coverOnSave|testTimeout|useLanguageServer|inlayHints)
  gopls\.(ui|formatting) C_Cpp\.(errorSquiggles|clang_format_style|clang_format_fallbackStyle|intelliSenseEngine)
  java\.(format\.(enabled|onType)|saveActions|completion|signatureHelp|inlayHints|compile\.nullAnalysis\.mode)
  liveServer\.settings\.port conventionalCommits\.(scopes|gitmoji|autoCommit) npm\.autoDetect
`;
/** One program out of a few that everybody knows. */
const CHOICES = oneOf`
  go\.formatTool=(gofmt|goimports|gofumpt|default) rust-analyzer\.(check|checkOnSave)\.command=(check|clippy)
  rust-analyzer\.checkOnSave(\.enable)?=(true|false) rust-analyzer\.cargo\.(features|target)=[\w-]+
  npm\.packageManager=(auto|npm|pnpm|yarn|bun)
  python\.formatting\.provider=(black|autopep8|yapf|none) (javascript|typescript)\.tsc\.autoDetect=(on|off)
  json\.schemas\[\]\.(fileMatch(\[\])?=[^$\x60]*|url=\.?\/(?!.*\.\.)[\w./-]*)
  (yaml\.schemas\.(?![a-z]+:|\/)(?!.*\.\.)[\w./-]+)(\[\])?=[^$\x60]*
`;

/** A setting with its value that is plain data, `key=value` as settings are collected. */
export const PLAIN_VSCODE_SETTING = anyOf(
  pattern()`^(\[[^=]{1,60}\]\.)?(${SHOWN})(\.|\[|=|$)`,
  pattern()`^(\[[^=]{1,60}\]\.)?files\.(${WRITTEN})(\.|\[|=|$)`,
  pattern()`^search\.(?!exclude)[\w.]+=`,
  pattern()`^(${STYLE})(\.[^=]*|\[[^=]*)?=(?!.*(\$\{|\x60|\.\.\/))`,
  pattern()`^(${CHOICES})$`,
);
