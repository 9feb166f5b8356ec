import { packageRoot } from '../host/package.ts';
import type { Engine } from '../types/engine.ts';
import { extraCertificates } from './certificates.ts';
import { type ContextFile, imageTag, readImageFiles } from './files.ts';

export interface ImageVariant {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** With compilers. */
  readonly toolchain: boolean;
}

/** Debian packages of that variant. */
export const TOOLCHAIN = 'build-essential pkg-config';

/** Files of the image for this package and this machine's certificates. */
export function imageFiles({ env }: Pick<ImageVariant, 'env'>): readonly ContextFile[] {
  return [...readImageFiles(packageRoot), ...extraCertificates(env)];
}

/** The address of the image that these files make on the engine, whether it exists or not. */
export function addressFiles(engine: Engine, files: readonly ContextFile[], toolchain: boolean): string {
  return imageTag(files, { arch: engine.facts.arch, toolchain: toolchain ? TOOLCHAIN : '' });
}

/** The address of the image for this package, this machine's certificates and this variant. */
export function addressImage(engine: Engine, variant: ImageVariant): string {
  return addressFiles(engine, imageFiles(variant), variant.toolchain);
}
