import { ensureImage } from '../../image/ensure.ts';
import { jsonLine } from '../../report/json.ts';
import { buildLock } from '../../session/start/prepare-image.ts';
import { type CommandRun, optionChoice } from '../context/context.ts';
import { ENGINES, openEngine } from '../context/open-engine.ts';

/** `build [--rebuild] [--toolchain]`: builds the image on the engine and prints its tag. */
export const buildCommand: CommandRun = async (line, context) => {
  const { env, places, tell } = context;
  const { signal } = context.interruption;
  const engine = await openEngine(optionChoice(line, 'engine', ENGINES) ?? 'auto', context);
  try {
    const image = await ensureImage(engine, {
      env,
      cacheDir: places.cacheDir,
      toolchain: line.options.has('toolchain'),
      rebuild: line.options.has('rebuild'),
      tell,
      signal,
      exclusive: buildLock(tell, signal),
    });
    context.write(line.options.has('json') ? jsonLine(image) : `${image.tag}\n`);
    return 0;
  } finally {
    await engine.close();
  }
};
