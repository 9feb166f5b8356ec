import { ensureImage } from '../../image/ensure.ts';
import { withLock } from '../../store/lock.ts';
import { connectOurs } from '../connect-ours.ts';
import type { CommandRun } from '../context.ts';
import { optionValue } from '../context.ts';
import { engineChoice } from './doctor.ts';

/** How long one build waits for another of the same person. */
const WAIT_MS = 3_600_000;

/** `build [--rebuild] [--toolchain]`: the image on the engine; prints its tag. */
export const buildCommand: CommandRun = async (line, context) => {
  const { env, places, tell } = context;
  const { signal } = context.interruption;
  const engine = await connectOurs(engineChoice(optionValue(line, 'engine')), context);
  try {
    const image = await ensureImage(engine, {
      env,
      cacheDir: places.cacheDir,
      toolchain: line.options.has('toolchain'),
      rebuild: line.options.has('rebuild'),
      tell,
      signal,
      exclusive: (file, body) =>
        withLock(
          file,
          {
            what: 'building the image',
            waitMs: WAIT_MS,
            signal,
            waiting: (who) => tell({ kind: 'message', level: 'info', text: `Waiting for ${who}` }),
          },
          body,
        ),
    });
    context.write(line.options.has('json') ? `${JSON.stringify(image)}\n` : `${image.tag}\n`);
    return 0;
  } finally {
    await engine.close();
  }
};
