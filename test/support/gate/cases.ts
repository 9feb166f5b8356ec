import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'yaml';

/** One attack of test/attacks/gate, with the ordinary work that resembles it. */
export interface GateCase {
  readonly id: string;
  /** Bash: what the project has besides the files of PROJECT, before its last commit. */
  readonly project?: string;
  /** Bash: what the session does. */
  readonly session?: string;
  /** What must not reach the project, with a suspect or blocked finding. Without it: everything that the session leaves. */
  readonly held?: readonly string[];
  /** Bash: ordinary work in the same project, which must be applied without a finding that is not a note. */
  readonly ordinary?: string;
  /** As `--include-ignored`. */
  readonly includeIgnored?: boolean;
}

const folder = path.resolve(import.meta.dirname, '../../attacks/gate');

/** Every case, by file. */
export function readGateCases(): ReadonlyMap<string, readonly GateCase[]> {
  const files = readdirSync(folder).filter((file) => file.endsWith('.yaml'));
  return new Map(files.map((file) => [file, read<GateCase[]>(path.join(folder, file))]));
}

/** Cases that the gate does not judge as it should, with the reason: ids of attacks that it lets through, and of alarms. */
export interface KnownGaps {
  readonly attacks: Readonly<Record<string, string>>;
  readonly ordinary: Readonly<Record<string, string>>;
}

export function readKnownGaps(): KnownGaps {
  return read(path.join(folder, '..', 'gate-known-gaps.yaml'));
}

function read<T>(file: string): T {
  return parse(readFileSync(file, 'utf8')) as T;
}

/**
 * The words of the scripts: `gc` appends lines to the git configuration; `p` writes a file with the escapes of printf's
 * %b, `px` an executable one, `ap` appends. `$OUT` is a directory outside the project, next to its root.
 */
export const PRELUDE = `set -e
gc() { printf '%s\\n' "$@" >> .git/config; }
p() { case $1 in */*) [ -d "\${1%/*}" ] || mkdir -p -- "\${1%/*}";; esac; printf '%b' "$2" > "$1"; }
px() { p "$1" "$2"; chmod +x -- "$1"; }
ap() { printf '%b' "$2" >> "$1"; }
`;

/** The project that every case begins with. */
export const PROJECT = `git init -q -b main
rm -f .git/hooks/p*.sample
git config user.email a@b.c
git config user.name n
mkdir src
echo a > f
echo one > a.txt
echo two > b.txt
printf 'all:\\n\\techo hi\\n' > Makefile
echo 'x=1' > src/x.py
git add -A
git commit -qm first
`;

/** Commits what a case's `project` made. */
export const COMMIT = 'git add -A 2>/dev/null; git commit -q --allow-empty -m base\n';
