import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { RunClaudeError } from '../../../core/errors.ts';
import { packageRoot } from '../../../core/host/package.ts';
import { openProgress } from '../../../core/progress/open-progress.ts';
import type { ImageRuntime } from '../../../core/types/runtime.ts';
import { type ContextEntry, withContext } from '../context.ts';
import { type EnsureImageOptions, proxyArguments } from '../ensure.ts';
import { followBuild } from '../follow-build.ts';
import { addressLayer, ensureLayer, type LayerOptions } from './layer.ts';

/** Adds Debian packages to an image. */
const DOCKERFILE = `ARG BELOW
FROM $BELOW
LABEL run-claude.image=stage
USER 0
COPY install.sh finish.sh /tmp/run-claude/
ARG PACKAGES
RUN sh /tmp/run-claude/install.sh $PACKAGES && rm -rf /tmp/run-claude
USER agent
LABEL run-claude.image=packages
`;

/**
 * Runs as root in the build. The scripts of some packages use programs that finish.sh removed from the image, and removes
 * again. Chromium's own sandbox needs namespaces, which no program in a session gets.
 */
const INSTALL = `set -eu
apt-get update
apt-cache pkgnames | sort >/tmp/run-claude/names
for name in "$@"; do
  if ! grep -Fxq -- "$name" /tmp/run-claude/names; then
    echo "run-claude refuses: there is no package $name"
    exit 1
  fi
done
export DEBIAN_FRONTEND=noninteractive
printf '#!/bin/sh\\nexit 101\\n' >/usr/sbin/policy-rc.d
chmod 0755 /usr/sbin/policy-rc.d
apt-get install -y --no-install-recommends --reinstall login mount passwd util-linux
apt-get install -y --no-install-recommends -- "$@"
rm /usr/sbin/policy-rc.d
if [ -d /etc/chromium.d ]; then
  flags='--no-sandbox --disable-dev-shm-usage --no-first-run --disable-background-networking --disable-component-update'
  echo "export CHROMIUM_FLAGS=\\"\\$CHROMIUM_FLAGS $flags\\"" >/etc/chromium.d/run-claude
  mkdir -p /opt/google/chrome
  ln -sf /usr/bin/chromium /opt/google/chrome/chrome
fi
sh /tmp/run-claude/finish.sh
`;

/** Lines of a failed build that the user sees. */
const SHOWN_LINES = 25;

export interface PackageLayerOptions extends LayerOptions, Pick<EnsureImageOptions, 'env'> {
  /** `below` has programs of a custom image. They run in the build, and learn no login for a proxy. */
  readonly isCustom: boolean;
  /** Checked names of Debian packages, sorted; at least one. */
  readonly packages: readonly string[];
}

/** The address of the image `below` with these packages, whether it exists or not. */
export function addressPackageLayer(below: string, packages: readonly string[]): string {
  return addressLayer([below, ...files().map(({ content }) => content), ...packages]);
}

/**
 * Adds packages to the image below, as {@link ensureLayer} makes a layer.
 *
 * @throws {RunClaudeError} PACKAGE_UNKNOWN, IMAGE_REFUSED, IMAGE_BUILD_FAILED, DISK_FULL.
 */
export async function ensurePackageLayer(engine: ImageRuntime, options: PackageLayerOptions): Promise<string> {
  const { below, isCustom, packages, tell, signal, env } = options;
  const tag = addressPackageLayer(below, packages);
  await ensureLayer(engine, tag, options, async ({ unproven, dir }) => {
    tell({ kind: 'message', level: 'info', text: `Adding packages to the image: ${packages.join(', ')}...` });
    let log = '';
    using progress = openProgress(tell, 'Adding packages');
    const follow = followBuild(progress);
    const request = {
      tag: unproven,
      args: { BELOW: below, PACKAGES: packages.join(' '), ...(isCustom ? {} : proxyArguments(env)) },
      fresh: options.rebuild,
      signal,
      onOutput: (text: string) => {
        log = (log + text).slice(-65_536);
        follow(text);
      },
    };
    try {
      await withContext(dir, files(), (archive) => engine.images.build(archive, request));
    } catch (error) {
      signal.throwIfAborted();
      throw explain(error, log, tell);
    }
  });
  return tag;
}

function explain(error: unknown, log: string, tell: PackageLayerOptions['tell']): unknown {
  const unknown = /^run-claude refuses: there is no package (\S{1,64})$/m.exec(log)?.[1];
  if (unknown !== undefined) {
    return new RunClaudeError('PACKAGE_UNKNOWN', `the image's Debian release has no package ${unknown}`, {
      cause: error,
      hint: 'Search https://packages.debian.org for its name, and correct packages in the [environment] or [[service]] table.',
    });
  }
  for (const text of log.trimEnd().split('\n').slice(-SHOWN_LINES)) tell({ kind: 'message', level: 'error', text });
  return error;
}

function files(): readonly (ContextEntry & { readonly content: string })[] {
  return [
    { path: 'Dockerfile', content: DOCKERFILE },
    { path: 'install.sh', content: INSTALL },
    { path: 'finish.sh', content: readFileSync(join(packageRoot, 'images', 'finish.sh'), 'utf8') },
  ];
}
