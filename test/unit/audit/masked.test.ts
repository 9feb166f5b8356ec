import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { auditChanges } from '../../../src/audit/audit.ts';
import type { Change } from '../../../src/core/types/entry.ts';
import type { MaskedValues } from '../../../src/core/types/secret/decoy.ts';
import { plantFiles } from './plant.ts';

const DECOY = 'sk_live_4fT9uYbQ2mXcVn7LpAqZ';
const REAL = 'pw-8dK2mQz71LxT';
const MASKED: MaskedValues = {
  decoys: [
    { path: '.env', name: 'STRIPE_SECRET_KEY', value: DECOY },
    { path: '.env', name: 'VITE_MAPS_KEY', value: 'AIzaSyB7-decoyDECOY_x9' },
  ],
  real: [{ path: '.env', name: 'DB_PASSWORD', value: REAL }],
  paths: ['.env'],
};

/** 'severity rule detail' of the findings on masked values. */
function found(...planted: Parameters<typeof plantFiles>): string[] {
  const findings = auditChanges({ ...plantFiles(...planted), masked: MASKED });
  return findings.flatMap(({ rule, severity, path, detail }) =>
    rule === 'decoy-written' || rule === 'masked-value' ? [`${severity} ${rule} ${path}: ${detail}`] : [],
  );
}

const DECOY_FOUND = (path: string): string[] => [`blocked decoy-written ${path}: STRIPE_SECRET_KEY of .env`];

describe('a decoy in a change', () => {
  it.each([
    ['a new file', `const key = '${DECOY}';\n`],
    ['a binary file', { bytes: `\0\x01\xff${DECOY}\0` }],
    ['a packed file', { bytes: gzipSync(`${DECOY}\n`).toString('latin1') }],
    ['an encoded text', Buffer.from(`xx${DECOY}`).toString('base64')],
  ])('is blocked in %s', (_, content) => {
    expect(found({ 'notes.bin': content })).toEqual(DECOY_FOUND('notes.bin'));
  });

  it('is blocked in a name, and in a ref of git', () => {
    expect(found({ [`docs/${DECOY}.md`]: 'x\n' })).toEqual(DECOY_FOUND(`docs/${DECOY}.md`));
    expect(found({ [`.git/refs/heads/${DECOY}`]: 'x\n' })).toEqual(DECOY_FOUND(`.git/refs/heads/${DECOY}`));
  });

  it('is one finding for each key and file', () => {
    expect(found({ 'a.txt': `${DECOY}\n${DECOY}\n`, 'b.txt': DECOY })).toEqual([
      ...DECOY_FOUND('a.txt'),
      ...DECOY_FOUND('b.txt'),
    ]);
  });

  it('is nothing in the masked file itself, and nothing where it is removed', () => {
    expect(found({ '.env': `STRIPE_SECRET_KEY=${DECOY}\nNEW=1\n` })).toEqual([]);
  });

  it('is suspect only where a build puts a public key', () => {
    const bundle = 'const k="AIzaSyB7-decoyDECOY_x9";\n';
    expect(found({ 'dist/app.js': bundle })).toEqual(['suspect decoy-written dist/app.js: VITE_MAPS_KEY of .env']);
    expect(found({ 'src/app.js': bundle })).toEqual(['blocked decoy-written src/app.js: VITE_MAPS_KEY of .env']);
    expect(found({ 'dist/app.js': DECOY })).toEqual(DECOY_FOUND('dist/app.js'));
  });
});

describe('a real value in a change', () => {
  it('is blocked', () => {
    expect(found({ 'a.txt': `password: ${REAL}\n` })).toEqual(['blocked masked-value a.txt: DB_PASSWORD of .env']);
  });

  it('is nothing where the base has it in another file', () => {
    expect(found({ 'a.txt': REAL }, { 'config/test.yml': `password: ${REAL}\n` })).toEqual([]);
  });
});

it('finds nothing in what is withheld, and nothing without masked files', () => {
  const planted = plantFiles({ 'a.txt': DECOY });
  const ignored = planted.changes.map((change): Change => ({ ...change, ignored: true }));
  expect(auditChanges({ ...planted, changes: ignored, masked: MASKED })).toEqual([]);
  const ruleIds = auditChanges(planted).map(({ rule }) => rule);
  expect(ruleIds).not.toContain('decoy-written');
});
