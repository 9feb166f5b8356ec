import { LONG_MS, type Scene, SHORT_MS, scenes } from './scene.ts';

/** A runner of tests starts Node for each of its files. */
const TESTS = /^(?:node|sh|bash) (?:\S*\/)?(?:tests?|spec|__tests__)\/|^node \S*[.-](?:test|spec)\.[cm]?[jt]sx?$/;

export const JAVASCRIPT_SCENES: readonly Scene[] = [
  ...scenes({ limitMs: SHORT_MS }, [['npm run', 'package.json', 'npm']]),
  ...scenes({ limitMs: LONG_MS, ordinary: TESTS }, [['npm test', 'package.json', 'npm', 'npm test --if-present']]),
  ...scenes({ limitMs: SHORT_MS }, [
    [
      'npm install --ignore-scripts',
      'package.json',
      'npm',
      'npm install --ignore-scripts --offline --no-audit --no-fund --no-update-notifier',
    ],
  ]),
  ...scenes({ limitMs: LONG_MS }, [
    ['npm install', 'package.json', 'npm', 'npm install --offline --no-audit --no-fund --no-update-notifier'],
    ['npm run build', 'package.json', 'npm', 'npm run build --if-present'],
    ['pnpm install', 'pnpm-lock.yaml pnpm-workspace.yaml', 'pnpm', 'pnpm install --offline'],
    ['yarn install', 'yarn.lock .yarnrc.yml', 'yarn', 'yarn install --offline'],
    ['bun install', 'bun.lock bun.lockb bunfig.toml', 'bun', 'bun install'],
    ['deno task', 'deno.json deno.jsonc', 'deno', 'deno task'],
  ]),
];
