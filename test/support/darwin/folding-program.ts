import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { dir, file, layApply, type Nodes } from '../apply/lay.ts';
import { refresh } from '../workspace/refresh-scene.ts';

// Applies and copies on a disk that folds names. argv: an empty directory that folds names, one next to it that does not,
// the file for the results.
const [folding = '', plain = '', resultFile = ''] = process.argv.slice(2);

async function apply(base: Nodes, session: Nodes): Promise<unknown> {
  const scene = await layApply(path.join(folding, 'applied'), path.join(plain, 'state'), { base, session });
  const said = await scene.apply();
  const applied = Object.keys(scene.now());
  await scene.undo();
  return { said, applied, undone: Object.keys(scene.now()) };
}

async function copy(): Promise<unknown> {
  const project = path.join(plain, 'project');
  mkdirSync(project);
  for (const name of ['Twin', 'twin']) writeFileSync(path.join(project, name), name);
  const copying = refresh(plain, 'one', { dir: path.join(folding, 'base') });
  return copying.then(
    () => 'copied',
    ({ code }: { code?: string }) => code,
  );
}

const old = { keep: file('old\n') };
writeFileSync(path.join(folding, 'Probe'), '');
const results = {
  isFolding: existsSync(path.join(folding, 'pROBE')),
  twoNewFiles: await apply(old, { ...old, New: file('1'), new: file('2') }),
  twoNewFolders: await apply(old, { ...old, Made: dir, 'Made/x': file('1'), made: dir, 'made/y': file('2') }),
  twoForms: await apply(old, { ...old, 'caf\u00e9': file('1'), 'cafe\u0301': file('2') }),
  besideOld: await apply(old, { ...old, KEEP: file('2') }),
  renamed: await apply(old, { Keep: file('old\n') }),
  copied: await copy(),
};
writeFileSync(resultFile, JSON.stringify(results));
