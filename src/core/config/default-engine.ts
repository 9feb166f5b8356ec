/** The word of `--on` for the engine that the docker command would use. */
export const DEFAULT_ENGINE = 'default';
