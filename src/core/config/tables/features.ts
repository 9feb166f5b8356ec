/** What `--with NAME` adds: packages, and variables that tell programs where they are. */
interface Feature {
  readonly packages: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

const CHROMIUM = '/usr/bin/chromium';

/** One row for each name that `--with` takes. */
export const FEATURES = {
  browser: {
    packages: ['chromium', 'fonts-liberation', 'fonts-noto-color-emoji'],
    env: {
      CHROME_BIN: CHROMIUM,
      CHROME_PATH: CHROMIUM,
      PUPPETEER_EXECUTABLE_PATH: CHROMIUM,
      PUPPETEER_SKIP_DOWNLOAD: 'true',
      PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD: '1',
    },
  },
} as const satisfies Readonly<Record<string, Feature>>;

export function isFeature(name: string): name is keyof typeof FEATURES {
  return Object.hasOwn(FEATURES, name);
}
