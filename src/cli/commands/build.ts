import { jsonLine } from '../../core/report/json.ts';
import { requireImages } from '../../engines/capabilities/require-part.ts';
import { ensureImage } from '../../environment/image/ensure.ts';
import { buildLock, findRelease } from '../../session/stage/prepare-image.ts';
import { refuseOpenImage } from '../../session/stage/probe-layers.ts';
import type { CommandRun } from '../context/context.ts';
import { engineChoice, openEngine, userAlone } from '../engines/open-engine.ts';

/** `build [--on NAME] [--rebuild] [--toolchain] [--claude-version VERSION] [--without-certificates]`: makes the image on the engine and prints its tag. */
export const buildCommand: CommandRun = async (line, context) => {
  const { env, places, tell, interruption } = context;
  const { signal } = interruption;
  const engine = await openEngine(engineChoice(line), context);
  try {
    const user = userAlone(engine, context);
    const rebuild = line.options.has('rebuild');
    const claudeVersion = line.options.get('claude-version')?.at(-1);
    const image = await ensureImage(requireImages(engine), {
      env,
      cacheDir: places.cacheDir,
      toolchain: line.options.has('toolchain'),
      withoutCertificates: line.options.has('without-certificates'),
      claude: await findRelease({ claudeVersion, rebuild }, { engine, host: places, tell, interruption }),
      rebuild,
      tell,
      signal,
      prove: (tag) => refuseOpenImage(engine, { image: tag, runtime: undefined, user }),
      exclusive: buildLock('building the image, as run-claude build asks', tell, signal),
    });
    context.write(line.options.has('json') ? jsonLine(image) : `${image.tag}\n`);
    return 0;
  } finally {
    await engine.close();
  }
};
