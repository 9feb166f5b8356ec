import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { searchContents } from '../../../../src/core/secrets/search-contents.ts';
import { SearchedValues } from '../../../../src/core/secrets/value-search.ts';
import { EVERYTHING } from '../../../../src/core/text/selection.ts';
import { rowsOf } from '../../../../src/workspace/scan/packed-directory.ts';
import { walkTree } from '../../../../src/workspace/scan/walk.ts';
import { maskSecrets } from '../../../../src/workspace/secrets/mask-secrets.ts';
import { writeSecretProject } from '../../../support/secret-project.ts';
import { repeatHint, seed } from '../../../support/seed.ts';

/** A hundred random projects, in parts that end within a test's time on a busy machine. */
const PARTS = Array.from({ length: 10 }, (_, part) => part);
const PROJECTS = 10;

test.each(PARTS)('nothing that enters has a secret of a masked file: random projects, part %i', async (part) => {
  const top = mkdtempSync(path.join(tmpdir(), 'run-claude-secrets-'));
  onTestFinished(() => rmSync(top, { recursive: true }));
  let masked = 0;
  for (let number = part * PROJECTS; number < (part + 1) * PROJECTS; number += 1) {
    const root = path.join(top, `project-${number}`);
    const { secrets, shown } = writeSecretProject(root, seed + number);
    const walked = await walkTree({ root, selection: EVERYTHING, known: undefined });
    const rules = { project: root, dir: path.join(top, `base-${number}`), unmask: [] };
    const tree = maskSecrets(walked, rules, undefined);
    const searched = new SearchedValues(secrets);
    const whole: Buffer[] = [];
    for (const [dir, section] of tree.snapshot)
      for (const { name, kind } of rowsOf(section)) {
        if (kind !== 'f' && kind !== 'g') continue;
        const at = dir === '' ? name : `${dir}/${name}`;
        const bytes = readFileSync(tree.sourceOf(at));
        const inside = kind === 'g' ? tree.rewrite(at, bytes).bytes : bytes;
        whole.push(inside);
        masked += kind === 'g' && !at.startsWith('.git/') ? 1 : 0;
        const found = [...searchContents(searched, inside)].map((index) => secrets[index]);
        expect(found, `${at} of project ${number}; ${repeatHint}`).toEqual([]);
      }
    // What git tracks is as it is: the search finds what is there.
    const readable = searchContents(new SearchedValues(shown), Buffer.concat(whole));
    expect(readable.size, repeatHint).toBe(shown.length);
    const again = await walkTree({ root, selection: EVERYTHING, known: tree.snapshot });
    const second = maskSecrets(again, rules, { snapshot: tree.snapshot, found: tree.secrets.found });
    expect(second.secrets.files, repeatHint).toEqual(tree.secrets.files);
    rmSync(root, { recursive: true });
  }
  expect(masked).toBeGreaterThan(4 * PROJECTS);
});
