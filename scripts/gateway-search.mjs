// The gateway's copy of the search for values (src/core/secrets): its image has JavaScript only. `npm run generate` writes it.
import path from 'node:path';
import { build } from 'rolldown';

/** Where the copy is, from the repository's root. */
export const SEARCH_COPY = 'images/gateway/generated/search-values.mjs';
const FOLDER = 'src/core/secrets';
const MODULES = ['search-contents.ts', 'value-search.ts'];
const ENTRY = '\0search-values';

/** @param {string} root of the repository @returns {Promise<string>} */
export async function drawGatewaySearch(root) {
  const { output } = await build({
    input: ENTRY,
    platform: 'node',
    write: false,
    logLevel: 'warn',
    plugins: [
      {
        name: 'entry',
        resolveId: (id) => (id === ENTRY ? id : undefined),
        load: (id) =>
          id === ENTRY
            ? MODULES.map((name) => `export * from ${JSON.stringify(path.join(root, FOLDER, name))};`).join('\n')
            : undefined,
      },
    ],
    output: { format: 'esm', comments: { legal: false, annotation: false, jsdoc: false } },
  });
  const code = output[0].code.replace(/^\/\/#(?:end)?region.*\n/gm, '');
  return `// Written by \`npm run generate\` from ${FOLDER}: edit it there.\n// @ts-nocheck\n${code}`;
}
