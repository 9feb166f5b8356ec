import { RunClaudeError } from '../../core/errors.ts';
import { packageRoot } from '../../core/host/package.ts';
import { openProgress } from '../../core/progress/open-progress.ts';
import type { ImageRuntime } from '../../core/types/runtime.ts';
import { addressFiles } from './address.ts';
import { withContext } from './context.ts';
import type { ContextFile } from './files.ts';
import { followBuild } from './follow-build.ts';
import { INPUTS_LABEL, imageInputs, isCertificate } from './inputs.ts';
import { readPublished } from './pins/pins.ts';
import { nameProven, type ProofOptions, unprovenName } from './proven.ts';

export interface FetchOptions extends ProofOptions {
  readonly cacheDir: string;
}

/** Time limit for an image of some 500 MB. */
const PULL_MS = 15 * 60_000;

/** Adds this machine's certificate authorities to a published image, which has none. */
const WITH_CERTIFICATES = `ARG PUBLISHED
FROM $PUBLISHED
USER 0
COPY ca/ /usr/local/share/ca-certificates/host/
RUN update-ca-certificates
USER agent
`;

/**
 * Fetches the published image of these files by its digest, if there is one, and gives it the address once the probes
 * attacked it.
 *
 * @returns false when there is none for these files and this architecture, or when the registry does not deliver it.
 * @throws {RunClaudeError} IMAGE_REFUSED when an attack was not stopped; IMAGE_PINS.
 */
export async function fetchPublished(
  engine: ImageRuntime,
  { tag, files }: { readonly tag: string; readonly files: readonly ContextFile[] },
  options: FetchOptions,
): Promise<boolean> {
  const { tell, signal } = options;
  const published = readPublished(packageRoot);
  const image = published?.images[engine.facts.arch];
  const others = files.filter((file) => !isCertificate(file));
  if (published === undefined || image?.address !== addressFiles(engine, others, false)) return false;
  const reference = `${published.repository}@${image.digest}`;
  try {
    tell({ kind: 'message', level: 'info', text: `Fetching the image ${reference}...` });
    using progress = openProgress(tell, 'Fetching the image');
    await engine.images.pull(reference, PULL_MS, signal, { onOutput: progress.output });
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof RunClaudeError) || error.code !== 'IMAGE_PULL_FAILED') throw error;
    tell({ kind: 'message', level: 'warning', text: `${error.message}. The image is built on this machine instead.` });
    return false;
  }
  if (tag === image.address) await engine.images.name(reference, unprovenName(tag));
  else await addCertificates(engine, { tag, reference, files }, options);
  await nameProven(engine, tag, options);
  return true;
}

async function addCertificates(
  engine: ImageRuntime,
  {
    tag,
    reference,
    files,
  }: { readonly tag: string; readonly reference: string; readonly files: readonly ContextFile[] },
  { cacheDir, tell, signal }: FetchOptions,
): Promise<void> {
  const inputs = imageInputs(files, { arch: engine.facts.arch, toolchain: '' });
  using progress = openProgress(tell, "Adding this machine's certificates to the image");
  const request = {
    tag: unprovenName(tag),
    args: { PUBLISHED: reference },
    labels: { [INPUTS_LABEL]: JSON.stringify(inputs) },
    fresh: false,
    signal,
    onOutput: followBuild(progress),
  };
  const context = [{ path: 'Dockerfile', content: WITH_CERTIFICATES }, ...files.filter(isCertificate)];
  await withContext(cacheDir, context, (archive) => engine.images.build(archive, request));
}
