import { oneOf, pattern, words } from '../../../formats/words.ts';
import type { PlainTable } from '../../../judges/plain.ts';

const ISTANBUL_REPORTERS = oneOf`
  clover cobertura html html-spa json json-summary lcov lcovonly none teamcity text text-lcov text-summary v8
`;
const MOCHA_REPORTERS = oneOf`
  spec dot min list nyan tap landing progress json xunit markdown html doc json-stream
`;

/** Test runners, coverage, benchmarks and checks of pages. */
export const TEST_TABLES: readonly PlainTable[] = [
  {
    paths: ['.mocharc.{json,jsonc,yml,yaml}', '.mocharc*.{json,jsonc,yml,yaml}'],
    plain: {
      any: words`$schema grep fgrep`,
      switch: words`
        {allow-uncaught,allowUncaught,async-only,asyncOnly,bail,check-leaks,checkLeaks,color,colors,delay,diff,dry-run,exit}
        {dryRun,fail-zero,failZero,forbid-only,forbidOnly,forbid-pending,forbidPending,full-trace,fullTrace,growl,inline-diffs}
        {inlineDiffs,invert,jobs,parallel,recursive,retries,slow,sort,timeout,timeouts,watch}
      `,
      word: words`extension`,
      glob: words`ignore watch-files watchFiles watch-ignore watchIgnore`,
    },
    safe: pattern()`^(ui=(bdd|tdd|qunit|exports)|reporter=(${MOCHA_REPORTERS}))$`,
  },
  {
    paths: ['.nycrc', '.nycrc.*', '.c8rc', '.c8rc.*'],
    plain: {
      any: words`$schema`,
      switch: words`
        all branches functions lines statements check-coverage checkCoverage cache clean per-file perFile skip-full skipFull
        skip-empty source-map sourceMap produce-source-map instrument eager silent hook-run-in-context
        hook-require exclude-after-remap exclude-node-modules excludeNodeModules watermarks.*
      `,
      glob: words`include exclude extension report-dir reportDir reports-dir temp-dir tempDirectory temp-directory`,
    },
    safe: pattern()`^reporter(\[\])*=(${ISTANBUL_REPORTERS})$`,
  },
  {
    paths: ['.taprc', 'tap.yml'],
    plain: {
      switch: words`
        jobs timeout bail color diff check-coverage coverage branches functions lines statements show-full-coverage
        allow-empty-coverage allow-incomplete-coverage disable-coverage only save-fixture comments
      `,
    },
  },
  {
    paths: ['jest-*.json', 'jest.config.json'],
    plain: {
      any: words`$schema displayName`,
      switch: words`
        testTimeout verbose collectCoverage bail clearMocks resetMocks restoreMocks resetModules maxWorkers maxConcurrency
        slowTestThreshold injectGlobals errorOnDeprecated passWithNoTests coverageThreshold.***
      `,
      glob: words`collectCoverageFrom coveragePathIgnorePatterns testPathIgnorePatterns coverageDirectory`,
      word: words`moduleFileExtensions`,
    },
    safe: /^coverageProvider=(v8|babel)$/,
  },
  {
    paths: ['jasmine.json'],
    plain: { switch: words`random stopSpecOnExpectationFailure stopOnSpecFailure failSpecWithNoExpectations env.*` },
  },
  {
    paths: ['cypress.json'],
    plain: {
      any: words`$schema`,
      switch: words`*`,
      word: words`projectId`,
      glob: words`ignoreTestFiles screenshotsFolder videosFolder downloadsFolder`,
    },
  },
  { paths: ['.testcaferc*'], plain: { switch: words`*` } },
  {
    paths: ['testem.json'],
    plain: { switch: words`timeout browser_disconnect_timeout browser_start_timeout parallel disable_watching` },
    safe: /^framework=(qunit|jasmine|jasmine2|mocha|mocha\+chai|buster|custom)$/,
  },
  { paths: ['nightwatch.json'], plain: { any: words`$schema` } },
  {
    paths: ['artillery*.y{,a}ml'],
    plain: {
      switch: words`config.phases.* config.{http,ws,ensure}.**`,
      text: words`config.phases.name scenarios.name`,
      any: words`scenarios.flow.**`,
      never: words`**.{function,beforeRequest,afterResponse,processor,plugins,engine}`,
    },
  },
  {
    paths: ['.lighthouserc', '.lighthouserc.{json,y{,a}ml}', 'lighthouserc.{json,y{,a}ml}'],
    plain: { switch: words`ci.assert.assertions.** ci.collect.numberOfRuns`, word: words`ci.assert.assertions.**` },
  },
  { paths: ['asv.conf.json'], plain: { switch: words`version show_commit_url`, text: words`project` } },
  {
    paths: ['.size-limit.json', '.bundlewatch*'],
    plain: {
      word: words`**.{limit,maxSize,compression} limit`,
      text: words`**.{limit,name,maxSize} name`,
      switch: words`{gzip,brotli,running} **.{gzip,brotli,running}`,
      glob: words`{,**.}{path,ignore}`,
    },
  },
  {
    paths: ['bruno.json'],
    plain: { word: words`version type`, text: words`name`, glob: words`ignore`, switch: words`version` },
  },
];
