// What people install is one program: starting it must not cost finding and compiling some hundred modules each time.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { build, defineConfig } from 'rolldown';
import { billOfMaterials, licenseTexts, readPackages } from './scripts/bundled-packages.mjs';

/** Parts of dockerode that nothing here calls (BuildKit sessions, its own ssh): loading them costs more than the rest. */
const NEVER_CALLED = ['@grpc/grpc-js', '@grpc/proto-loader', 'protobufjs', 'ssh2'];

/** dockerode prints each request, its connection's whole object tree, into a debug line that nobody reads: 4 ms each. @type {import('rolldown').Plugin} */
const silentRequests = {
  name: 'silent-requests',
  transform: {
    filter: { id: /docker-modem\/lib\/modem\.js$/ },
    handler(code) {
      const silent = code.replace(/debug\('Sending: %s', util\.inspect\([^;]*\);/, '');
      if (silent === code) this.error('docker-modem has no such line any more');
      return silent;
    },
  },
};

/** How a module of src/ starts a thread or a process: from a file next to its bundle, which is made of the `.ts` file next to the module. */
export const WORKER_URL = /new URL\('\.\/([\w-]+-worker)\.cjs', import\.meta\.url\)/;

/** A package's ES modules where it has them: jsonc-parser's other form cannot be bundled. */
const MAIN_FIELDS = ['module', 'main'];

/** Modules of the files of threads. @type {Set<string>} */
const workerModules = new Set();

/** The whole program of a thread as one file, so that it starts without loading what the command itself needs. @param {string} input */
export async function bundleWorker(input) {
  const { output } = await build({
    input,
    platform: 'node',
    resolve: { mainFields: MAIN_FIELDS },
    transform: { target: 'node20.19' },
    write: false,
    logLevel: 'warn',
    output: { format: 'cjs', codeSplitting: false, minify: 'dce-only' },
  });
  for (const id of renderedModules(output[0])) workerModules.add(id);
  return output[0].code;
}

/** Puts the file of every thread next to the bundle that starts it. @type {import('rolldown').Plugin} */
const workerFiles = {
  name: 'worker-files',
  transform: {
    filter: { code: WORKER_URL },
    async handler(code, id) {
      const [, name] = WORKER_URL.exec(code) ?? [];
      const source = await bundleWorker(path.join(path.dirname(id), `${name}.ts`));
      this.emitFile({ type: 'asset', fileName: `${name}.cjs`, source });
    },
  },
};

/** What every bundle of src/ needs, also one of a test's program. @type {import('rolldown').InputOptions} */
export const bundling = {
  plugins: [silentRequests, workerFiles],
  platform: 'node',
  transform: { target: 'node20.19' },
  resolve: {
    mainFields: MAIN_FIELDS,
    alias: Object.fromEntries(
      NEVER_CALLED.map((name) => [name, path.join(import.meta.dirname, 'scripts/left-out.cjs')]),
    ),
  },
};

/**
 * What commands load, in the order in which they do: what every command needs, then what a session's start needs. Not
 * src/main.ts: it awaits the command, so a command's file that imports it would never finish loading.
 */
const STAGES = {
  main: ['src/cli/main.ts'],
  sessions: ['src/cli/dispatch.ts', 'src/cli/commands/sessions.ts'],
  // A command in a session that is up costs little more than its program.
  inside: ['src/cli/commands/running/exec-inside.ts'],
  // What reads and shows a session that has ended.
  ended: [
    'src/cli/version.ts',
    'src/cli/commands/running/log.ts',
    'src/cli/commands/status.ts',
    'src/cli/commands/review/diff.ts',
  ],
  // The agent's parts are loaded by import(), from its row in src/agents/.
  plan: [
    'src/cli/commands/run.ts',
    'src/agents/claude/credentials/credentials.ts',
    'src/agents/claude/credentials/credential-file.ts',
  ],
  start: ['src/session/start/start-session.ts', 'src/agents/claude/stage/stage.ts'],
};
/** @type {Map<string, string>} */
const stageOf = new Map();

/**
 * Each stage goes into one file, without what an earlier one has: of fifty small files the finding takes a fifth of the
 * command's own time. @type {import('rolldown').Plugin}
 */
const fileForEachStage = {
  name: 'file-for-each-stage',
  buildEnd() {
    /** @param {string} entry */
    const loadedBy = (entry) => {
      const loaded = new Set([path.join(import.meta.dirname, entry)]);
      for (const id of loaded) for (const next of this.getModuleInfo(id)?.importedIds ?? []) loaded.add(next);
      return loaded;
    };
    /** @type {Set<string>} */
    const earlier = new Set();
    for (const [stage, entries] of Object.entries(STAGES)) {
      for (const id of entries.flatMap((entry) => [...loadedBy(entry)])) {
        if (!earlier.has(id)) stageOf.set(id, stage);
        earlier.add(id);
      }
    }
  },
};

/**
 * The first lines of dist/main.js, which sh and Node both read. Node takes `--env-file` for its own wherever it stands before
 * a `--` (seen with 20.20), with NODE_OPTIONS in that file: a project's `.env`, named for the agent, would run programs here.
 * sh chooses the Node: the first one of PATH may be one that an agent wrote. Nor is sh the first one of PATH; env is
 * there because publint takes no other program for one that can start.
 */
const LAUNCHER = `#!/usr/bin/env /bin/sh
':' /*
${readFileSync(path.join(import.meta.dirname, 'plugin/hooks/find-outside.sh'), 'utf8')}
add_projects "$@"
clean_node_environment
if find_outside node; then exec "$program" -- "$0" "$@"; fi
missing node
exit 127
*/
`;
/** Minifying removes such a line: it is added afterwards. @type {import('rolldown').Plugin} */
const launcher = {
  name: 'launcher',
  generateBundle(_, bundle) {
    const main = bundle['main.js'];
    if (main?.type !== 'chunk') throw new Error('there is no main.js');
    main.code = `${LAUNCHER}${main.code}`;
  },
};

export default defineConfig({
  ...bundling,
  input: { main: 'src/main.ts' },
  preserveEntrySignatures: false,
  plugins: [silentRequests, workerFiles, fileForEachStage, launcher, nameLibraries()],
  output: {
    dir: 'dist',
    format: 'esm',
    cleanDir: true,
    chunkFileNames: '[name]-[hash].js',
    minify: 'dce-only',
    codeSplitting: {
      groups: Object.keys(STAGES).map((name) => ({ name, test: (id) => stageOf.get(id) === name })),
      includeDependenciesRecursively: false,
    },
  },
});

/**
 * dist/licenses.txt and dist/sbom.cdx.json: every package whose code is in the bundle or in the file of a thread.
 * @returns {import('rolldown').Plugin}
 */
function nameLibraries() {
  return {
    name: 'name-libraries',
    generateBundle(_, bundle) {
      const ids = Object.values(bundle).flatMap((file) => (file.type === 'chunk' ? renderedModules(file) : []));
      const packages = readPackages([...ids, ...workerModules]);
      const own = JSON.parse(readFileSync(path.join(import.meta.dirname, 'package.json'), 'utf8'));
      this.emitFile({ type: 'asset', fileName: 'licenses.txt', source: licenseTexts(packages) });
      this.emitFile({ type: 'asset', fileName: 'sbom.cdx.json', source: billOfMaterials(packages, own) });
    },
  };
}

/** Modules of which something is left. @param {import('rolldown').OutputChunk} chunk */
function renderedModules({ modules }) {
  return Object.entries(modules).flatMap(([id, { renderedLength }]) => (renderedLength > 0 ? [id] : []));
}
