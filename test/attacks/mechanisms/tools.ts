import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { runLabel } from '../../support/image.ts';

const DEBIAN = `make cmake gcc libc6-dev meson scons ant default-jre-headless maven rake doxygen pre-commit
  python3-pytest pylint mypy flake8 python3-coverage python3-sphinx mkdocs tox nox python3-invoke python3-doit python3-yaml
  python3-pip python3-setuptools python3-wheel cargo rustc ruby ruby-rspec rubocop bundler composer phpunit php-cli`;
const NPM = `eslint@10.15.0 prettier@3.10.1 mocha@12.0.3 jest@30.5.2 stylelint@18.0.0 rollup@4.68.5 @commitlint/cli@21.2.4
  markdownlint-cli2@0.24.1 lint-staged@17.6.1 yarn@1.22.22`;
const words = (list: string): string[] => list.split(/\s+/);

/** Where the tools of the npm registry are. */
export const NPM_TOOLS = '/opt/tools/node_modules/.bin';

const dockerfile = (): string => `ARG OURS
FROM $OURS
LABEL ${runLabel()}
USER 0
RUN apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends ${words(DEBIAN).join(' ')}
# A host has none of the guards that the agent's git has.
RUN rm /etc/ld.so.preload /etc/gitconfig
RUN find / -xdev -perm /6000 -exec chmod ug-s {} +
COPY node_modules /opt/tools/node_modules
USER agent
`;

/**
 * Builds the agent's image with the tools that the commands of the mechanisms are (some minutes). npm runs on this machine:
 * a container may not have its certificates.
 */
export function mechanismsImage(ours: string): string {
  const tag = `run-claude-test-mechanisms:${path.basename(process.env['RUN_CLAUDE_TESTS_SHARED'] ?? tmpdir())}`;
  const context = mkdtempSync(path.join(tmpdir(), 'run-claude-mechanisms-'));
  try {
    const options = ['--prefix', context, '--no-audit', '--no-fund', '--ignore-scripts', '--loglevel', 'error'];
    execFileSync('npm', ['install', ...options, ...words(NPM)], { stdio: ['ignore', 'ignore', 'inherit'] });
    execFileSync('docker', ['build', '-q', '--build-arg', `OURS=${ours}`, '-t', tag, '-f', '-', context], {
      input: dockerfile(),
      stdio: ['pipe', 'ignore', 'inherit'],
    });
  } finally {
    rmSync(context, { recursive: true, force: true });
  }
  return tag;
}
