// Writes everything in the repository that is generated (`npm run generate`). A test fails when a part is stale.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { readPlan } from './areas.mjs';
import { drawAttacks, readCatalogue } from './attacks.mjs';
import { drawAreas, placeDrawing } from './draw-areas.mjs';
import { drawGatewaySearch, SEARCH_COPY } from './gateway-search.mjs';
import { readSources } from './imports.mjs';
import { drawLibraries, importedLibraries, readLicenses } from './libraries.mjs';
import { drawSuites, readModules } from './suites.mjs';

const root = path.dirname(import.meta.dirname);

/** Tests that compare a generated file with what it is generated from: with `--update` they write it. */
const SNAPSHOTS = [
  'test/unit/audit/documents.test.ts', // docs/audit-rules.md
  'test/unit/docs/reference.test.ts', // the generated parts of docs/reference and docs/explanation/on-disk.md
  'test/unit/docs/man-page.test.ts', // docs/run-claude.1
  'test/unit/docs/picture.test.ts', // docs/what-goes-where.svg
  'test/unit/images/git-keys.test.ts', // images/guard/git-keys.h
  'test/unit/core/report/report.test.ts', // docs/reference/report.schema.json
];

const page = path.join(root, 'docs/internals/architecture.md');
const text = readFileSync(page, 'utf8');
writeFileSync(path.join(root, 'docs/attacks.md'), drawAttacks(readCatalogue()));
writeFileSync(path.join(root, 'test/suites.md'), drawSuites(readModules(root).keys()));
writeFileSync(path.join(root, SEARCH_COPY), await drawGatewaySearch(root));
const sources = readSources(root);
const libraries = importedLibraries(sources);
const withAreas = placeDrawing(text, 'areas', drawAreas(sources, readPlan(root)));
const table = drawLibraries(libraries, readLicenses(root, libraries.keys()));
writeFileSync(page, placeDrawing(withAreas, 'libraries', table));
execFileSync('npx', ['vitest', 'run', '--project', 'unit', ...SNAPSHOTS, '--update'], { cwd: root, stdio: 'inherit' });
