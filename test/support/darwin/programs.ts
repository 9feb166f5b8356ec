import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Stand-ins for programs of macOS, first on PATH until the end of the scope. */
export interface DarwinPrograms extends Disposable {
  /** The directory that PATH begins with. */
  readonly bin: string;
  /** What the stand-ins store and log. */
  readonly state: string;
  /** The file of a Keychain item. */
  item(service: string): string;
}

/**
 * `security` as macOS 14 has it, so far as run-claude uses it. `-i` reads lines as fgets into 4,096 bytes does: the rest
 * of a longer line is another command. Every call's arguments are in `calls`.
 */
const SECURITY = `#!${process.execPath}
const { appendFileSync, existsSync, readFileSync, writeFileSync } = require('node:fs');
const { X509Certificate } = require('node:crypto');
const state = __STATE__;
const args = process.argv.slice(2);
appendFileSync(state + '/calls', JSON.stringify(args) + '\\n');
const item = (name) => state + '/item ' + name;
const after = (words, flag) => (words.includes(flag) ? words[words.indexOf(flag) + 1] : undefined);
function command(words) {
  if (words[0] === 'find-generic-password') {
    const file = item(after(words, '-s'));
    if (!existsSync(file)) return 44;
    process.stdout.write(readFileSync(file, 'utf8') + '\\n');
    return 0;
  }
  if (words[0] === 'add-generic-password') {
    const hex = after(words, '-X');
    if (hex === undefined || !words.includes('-U')) return 2;
    writeFileSync(item(after(words, '-s')), Buffer.from(hex, 'hex'));
    return 0;
  }
  if (words[0] === 'find-certificate') {
    if (!words.includes('-a') || !words.includes('-p')) return 2;
    for (const keychain of words.slice(1).filter((word) => !word.startsWith('-'))) {
      const file = state + '/' + keychain.split('/').at(-1) + '.pem';
      if (existsSync(file)) process.stdout.write(readFileSync(file, 'utf8'));
    }
    return 0;
  }
  if (words[0] === 'verify-cert') {
    const print = new X509Certificate(readFileSync(after(words, '-c'))).fingerprint256;
    const policy = after(words, '-p');
    const trusted = existsSync(state + '/trusted') ? readFileSync(state + '/trusted', 'utf8').split('\\n') : [];
    return words.includes('-l') && words.includes('-L') && trusted.includes(policy + ' ' + print) ? 0 : 1;
  }
  return 2;
}
if (args[0] !== '-i') process.exit(command(args));
let status = 0;
for (const line of readFileSync(0, 'latin1').match(/[^\\n]{1,4094}\\n|[^\\n]{1,4095}/g) ?? []) {
  const words = (line.match(/"[^"]*"?|[^\\s"]+/g) ?? []).map((word) => word.replace(/^"|"$/g, ''));
  if (words.length > 0) status = command(words);
}
// As the real one: the status of the last command.
process.exit(status);
`;

/** macOS's sync takes no arguments. */
const SYNC = '#!/bin/sh\nif [ $# -gt 0 ]; then echo "usage: sync" >&2; exit 1; fi\n';
/** The columns in use, of a running process; needs no /proc. */
const PS = `#!/bin/sh
line=
while [ $# -gt 0 ]; do
  case "$1 $2" in
    '-o stat=') line="$line S" ;;
    '-o lstart=') line="$line Mon Nov 23 03:18:50 2026" ;;
    '-p '*) kill -0 "$2" 2>/dev/null || exit 1 ;;
    *) echo "ps: illegal option: $1 $2" >&2; exit 1 ;;
  esac
  shift 2
done
echo "$line"
`;
const SYSCTL = `#!/bin/sh
[ "$*" = "-n kern.bootsessionuuid" ] || { echo "sysctl: unknown oid" >&2; exit 1; }
echo 0F4B7E0A-0000-4000-8000-6F1D2C3B4A59
`;

export function darwinPrograms(): DarwinPrograms {
  const root = mkdtempSync(join(tmpdir(), 'rc-darwin-'));
  const [bin, state] = [join(root, 'bin'), join(root, 'state')];
  mkdirSync(bin);
  mkdirSync(state);
  const programs = {
    security: SECURITY.replace('__STATE__', JSON.stringify(state)),
    ps: PS,
    sync: SYNC,
    sysctl: SYSCTL,
  };
  for (const [name, text] of Object.entries(programs)) {
    writeFileSync(join(bin, name), text);
    chmodSync(join(bin, name), 0o755);
  }
  const before = process.env['PATH'];
  process.env['PATH'] = `${bin}:${before}`;
  return {
    bin,
    state,
    item: (service) => join(state, `item ${service}`),
    [Symbol.dispose]() {
      process.env['PATH'] = before;
      rmSync(root, { recursive: true });
    },
  };
}
