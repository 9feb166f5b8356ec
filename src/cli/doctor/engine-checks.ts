import { RunClaudeError } from '../../core/errors.ts';
import type { EngineFacts } from '../../core/types/engine.ts';
import type { Runtime } from '../../core/types/runtime.ts';
import { placeOf } from '../../engines/capabilities/columns.ts';
import { refusedWords } from '../../engines/capabilities/refuse.ts';
import { kindOf } from '../../engines/engine/kinds.ts';
import { refusalOf } from '../../session/plan/choose-engine.ts';
import type { CommandContext } from '../context/context.ts';
import { type EngineChoice, openEngine } from '../engines/open-engine.ts';
import { type Check, fault, ok, warning } from './check.ts';

/** The engine and its check; without an engine the check is a fault. */
export async function checkConnection(
  choice: EngineChoice,
  context: CommandContext,
): Promise<{ readonly engine: Runtime | undefined; readonly check: Check }> {
  try {
    const engine = await openEngine(choice, context);
    const { name, endpoint, arch, on } = engine.facts;
    const named = on === undefined ? '' : `${on}: `;
    return { engine, check: ok('engine', `${named}${name} at ${endpoint} (${arch})`) };
  } catch (error) {
    if (!(error instanceof RunClaudeError)) throw error;
    const first = error.message.replaceAll(/\s*\n\s*/g, ' ');
    return { engine: undefined, check: fault('engine', first, error.hint ?? 'Start Docker or Podman.') };
  }
}

/** What the engine must be able to enforce. */
export function engineChecks(facts: EngineFacts): Check[] {
  const kind = kindOf(facts);
  const refusal = refusalOf(facts);
  const limits = [
    ...(facts.memoryLimit ? [] : ['memory']),
    ...(facts.swapLimit ? [] : ['swap']),
    ...(facts.pidsLimit ? [] : ['processes']),
    ...(facts.cpuLimit ? [] : ['processors']),
  ];
  const delegate =
    'Let the engine use the cgroup controllers (rootless: add Delegate=memory pids cpu to user@.service of systemd).';
  const unsupported = refusedWords(placeOf(facts).column);
  const hard = !facts.memoryLimit || !facts.pidsLimit;
  return [
    ok('engine-kind', kind.name),
    refusal === undefined
      ? ok('layers', kind.summary)
      : fault('layers', refusal, 'Use Docker, or Podman 4 or newer on this machine.'),
    facts.seccomp
      ? ok('seccomp', 'the engine can filter them (seccomp)')
      : fault('seccomp', 'the engine cannot filter them (no seccomp)', 'Use a kernel and an engine with seccomp.'),
    limits.length === 0
      ? ok('limits', 'memory, swap, processes, processors')
      : (hard ? fault : warning)('limits', `the engine cannot limit: ${limits.join(', ')}`, delegate),
    ...(unsupported.length === 0 ? [] : [ok('options', `not supported here: ${unsupported.join(', ')}`)]),
    // A cluster has the kernel of its nodes.
    ...(facts.kernel === '' ? [] : [kernelCheck(facts)]),
  ];
}

/** The layers strategy mounts an overlay with userxattr, which Linux has since 5.11. */
function kernelCheck(facts: EngineFacts): Check {
  const [major = 0, minor = 0] = facts.kernel.split('.').map((part) => Number.parseInt(part, 10));
  const modern = major > 5 || (major === 5 && minor >= 11);
  return modern
    ? ok('kernel', facts.kernel)
    : warning(
        'kernel',
        `${facts.kernel} is older than 5.11, so every session copies the whole project`,
        'Use a newer kernel for faster starts.',
      );
}
