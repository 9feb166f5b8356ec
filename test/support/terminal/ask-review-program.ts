import { readFileSync, writeFileSync } from 'node:fs';
import { stderr, stdin } from 'node:process';
import { openContentStore } from '../../../src/core/store/content.ts';
import type { Finding } from '../../../src/core/types/finding.ts';
import { buildReview } from '../../../src/review/choices/build-review.ts';
import { askReview } from '../../../src/review/screen/ask/ask-review.ts';

// Asks the question of a scene that a test laid down: argv is the scene's JSON file and where the choice goes.
const [sceneFile = '', choiceFile = ''] = process.argv.slice(2);
const scene = JSON.parse(readFileSync(sceneFile, 'utf8'));
const reviewed = (more: readonly Finding[] = []) =>
  buildReview({
    collected: scene.collected,
    findings: [...scene.findings, ...more],
    allowSuspect: [],
    includeIgnored: false,
  });
const choice = await askReview({
  review: reviewed(),
  // What a rehearsal finds.
  ...(scene.rehearsed && { rehearse: async () => reviewed(scene.rehearsed) }),
  content: openContentStore(scene.store),
  project: scene.project,
  home: scene.home,
  screen: {
    stdin,
    stderr,
    env: process.env,
    colour: process.env['NO_COLOR'] === undefined,
    dumb: process.env['TERM'] === 'dumb',
  },
});
const chosen = choice.chosen.map(({ change, content }) => ({ path: change.path, text: content?.toString() }));
writeFileSync(choiceFile, JSON.stringify({ ...choice, chosen }));
