import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RunClaudeError } from '../../../core/errors.ts';
import { packageRoot } from '../../../core/host/package.ts';
import { openProgress } from '../../../core/progress/open-progress.ts';
import type { ImageFacts } from '../../../core/types/engine.ts';
import type { Tell } from '../../../core/types/event.ts';
import type { ImageRuntime } from '../../../core/types/runtime.ts';
import { type ContextEntry, withContext } from '../context.ts';
import { followBuild } from '../follow-build.ts';
import { removeUnproven, unprovenName } from '../proven.ts';
import { addressLayer } from './layer.ts';

/** Takes the files of an image without what it declares: no instruction takes a VOLUME back. */
const FILES_ONLY = `FROM $REF AS theirs
FROM scratch
COPY --from=theirs / /
`;

/**
 * Adds run-claude's programs, guards, settings and user to a custom image (Debian or a derivative). finish.sh removes the
 * user 1000 and its home: for some servers, such as Elasticsearch, that is the directory of the program itself.
 */
const dockerfile = (from: string): string => `ARG OURS
ARG REF
FROM $OURS AS ours
${from}LABEL run-claude.image=stage
USER 0
RUN sed -Ei '\\,^[^:]*:[^:]*:1000:([^:]*:){2}/home/,!s,^([^:]*:[^:]*:1000:([^:]*:){2})[^:]*,\\1/nonexistent,' /etc/passwd || :
COPY --from=ours /usr/lib/run-claude/ /usr/lib/run-claude/
COPY --from=ours /opt/node/ /opt/node/
COPY --from=ours /opt/npm/ /opt/npm/
COPY --from=ours /opt/claude/ /opt/claude/
COPY --from=ours /etc/gitconfig /etc/hosts /etc/resolv.conf /etc/
COPY --from=ours /etc/claude-code/ /etc/claude-code/
COPY --from=ours /usr/local/share/ca-certificates/ /usr/local/share/ca-certificates/
COPY lay-over.sh finish.sh /tmp/run-claude/
RUN sh /tmp/run-claude/lay-over.sh /tmp/run-claude/finish.sh && rm -rf /tmp/run-claude
COPY --from=ours /etc/ld.so.preload /etc/ld.so.preload
WORKDIR /workspace
USER agent
ENTRYPOINT []
CMD ["/bin/bash"]
`;

/** Only an image that passed the probes gets the address that sessions use. */
const STAMP = `ARG PROVEN
FROM $PROVEN
LABEL run-claude.probed=1 run-claude.image=foreign
`;

export interface CustomImageOptions {
  /** The image's name, as the user wrote it. */
  readonly reference: string;
  /** run-claude's own image, which exists on the engine. */
  readonly ours: string;
  readonly tell: Tell;
  /** Attacks a container of that image. Throws when an attack was not stopped. */
  readonly prove: (image: string) => Promise<void>;
}

/**
 * The address of `reference` with run-claude's layers, for the current ids of both images.
 * @throws {RunClaudeError} IMAGE_MISSING when the engine does not have it, IMAGE_REFUSED when it cannot be used.
 */
export async function addressCustomImage(engine: ImageRuntime, reference: string, ours: string): Promise<string> {
  const facts = await engine.images.facts(reference);
  if (facts === undefined) {
    throw new RunClaudeError('IMAGE_MISSING', `the engine has no image ${reference}`, {
      hint: 'Pull or build it first.',
    });
  }
  if (facts.onBuild) {
    const why = "it has ONBUILD instructions, which would run while run-claude's guards are added";
    throw new RunClaudeError('IMAGE_REFUSED', `${reference} can't be used: ${why}`);
  }
  return addressLayer([ours, facts.id, ...layOverFiles(facts).map(({ content }) => content)]);
}

/**
 * Adds run-claude's guards, tools and user to a custom image, and attacks the result with the probes. An image that did
 * not pass is removed.
 * @throws {RunClaudeError} IMAGE_REFUSED with the reason, and as addressCustomImage does.
 */
export async function ensureCustomImage(engine: ImageRuntime, options: CustomImageOptions): Promise<string> {
  const { reference, ours, tell } = options;
  const tag = await addressCustomImage(engine, reference, ours);
  if (await engine.images.has(tag)) return tag;
  const unproven = unprovenName(tag);
  tell({ kind: 'message', level: 'info', text: `Laying the guards over ${reference}...` });
  let log = '';
  using progress = openProgress(tell, `Laying the guards over ${reference}`);
  const follow = followBuild(progress);
  try {
    const layOver = {
      tag: unproven,
      args: { OURS: ours, REF: reference },
      fresh: false,
      onOutput: (text: string) => {
        log = (log + text).slice(-65_536);
        follow(text);
      },
    };
    const files = layOverFiles(await engine.images.facts(reference));
    await withContext(tmpdir(), files, (archive) => engine.images.build(archive, layOver));
    await options.prove(unproven);
    const stamp = { tag, args: { PROVEN: unproven }, fresh: false, onOutput: () => undefined };
    const stampFiles = [{ path: 'Dockerfile', content: STAMP }];
    await withContext(tmpdir(), stampFiles, (archive) => engine.images.build(archive, stamp));
    return tag;
  } catch (error) {
    const reason = /^run-claude refuses: (.{1,400})$/m.exec(log)?.[1];
    if (reason === undefined) throw error;
    throw new RunClaudeError('IMAGE_REFUSED', `${reference} can't be used: ${reason}`, { cause: error });
  } finally {
    await removeUnproven(engine, unproven);
  }
}

/** An image that declares volumes is copied without them: they would be writable and outlive the session. */
function layOverFiles(facts: ImageFacts | undefined): readonly (ContextEntry & { readonly content: string })[] {
  const read = (path: string): string => readFileSync(join(packageRoot, 'images', path), 'utf8');
  const from = facts === undefined || facts.volumes.length === 0 ? 'FROM $REF\n' : FILES_ONLY;
  return [
    { path: 'Dockerfile', content: dockerfile(from) },
    { path: 'lay-over.sh', content: read('foreign/lay-over.sh') },
    { path: 'finish.sh', content: read('finish.sh') },
  ];
}
