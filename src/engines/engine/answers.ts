import { RunClaudeError } from '../../core/errors.ts';
import { type Check, fields, flag, listOf, mapOf, number, text, unchecked } from '../../core/store/parse-record.ts';

/**
 * What run-claude reads of an engine's answers. An address may lead to another program than an engine, and engines differ:
 * each answer is checked here before it is used. Fields that are not named here are not read.
 */

/** What a value is that passes a check. */
type Checked<C> = C extends Check<infer T> ? T : never;

/** A field that engines leave out, or write as null where it is empty. */
const maybe =
  <T>(check: Check<T>): Check<T | null | undefined> =>
  (value) =>
    value === undefined || value === null ? undefined : check(value);

/**
 * The answer, where it has this shape.
 *
 * @param what the question, such as `/info` or `the record of the container`.
 * @throws {RunClaudeError} ENGINE_ANSWER
 */
export function readAnswer<T>(answer: unknown, shape: Check<T>, what: string): T {
  const problem = shape(answer);
  if (problem === undefined) return answer as T;
  const where = problem.startsWith('.') || problem.startsWith('[') ? problem.replace(/^\./, '') : `it${problem}`;
  throw new RunClaudeError('ENGINE_ANSWER', `the container engine's answer to ${what} is not readable: ${where}`, {
    hint: 'Is there an engine at this address? See it with: run-claude doctor',
  });
}

const texts = listOf(text);
const words = maybe(mapOf(text));

export const versionAnswer = fields({
  Version: maybe(text),
  ApiVersion: maybe(text),
  Os: maybe(text),
  Arch: maybe(text),
  KernelVersion: maybe(text),
  Components: maybe(listOf(fields({ Name: maybe(text), Version: maybe(text) }))),
});

export const infoAnswer = fields({
  ID: maybe(text),
  OperatingSystem: maybe(text),
  KernelVersion: maybe(text),
  DockerRootDir: maybe(text),
  CgroupVersion: maybe(text),
  SecurityOptions: maybe(texts),
  MemoryLimit: maybe(flag),
  SwapLimit: maybe(flag),
  PidsLimit: maybe(flag),
  CpuCfsQuota: maybe(flag),
  NCPU: maybe(number),
  MemTotal: maybe(number),
  Runtimes: maybe(mapOf(unchecked)),
  DiscoveredDevices: maybe(listOf(fields({ ID: maybe(text) }))),
});

export type InfoAnswer = Checked<typeof infoAnswer>;

/** Facts of Podman that Docker's form lacks, or gives for the machine instead of the engine. */
export const podmanInfo = fields({
  host: maybe(
    fields({
      cgroupControllers: maybe(texts),
      security: maybe(fields({ rootless: maybe(flag), seccompEnabled: maybe(flag) })),
    }),
  ),
});

export type PodmanInfo = Checked<typeof podmanInfo>;

export const imageRecord = fields({
  Id: maybe(text),
  Config: maybe(
    fields({
      Labels: words,
      Env: maybe(texts),
      Volumes: maybe(mapOf(unchecked)),
      OnBuild: maybe(texts),
    }),
  ),
});

export type ImageRecord = Checked<typeof imageRecord>;

/** Of a container: whose it is, and whether it runs. */
export const foundContainer = fields({
  Id: text,
  Config: fields({ Labels: words, Tty: maybe(flag), OpenStdin: maybe(flag) }),
  State: fields({ Running: maybe(flag) }),
});

/**
 * The fields of a container's record that {@link compareRecord} takes apart. All others are compared as they are, so that
 * any value is only a difference.
 */
export const comparedRecord = fields({
  Config: maybe(fields({ Env: maybe(texts), Labels: words })),
  HostConfig: maybe(
    fields({
      CapAdd: maybe(texts),
      CapDrop: maybe(texts),
      SecurityOpt: maybe(texts),
      GroupAdd: maybe(listOf(unchecked)),
      Devices: maybe(listOf(unchecked)),
      DeviceRequests: maybe(listOf(fields({}))),
      DeviceCgroupRules: maybe(listOf(unchecked)),
      VolumesFrom: maybe(listOf(unchecked)),
      ExtraHosts: maybe(texts),
      Links: maybe(listOf(unchecked)),
      MaskedPaths: maybe(texts),
      ReadonlyPaths: maybe(texts),
      Sysctls: words,
      Tmpfs: words,
      Ulimits: maybe(listOf(fields({ Name: text }))),
    }),
  ),
  // Podman's.
  BoundingCaps: maybe(texts),
  EffectiveCaps: maybe(texts),
  NetworkSettings: maybe(fields({ Networks: maybe(mapOf(unchecked)) })),
  Mounts: maybe(listOf(fields({ Destination: text, Options: maybe(texts) }))),
});

/** Of something new: a container, a program inside one. */
export const madeAnswer = fields({ Id: text });

/** Of a program inside a container. */
export const execRecord = fields({
  Running: maybe(flag),
  ExitCode: maybe(number),
  ProcessConfig: maybe(fields({ privileged: maybe(flag), user: maybe(text) })),
});

export type ExecRecord = Checked<typeof execRecord>;

/** Of the end of a container. */
export const endAnswer = fields({ StatusCode: number });

export const volumeRecord = fields({
  Name: text,
  Mountpoint: maybe(text),
  Labels: words,
  Options: words,
  CreatedAt: maybe(text),
});

export const volumeList = fields({
  Volumes: maybe(listOf(volumeRecord)),
});

export const containerList = listOf(
  fields({
    Id: text,
    Names: maybe(texts),
    Labels: words,
    State: maybe(text),
    Created: maybe(number),
    ImageID: maybe(text),
  }),
);

export const networkList = listOf(fields({ Id: text, Name: text, Labels: words, Created: maybe(text) }));

export const imageList = listOf(fields({ Id: text, RepoTags: maybe(texts), Labels: words, Created: maybe(number) }));

/** One line of the progress of a build, an import or a pull. */
export const progressLine = fields({
  stream: maybe(text),
  status: maybe(text),
  error: maybe(text),
});
