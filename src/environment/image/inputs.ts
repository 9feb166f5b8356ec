import { createHash } from 'node:crypto';
import { ownVersion } from '../../core/host/package.ts';
import { parseObject } from '../../core/text/json-in.ts';
import type { Runtime } from '../../core/types/runtime.ts';
import type { ContextFile } from './files.ts';
import { readPins } from './pins/pins.ts';
import { PINS_FILE } from './pins/pins-file.ts';

/** Label of an image that run-claude built: its inputs by part, as JSON. The address holds only their digest. */
export const INPUTS_LABEL = 'run-claude.inputs';

/** The inputs of an image, by part: a version where there is one, otherwise a digest. Empty: no such part. */
export interface ImageInputs {
  readonly version: string;
  readonly claude: string;
  /** Node and npm. */
  readonly packages: string;
  readonly debian: string;
  readonly certificates: string;
  readonly arch: string;
  readonly toolchain: string;
  /** The Dockerfile and images/. */
  readonly files: string;
  /** The rest of images/pins.json: hashes and mirrors. */
  readonly pins: string;
}

/** The inputs of the image that these files and this variant make. */
export function imageInputs(
  files: readonly ContextFile[],
  variant: { readonly arch: string; readonly toolchain: string },
): ImageInputs {
  const pins = readPins(files);
  const others = (pins.packages[variant.arch] ?? []).filter(({ file }) => file !== 'claude.tgz');
  const certificates = files.filter(isCertificate);
  const own = files.filter((file) => !isCertificate(file) && file.path !== PINS_FILE);
  return {
    version: ownVersion(),
    claude: pins.claudeVersion,
    packages: others.map(({ file, version }) => `${file.replace(/\.tgz$/, '')} ${version}`).join(', '),
    debian: pins.debian.reference,
    certificates: certificates.length === 0 ? '' : digest(certificates),
    ...variant,
    files: digest(own),
    pins: digest(files.filter(({ path }) => path === PINS_FILE)),
  };
}

/** Whether a file of the build context is an authority of this machine. */
export const isCertificate = ({ path }: ContextFile): boolean => path.startsWith('ca/');

function digest(files: readonly ContextFile[]): string {
  const hash = createHash('sha256');
  for (const { path, content } of files) hash.update(`${path}\0${content.length}\0`).update(content);
  return hash.digest('hex').slice(0, 16);
}

/**
 * Which inputs differ from those of the most similar image on the engine, in words. Empty when no image there records
 * its inputs: then this is the first one.
 */
export async function changedInputs(engine: Pick<Runtime, 'list'>, inputs: ImageInputs): Promise<readonly string[]> {
  const images = (await engine.list()).filter(({ kind }) => kind === 'image');
  const newestFirst = images.toSorted((a, b) => b.createdMs - a.createdMs);
  const differences = newestFirst.flatMap(({ labels }) => {
    const before = readInputs(labels[INPUTS_LABEL]);
    return before === undefined ? [] : [describeChange(before, inputs)];
  });
  return differences.filter(({ length }) => length > 0).sort((a, b) => a.length - b.length)[0] ?? [];
}

/** Another program may have set the label. */
const readInputs = (label = ''): Partial<ImageInputs> | undefined => parseObject(label);

/** One phrase for each part that differs. */
function describeChange(before: Partial<ImageInputs>, now: ImageInputs): string[] {
  const moved = (part: keyof ImageInputs): boolean => before[part] !== now[part];
  const from = (part: keyof ImageInputs): string => `${String(before[part] ?? 'unknown')} to ${now[part]}`;
  const named = (['claude', 'debian', 'packages'] as const).filter(moved);
  return [
    ...(moved('claude') ? [`Claude Code ${from('claude')}`] : []),
    ...(moved('debian') ? [`the base image ${from('debian')}`] : []),
    ...(moved('packages') ? [`Node and npm (${from('packages')})`] : []),
    ...(moved('files') ? [filesChange(before, now)] : []),
    ...(moved('pins') && named.length === 0 ? ['hashes or mirrors of the packages'] : []),
    ...(moved('certificates') ? ["this machine's certificate authorities"] : []),
    ...(moved('arch') ? [`the architecture ${from('arch')}`] : []),
    ...(moved('toolchain') ? [now.toolchain === '' ? 'without compilers' : 'with compilers (--toolchain)'] : []),
  ];
}

function filesChange(before: Partial<ImageInputs>, now: ImageInputs): string {
  return before.version === now.version
    ? "run-claude's files for the image"
    : `run-claude ${String(before.version ?? 'unknown')} to ${now.version}`;
}
