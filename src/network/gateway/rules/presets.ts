/** Hosts of the presets that the configuration can name. */
export const PRESETS: Readonly<Record<string, readonly string[]>> = {
  npm: ['registry.npmjs.org', 'registry.yarnpkg.com'],
  pypi: ['pypi.org', 'files.pythonhosted.org'],
  crates: ['crates.io', 'static.crates.io', 'index.crates.io'],
  go: ['proxy.golang.org', 'sum.golang.org'],
  debian: ['deb.debian.org', 'security.debian.org', 'cdn-fastly.deb.debian.org'],
  ubuntu: ['archive.ubuntu.com', 'security.ubuntu.com', 'ports.ubuntu.com'],
  maven: ['repo.maven.apache.org', 'repo1.maven.org', 'plugins.gradle.org', 'services.gradle.org', 'dl.google.com'],
  rubygems: ['rubygems.org', 'index.rubygems.org'],
  github: [
    'github.com',
    'api.github.com',
    'codeload.github.com',
    'raw.githubusercontent.com',
    'objects.githubusercontent.com',
    'release-assets.githubusercontent.com',
  ],
  gitlab: ['gitlab.com', 'registry.gitlab.com'],
};

/** Package registries, but no code host: a registry serves what was published, a code host accepts any upload. */
export const DEFAULT_PRESETS: readonly string[] = ['npm', 'pypi', 'crates', 'go', 'debian'];

/** The provider's own hosts: only the broker connects to them. */
export const PROVIDER_HOSTS: readonly string[] = [
  'anthropic.com',
  '*.anthropic.com',
  'claude.ai',
  '*.claude.ai',
  'claude.com',
  '*.claude.com',
];

/** Hosts that Claude Code contacts by itself when it starts (telemetry, flags, update checks): logged, not shown. */
export const QUIET_HOSTS: readonly string[] = [
  ...PROVIDER_HOSTS,
  'statsig.com',
  '*.statsig.com',
  'featuregates.org',
  '*.sentry.io',
  '*.datadoghq.com',
  '*.growthbook.io',
];

/** Hosts that Chromium contacts by itself, whatever its flags are: updates, dictionaries, the time. Refused, and not shown. */
export const BROWSER_HOSTS: readonly string[] = [
  'update.googleapis.com',
  'optimizationguide-pa.googleapis.com',
  'clients2.google.com',
  'redirector.gvt1.com',
];
