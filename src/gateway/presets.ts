/** Hosts that one word of the configuration stands for. */
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

/** Package registries and no code host: what comes from a registry was published, what a code host takes can be anything. */
export const DEFAULT_PRESETS: readonly string[] = ['npm', 'pypi', 'crates', 'go', 'debian'];

/** The provider's own hosts: the broker alone talks to them. */
export const PROVIDER_HOSTS: readonly string[] = [
  'anthropic.com',
  '*.anthropic.com',
  'claude.ai',
  '*.claude.ai',
  'claude.com',
  '*.claude.com',
];

/** What Claude Code asks for at start-up by itself (telemetry, flags, update checks): logged, not told. */
export const QUIET_HOSTS: readonly string[] = [
  ...PROVIDER_HOSTS,
  'statsig.com',
  '*.statsig.com',
  'featuregates.org',
  '*.sentry.io',
  '*.datadoghq.com',
  '*.growthbook.io',
];
