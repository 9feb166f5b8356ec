import { oneOf, pattern, words } from '../../../formats/words.ts';
import type { HarmlessTable } from '../../../judges/harmless-keys.ts';

const ISTANBUL_REPORTERS = oneOf`
  clover cobertura html html-spa json json-summary lcov lcovonly none teamcity text text-lcov text-summary v8
`;
const MOCHA_REPORTERS = oneOf`
  spec dot min list nyan tap landing progress json xunit markdown html doc json-stream
`;

/** Test runners, coverage, benchmarks and checks of pages. */
export const TEST_TABLES: readonly HarmlessTable[] = [
  {
    files: ['.mocharc.{json,jsonc,yml,yaml}', '.mocharc*.{json,jsonc,yml,yaml}'],
    harmless: {
      any: words`$schema grep fgrep`,
      switch: words`
        {allow-uncaught,allowUncaught,async-only,asyncOnly,bail,check-leaks,checkLeaks,color,colors,delay,diff,dry-run,exit}
        {dryRun,fail-zero,failZero,forbid-only,forbidOnly,forbid-pending,forbidPending,full-trace,fullTrace,growl,inline-diffs}
        {inlineDiffs,invert,jobs,parallel,recursive,retries,slow,sort,timeout,timeouts,watch}
      `,
      word: words`extension`,
      glob: words`ignore watch-files watchFiles watch-ignore watchIgnore`,
      matching: pattern()`^(ui=(bdd|tdd|qunit|exports)|reporter=(${MOCHA_REPORTERS}))$`,
    },
  },
  {
    files: ['.nycrc', '.nycrc.*', '.c8rc', '.c8rc.*'],
    harmless: {
      any: words`$schema`,
      switch: words`
        all branches functions lines statements check-coverage checkCoverage cache clean per-file perFile skip-full skipFull
        skip-empty source-map sourceMap produce-source-map instrument eager silent hook-run-in-context
        hook-require exclude-after-remap exclude-node-modules excludeNodeModules watermarks.*
      `,
      glob: words`include exclude extension report-dir reportDir reports-dir temp-dir tempDirectory temp-directory`,
      matching: pattern()`^reporter(\[\])*=(${ISTANBUL_REPORTERS})$`,
    },
  },
  {
    files: ['.taprc', 'tap.yml'],
    harmless: {
      switch: words`
        jobs timeout bail color diff check-coverage coverage branches functions lines statements show-full-coverage
        allow-empty-coverage allow-incomplete-coverage disable-coverage only save-fixture comments
      `,
    },
  },
  {
    files: ['jest-*.json', 'jest.config.json'],
    harmless: {
      any: words`$schema displayName`,
      switch: words`
        testTimeout verbose collectCoverage bail clearMocks resetMocks restoreMocks resetModules maxWorkers maxConcurrency
        slowTestThreshold injectGlobals errorOnDeprecated passWithNoTests coverageThreshold.***
      `,
      glob: words`collectCoverageFrom coveragePathIgnorePatterns testPathIgnorePatterns coverageDirectory`,
      word: words`moduleFileExtensions`,
      matching: /^coverageProvider=(v8|babel)$/,
    },
  },
  {
    files: ['jasmine.json'],
    harmless: { switch: words`random stopSpecOnExpectationFailure stopOnSpecFailure failSpecWithNoExpectations env.*` },
  },
  {
    files: ['cypress.json'],
    harmless: {
      any: words`$schema`,
      switch: words`*`,
      word: words`projectId`,
      glob: words`ignoreTestFiles screenshotsFolder videosFolder downloadsFolder`,
    },
  },
  { files: ['.testcaferc*'], harmless: { switch: words`*` } },
  {
    files: ['testem.json'],
    harmless: {
      switch: words`timeout browser_disconnect_timeout browser_start_timeout parallel disable_watching`,
      matching: /^framework=(qunit|jasmine|jasmine2|mocha|mocha\+chai|buster|custom)$/,
    },
  },
  { files: ['nightwatch.json'], harmless: { any: words`$schema` } },
  {
    files: ['artillery*.y{,a}ml'],
    harmless: {
      switch: words`config.phases.* config.{http,ws,ensure}.**`,
      text: words`config.phases.name scenarios.name`,
      any: words`scenarios.flow.**`,
      never: words`**.{function,beforeRequest,afterResponse,processor,plugins,engine}`,
    },
  },
  {
    files: ['.lighthouserc', '.lighthouserc.{json,y{,a}ml}', 'lighthouserc.{json,y{,a}ml}'],
    harmless: { switch: words`ci.assert.assertions.** ci.collect.numberOfRuns`, word: words`ci.assert.assertions.**` },
  },
  { files: ['asv.conf.json'], harmless: { switch: words`version show_commit_url`, text: words`project` } },
  {
    files: ['.size-limit.json', '.bundlewatch*'],
    harmless: {
      word: words`**.{limit,maxSize,compression} limit`,
      text: words`**.{limit,name,maxSize} name`,
      switch: words`{gzip,brotli,running} **.{gzip,brotli,running}`,
      glob: words`{,**.}{path,ignore}`,
    },
  },
  {
    files: ['bruno.json'],
    harmless: { word: words`version type`, text: words`name`, glob: words`ignore`, switch: words`version` },
  },
];
