import { randomBytes } from 'node:crypto';
import { pack } from 'tar-stream';
import { afterAll, beforeAll } from 'vitest';
import type { Engine } from '../../src/core/types/runtime.ts';
import { connectForTest } from './engine.ts';
import { runLabel, testImage } from './image.ts';

/** Images of a test file's own, as a user has them. They are removed after its tests. */
export interface CustomImages {
  readonly engine: Engine;
  /** The image of this working copy. */
  readonly ours: string;
  /** The beginning of all names of this test file, without a tag. */
  readonly name: string;
  /** Builds an image and returns its name. The files are programs, next to the Dockerfile. */
  build(dockerfile: string, programs?: Readonly<Record<string, string>>): Promise<string>;
  /** Has an image removed that the test made in another way. */
  removeLater(tag: string): void;
}

/** Connects the engine before the tests of the file that calls it, and closes it after them. */
export function customImages(subject: string): CustomImages {
  const name = `run-claude-test-${subject}-${randomBytes(4).toString('hex')}`;
  const made: string[] = [];
  let engine: Engine;
  let ours: string;
  beforeAll(async () => {
    engine = await connectForTest();
    ours = await testImage(engine);
  });
  afterAll(async () => {
    for (const tag of made.reverse()) await engine.images.remove(tag);
    await engine.close();
  });
  return {
    name,
    get engine() {
      return engine;
    },
    get ours() {
      return ours;
    },
    async build(dockerfile, programs = {}) {
      const tar = pack();
      for (const [file, content] of Object.entries(programs)) tar.entry({ name: file, mode: 0o755 }, content);
      tar.entry({ name: 'Dockerfile' }, `${dockerfile}LABEL ${runLabel()}\n`);
      tar.finalize();
      const tag = `${name}:${made.length}`;
      await engine.images.build(tar, { tag, args: {}, fresh: false, onOutput: () => undefined });
      made.push(tag);
      return tag;
    },
    removeLater: (tag) => void made.push(tag),
  };
}
