import type { ContainerSpec } from '../../core/types/engine.ts';
import type { RenderForm } from '../capabilities/columns.ts';
import { lostLayers } from '../capabilities/refuse.ts';
import { CAPABILITIES } from '../capabilities/table.ts';

/**
 * The words of a container whose init does not prove what the form loses: init would refuse to start. Everything else is
 * still proved.
 */
export function provableArgv(form: RenderForm, spec: ContainerSpec): readonly string[] {
  const [init, option, proof, ...rest] = spec.argv;
  if (init === undefined || option !== '--prove' || proof === undefined) return spec.argv;
  const unprovable = lostLayers(form, [{ spec }]).flatMap(({ name }) => CAPABILITIES[name].proof ?? []);
  const lines = proof.split('\n').filter((line) => !unprovable.some((start) => line.startsWith(start)));
  return [init, option, lines.join('\n'), ...rest];
}
