import { anyOf, words } from '../../formats/words.ts';
import type { HarmlessTable } from '../../judges/harmless-keys.ts';

/** Modules of Go and their versions. Another source of a module, a tool and a setting of the program are not plain. */
export const GO_MOD: HarmlessTable = {
  files: ['go.mod', 'go.work'],
  format: 'go-mod',
  harmless: {
    any: ['retract'],
    matching: anyOf(
      /^module=[\w./~-]+$/,
      // Go itself comes from go.dev, with a checksum from its database.
      /^go=\d+\.\d+(\.\d+|(rc|beta)\d+)?$|^toolchain=go\d+\.\d+(\.\d+|(rc|beta)\d+)?$/,
      /^(require|exclude)=[\w.~-]+(\/[\w.~-]+)* v\d+\.\d+\.\d[\w.+-]*$/,
    ),
  },
};

/** What a package of R says of itself. Other sources, compiled headers and engines of vignettes are not plain. */
export const R_DESCRIPTION: HarmlessTable = {
  files: ['DESCRIPTION'],
  format: 'control-fields',
  harmless: {
    text: words`Title Description Author Maintainer Copyright Contact Note`,
    words: words`Package Type License Language Date Packaged Classification/MSC`,
    version: words`Version RoxygenNote Config/testthat/edition Config/roxygen2/version`,
    switch: words`LazyData LazyLoad ByteCompile NeedsCompilation Biarch Config/testthat/parallel`,
    word: words`Encoding LazyDataCompression`,
    matching: anyOf(
      /^(URL|BugReports)=(https?:\/\/[\w./#~%-]+[\s,]*)+$/,
      /^(Imports|Depends|Suggests|Enhances)=[A-Za-z][\w.]*(\s*\([<>=]+\s*[\w.-]+\))?(\s*,\s*[A-Za-z][\w.]*(\s*\([<>=]+\s*[\w.-]+\))?)*,?$/,
      /^Collate=[\w.\s'"-]*$/,
      // A call of R, of nothing but texts and the names of its arguments.
      /^Authors@R=(?:[\s(),=]|"[^"\\]*"|'[^'\\]*'|\b(?:c|person|comment|given|family|middle|email|role|ORCID|ROR)\b)*$/,
      /^Roxygen=list\(markdown = TRUE\)$/,
    ),
  },
};

/** Packages of Stackage and Hackage. Other sources, options of the compiler and hooks are not plain. */
export const STACK: HarmlessTable = {
  files: ['stack.yaml'],
  format: 'yaml',
  harmless: {
    switch: words`flags.*.* jobs allow-newer recommend-stack-upgrade`,
    matching: anyOf(
      /^(resolver|snapshot)=(lts|nightly|ghc)-[\d.-]+$/,
      /^extra-deps\[\]=[A-Za-z][A-Za-z\d]*(-[A-Za-z][A-Za-z\d]*)*-\d[\d.]*(@(sha256:[0-9a-f]{64}(,\d+)?|rev:\d+))?$/,
      /^(extra-deps|flags)=(\[\]|\{\}|null)$/,
    ),
  },
};

/** Hints for Haskell. Options for the parser, and packages of rules, are not plain. */
export const HLINT: HarmlessTable = {
  files: ['.hlint.yaml'],
  format: 'yaml',
  harmless: {
    any: words`{ignore,warn,error,hint,suggest,functions,modules,extensions,flags,fixity}{,.***}`.map(
      (key) => `.${key}`,
    ),
  },
};

/** Packages of pub.dev, and what a package says of itself. Other sources, programs and assets of build hooks are not plain. */
export const PUBSPEC: HarmlessTable = {
  files: ['pubspec.yaml'],
  format: 'yaml',
  harmless: {
    word: words`name publish_to resolution {dev_,}dependencies.*.sdk`,
    text: words`description`,
    url: words`homepage repository issue_tracker documentation`,
    version: words`version environment.* {dev_,}dependencies.{*,*.version}`,
    switch: words`flutter.{uses-material-design,generate} {dev_,}dependencies.*`,
    words: words`topics`,
    glob: words`flutter.assets flutter.fonts.{family,fonts.asset}`,
    matching: /^flutter\.fonts(\[\])?\.fonts(\[\])?\.(weight|style)=\w+$/,
  },
};
