import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import path from 'node:path';

// Loaded before a program: its calls of node:fs take names below FOLD_ROOT as a disk of macOS does, which keeps the letter
// case and the Unicode form of a name and takes every other one for the same name.

type Given = string | Buffer | number;
type Call = (...given: unknown[]) => unknown;

const root = process.env['FOLD_ROOT'] ?? '';
const real = { ...fs };
const realCalls = real as unknown as Readonly<Record<string, Call>>;
const calls = fs as unknown as Record<string, Call>;
const chdir = process.chdir.bind(process);
const fold = (name: string): string => name.normalize('NFC').toLowerCase();

/** The path with the names that the disk has. */
function stored(given: Given): Given {
  if (typeof given === 'number') return given;
  const full = path.resolve(Buffer.isBuffer(given) ? given.toString('utf8') : given);
  if (!full.startsWith(`${root}/`)) return given;
  let at = root;
  for (const name of full.slice(root.length + 1).split('/')) {
    const names = listed(at);
    const same = names.includes(name) ? name : names.find((one) => fold(one) === fold(name));
    at = `${at}/${same ?? name}`;
  }
  return at;
}

/** Nothing for a folder that does not exist: the name in it is a new one. */
function listed(folder: string): readonly string[] {
  try {
    return real.readdirSync(folder);
  } catch {
    return [];
  }
}

/** By the name of a function: which of its arguments are paths. */
function foldArguments(name: string, ...positions: readonly number[]): void {
  const call = realCalls[name] as Call;
  calls[name] = (...given) => call(...given.map((one, at) => (positions.includes(at) ? stored(one as Given) : one)));
}

const BY_PATH = `accessSync chmodSync chownSync existsSync lchownSync lstatSync lutimesSync mkdirSync openSync opendirSync
  readFileSync readdirSync readlinkSync rmSync rmdirSync statSync truncateSync unlinkSync utimesSync writeFileSync`;
for (const name of BY_PATH.split(/\s+/)) foldArguments(name, 0);
for (const name of ['copyFileSync', 'linkSync']) foldArguments(name, 0, 1);
foldArguments('symlinkSync', 1);
calls['renameSync'] = (from, to) => {
  const [old, next] = [String(stored(from as Given)), String(stored(to as Given))];
  // To another letter case of the same name.
  real.renameSync(old, old === next ? path.join(path.dirname(next), path.basename(String(to))) : next);
};
process.chdir = (folder) => chdir(String(stored(folder)));
syncBuiltinESMExports();
