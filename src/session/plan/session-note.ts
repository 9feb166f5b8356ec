import { visible } from '../../core/text/visible.ts';
import type { Plan } from '../../core/types/plan.ts';
import type { CacheName } from '../../core/types/setup/cache.ts';

export interface NotedPlan extends Pick<Plan, 'policy' | 'mode' | 'also' | 'caches'> {
  /** Files that have decoys in the copy. */
  readonly masked?: readonly string[];
}

/**
 * The note for the agent about what this session has besides the project, as Markdown; undefined for a session that has
 * nothing. The note of every image says the rest.
 */
export function sessionNote({ policy, mode, also = [], caches = [], masked = [] }: NotedPlan): string | undefined {
  const lines = [
    ...maskedLines(masked, mode),
    ...folderLines(also),
    ...serviceLines(policy.services ?? []),
    ...environmentLines(policy, mode),
    ...cacheLines(caches),
  ];
  return lines.length === 0 ? undefined : `# The environment of this session\n\n${lines.join('\n')}\n`;
}

const MAX_MASKED_NAMED = 20;

function maskedLines(masked: readonly string[], mode: Plan['mode']): string[] {
  if (masked.length === 0) return [];
  const named = codeList(masked.slice(0, MAX_MASKED_NAMED).map((one) => visible(one).replaceAll('`', "'")));
  const more = masked.length > MAX_MASKED_NAMED ? ` and ${masked.length - MAX_MASKED_NAMED} more` : '';
  return [
    `- Secrets are replaced by values of the same form that open nothing, in: ${named}${more}. Other values are the user's.`,
    '- Your changes of these files stay in this session. Name new keys in your summary: the user adds them.',
    ...(mode === 'bind'
      ? [
          '- A new file such as `.env`, `*.key` or `.npmrc` ends this session where it holds a secret that nobody had before.',
          '  Write a placeholder (`changeme`) into it, or a value of the files above; make keys in `/tmp`.',
        ]
      : []),
    '- If a task needs a real secret, ask the user for a session with `--unmask GLOB`, or with `--env NAME` for one value.',
  ];
}

function folderLines(folders: NonNullable<Plan['also']>): string[] {
  return folders.map(({ name, isReadonly }) =>
    isReadonly
      ? `- \`/also/${name}\` is another folder of the user, which you can only read.`
      : `- \`/also/${name}\` is another folder of the user. What you change there is reviewed like the project.`,
  );
}

function serviceLines(services: NonNullable<Plan['policy']['services']>): string[] {
  if (services.length === 0) return [];
  return [
    ...services.map(({ name, port, packages, image }) => {
      const what = image ?? packages.join(', ');
      const from = what === '' ? '' : ` (\`${what.replaceAll('`', "'")}\`)`;
      return `- A service runs next to you: \`${name}\`${from}, at \`127.0.0.1:${port}\` and \`${name}:${port}\`.`;
    }),
    '- The data of services is new in each session, and only for it: you may change and drop all of it. You cannot start or',
    '  configure services yourself; `[[service]]` in `.run-claude.toml` asks the user for them.',
  ];
}

const CACHE_NOTES: Readonly<Record<CacheName, string>> = {
  npm: '`npm ci` and `npm install`',
  pnpm: '`pnpm install`',
  yarn: '`yarn install` of Yarn 1',
  pip: '`pip install -r`',
  cargo: '`cargo build` and `cargo fetch`',
  go: '`go build` and `go mod download`',
  maven: '`mvn`',
  gradle: '`gradle`',
};

function cacheLines(caches: NonNullable<Plan['caches']>): string[] {
  return caches.map(
    ({ ecosystem }) =>
      `- ${CACHE_NOTES[ecosystem]} take the packages of the lock file, as it was before this session, from a read-only cache. Others come from the registry.`,
  );
}

function environmentLines(policy: Plan['policy'], mode: Plan['mode']): string[] {
  const { environment } = policy;
  if (environment === undefined) return [];
  const { packages, setup, env } = environment;
  return [
    ...(packages.length === 0 ? [] : [`- Debian packages that were added to the system: ${codeList(packages)}.`]),
    ...(setup === undefined ? [] : setupLines(setup, mode)),
    ...(Object.keys(env).length === 0
      ? []
      : [`- Variables that the project needs are set: ${codeList(Object.keys(env))}.`]),
    ...(packages.includes('chromium') ? BROWSER : []),
    `- Network: ${registries(policy)}.`,
    ...MORE,
  ];
}

function setupLines(setup: string, mode: Plan['mode']): string[] {
  const command = setup.replaceAll('`', "'").replace(/\s*\n\s*/g, '; ');
  return [
    `- This ran before the session: \`${command}\`. What it made in your home is there.`,
    mode === 'copy'
      ? '- What it made in `/workspace` is there too. It does not come back to the user: do not try to deliver it.'
      : '- What it made in the project is not there: this session works on the files of the user.',
  ];
}

const BROWSER = [
  '- Chromium is `/usr/bin/chromium`; its own sandbox is off, because the container is the sandbox. A screenshot:',
  '  `chromium --headless --screenshot=page.png --window-size=1280,800 http://localhost:3000`.',
  "- Playwright: launch with `channel: 'chrome'` or `executablePath: process.env.CHROME_PATH`. `playwright install` cannot",
  '  work. Puppeteer finds Chromium by itself.',
];

const MORE = [
  '- You cannot add packages yourself. If you need more, name the Debian packages in your summary, or write them into',
  '  `packages` of `[environment]` in `.run-claude.toml`: the user is asked before the next session.',
];

function registries({ network, networkPresets }: Plan['policy']): string {
  if (network === 'none') return 'none';
  if (network === 'open') return 'every host';
  const names = networkPresets.flatMap((preset) =>
    preset === 'default' ? ['npm', 'pypi', 'crates', 'go', 'debian'] : [preset],
  );
  return `the package registries ${codeList(names)}, and hosts that the user named`;
}

function codeList(words: readonly string[]): string {
  return words.map((word) => `\`${word}\``).join(', ');
}
