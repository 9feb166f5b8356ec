import { packageRoot } from '../../core/host/package.ts';
import type { Runtime } from '../../core/types/runtime.ts';
import { extraCertificates } from './certificates.ts';
import { type ContextFile, imageTag, readImageFiles } from './files.ts';
import { PINS_FILE, withClaudeRelease } from './pins/pins-file.ts';
import type { PinnedPackage } from './pins/pins-schema.ts';

export interface ImageVariant {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** With compilers. */
  readonly toolchain: boolean;
  /** Without the certificate authorities of this machine. */
  readonly withoutCertificates?: boolean | undefined;
  /** The release of Claude Code in it; without one, the pinned release. */
  readonly claude?: PinnedPackage | undefined;
}

/** Debian packages of that variant. */
export const TOOLCHAIN = 'build-essential pkg-config';

/** Files of the image for this package and this machine's certificates, for an engine of that architecture. */
export function imageFiles(
  { env, claude, withoutCertificates }: Omit<ImageVariant, 'toolchain'>,
  arch: string,
): readonly ContextFile[] {
  const files = readImageFiles(packageRoot).map(({ path, content }) =>
    claude !== undefined && path === PINS_FILE
      ? { path, content: withClaudeRelease(content, arch, claude) }
      : { path, content },
  );
  return withoutCertificates === true ? files : [...files, ...extraCertificates(env)];
}

/** The address of the image that these files make on the engine, whether it exists or not. */
export function addressFiles(
  engine: Pick<Runtime, 'facts'>,
  files: readonly ContextFile[],
  toolchain: boolean,
): string {
  return imageTag(files, { arch: engine.facts.arch, toolchain: toolchain ? TOOLCHAIN : '' });
}

/** The address of the image for this package, this machine's certificates and this variant. */
export function addressImage(engine: Pick<Runtime, 'facts'>, variant: ImageVariant): string {
  return addressFiles(engine, imageFiles(variant, engine.facts.arch), variant.toolchain);
}
