import { lookup } from 'node:dns/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { readPage } from '../../support/markdown.ts';
import { RECIPE_PROJECTS } from '../../support/recipe-projects.ts';
import { Scene } from '../../support/scene.ts';

interface Recipe {
  readonly name: string;
  readonly packages: readonly string[];
  readonly setup: string | undefined;
  readonly isRun: boolean;
}

/** The rows of the table of recipes. */
function recipes(): Recipe[] {
  const [, table = ''] = readPage('docs/reference/environment.md').split('## Recipes');
  const rows = table.split('\n').filter((line) => /^\| (?!ecosystem)[^|-]/.test(line));
  return rows.map((row) => {
    const [, name = '', packages = '', setup = '', , isRun] = row.split('|').map((cell) => cell.trim());
    return {
      name,
      packages: packages.startsWith('`') ? [...packages.matchAll(/`([^`]+)`/g)].map(([, one = '']) => one) : [],
      setup: /^`([^`]+)`/.exec(setup)?.[1],
      isRun: isRun?.startsWith('yes') === true,
    };
  });
}

const RUN = recipes().filter(({ isRun }) => isRun);
/** The image has the packages of a dozen languages. */
const BUILD_MS = 25 * 60_000;
let scene: Scene;
let session = '';

// One image with the packages of all recipes: each image of its own takes minutes.
beforeAll(async () => {
  scene = new Scene();
  for (const [name, { files }] of Object.entries(RECIPE_PROJECTS))
    for (const [file, text] of Object.entries(files)) scene.write(`${folderOf(name)}/${file}`, text);
  const packages = [...new Set(RUN.flatMap((recipe) => recipe.packages))];
  scene.write('.run-claude.toml', `[environment]\npackages = ${JSON.stringify(packages)}\n`);
  const [, digest = ''] = /--approve ([0-9a-f]{32})/.exec((await scene.run(['exec', '--', 'true'])).stderr) ?? [];
  // pnpm and yarn come from npm's registry. Some networks resolve it to an address of a special range.
  const found = await lookup('registry.npmjs.org', { all: true });
  const reach = found.flatMap(({ address, family }) => ['--allow-address', `${address}/${family === 4 ? 32 : 128}`]);
  const up = await scene.run(['up', '--json', '--approve', digest, ...reach], { timeoutMs: BUILD_MS });
  session = (JSON.parse(up.stdout) as { id: string }).id;
});
afterAll(async () => {
  await scene.run(['down', session]);
  await scene[Symbol.asyncDispose]();
});

function folderOf(name: string): string {
  return name.toLowerCase().replaceAll(/\W+/g, '-');
}

it('has a project for each recipe that the page calls run', () => {
  expect(RUN.map(({ name }) => name).sort()).toEqual(Object.keys(RECIPE_PROJECTS).sort());
});

it.each(RUN)('builds and tests a project of $name', async ({ name, setup }) => {
  const project = RECIPE_PROJECTS[name];
  const script = `set -e; exec 2>&1; cd ${folderOf(name)}; ${setup ?? 'true'}; ${project?.test}`;
  const { stdout, status } = await scene.run(['exec', '--session', session, '--', 'bash', '-c', script]);
  expect(stdout).toMatch(project?.prints ?? /$^/);
  expect(status).toBe(0);
});
