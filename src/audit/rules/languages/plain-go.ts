import { words } from '../../formats/words.ts';
import type { HarmlessKeys } from '../../judges/harmless-keys.ts';

export const GOLANGCI_PATHS = ['.golangci.{yml,yaml,toml,json}'];

/** Settings of golangci-lint that are plain: which linters look at which files. Plugins, rules in files and output elsewhere are not here. */
export const GOLANGCI: HarmlessKeys = {
  switch: words`
    version run.{timeout,tests,issues-exit-code,concurrency,allow-parallel-runners,allow-serial-runners} linters.{fast,enable-all,disable-all}
    {issues,linters.exclusions}.{exclude-use-default,exclude-case-sensitive,max-issues-per-linter,max-same-issues,new,fix,uniq-by-line,warn-unused}
    output.{print-*,sort-results,show-stats} severity.{default,default-severity,case-sensitive}
  `,
  version: words`run.go`,
  words: words`
    {linters,formatters}.{enable,disable,default} {issues,linters}.exclusions.{presets,generated} {issues.exclude-rules,linters.exclusions.rules}.linters
    run.build-tags severity.rules.{linters,severity} output.sort-order
  `,
  any: words`
    {issues.exclude-rules,linters.exclusions.rules,severity.rules}.{path,path-except,text,source} issues.{exclude,include,exclude-dirs,exclude-files}
    {linters,formatters}.exclusions.paths linters.exclusions.paths-except run.{skip-dirs,skip-files}
    {linters-settings,linters.settings,formatters.settings}.***
  `,
  never: words`
    {linters-settings,linters.settings}.custom{,.***} {linters-settings,linters.settings,formatters.settings}.***{path,file,command,cmd,ruleguard}{,.***}
  `,
};
