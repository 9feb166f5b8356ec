import { INSIDE } from '../engine/hardening/hardened.ts';

// A pod's container runs at once, and an attached client never sees what was printed before. So each container begins with
// this script, which reads its first line. Then it becomes the container's program, as PID 1, and a second process passes
// input on: the API's streams have no end of input and no signals of their own, and a lost client leaves them open. The
// input is in frames, each with a line before it:
//   NUMBER   so many bytes for the program       0    the end of the program's input
//   +        a sign of the client                sNAME   a signal
// Without a sign for a while, or at the end of the connection, it kills every process of the container. The program can kill
// or stop it, since both have one user: init ends the container then.

const INIT = `${INSIDE}/init`;

const GATE = `IFS= read -r -t 900 word && [ "$word" = go ] || exit 125
patience=$1; shift
exec 3< <(
  while IFS= read -r -t "$patience" word; do
    case $word in
    +) ;;
    0) exec >&- ;;
    sKILL) kill -s KILL -- -1 ;;
    s*) kill -s "\${word#s}" 1 ;;
    *) /usr/bin/head -c "$word" || { /bin/cat >/dev/null; break; } ;;
    esac
  done
  kill -s KILL -- -1
)
watch=$!
[ "$1" != ${INIT} ] || { shift; set -- ${INIT} --guard "$watch" "$@"; }
exec "$@" <&3 3<&-`;

/** The words of a container that starts at {@link START_PROGRAM}, and ends when its client gave no sign for so many seconds. */
export function behindGate(argv: readonly string[], patienceSeconds: number): readonly string[] {
  // -p: no file that a variable names is read.
  return ['/bin/bash', '-p', '-c', GATE, 'gate', String(patienceSeconds), ...argv];
}

/** The first line, at which the gate starts the program. */
export const START_PROGRAM = 'go\n';
/** A sign of the client. */
export const SIGN = '+\n';
/** The end of the program's input. */
export const END_OF_INPUT = '0\n';

const SIGNALS: readonly string[] = ['HUP', 'INT', 'QUIT', 'KILL', 'USR1', 'USR2', 'TERM', 'CONT', 'WINCH'];

/** The line that sends a signal; undefined for one that is not known. */
export function signalLine(signal: string): string | undefined {
  const name = signal.replace(/^SIG/, '');
  return SIGNALS.includes(name) ? `s${name}\n` : undefined;
}

const MAX_FRAME_BYTES = 256 * 1024;

/** Bytes for the program, as frames. Pure. */
export function* framesOf(bytes: Buffer): Generator<Buffer> {
  for (let at = 0; at < bytes.length; at += MAX_FRAME_BYTES) {
    const part = bytes.subarray(at, at + MAX_FRAME_BYTES);
    yield Buffer.concat([Buffer.from(`${part.length}\n`), part]);
  }
}
