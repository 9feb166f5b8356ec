import type { RenderForm } from '../../engines/capabilities/columns.ts';
import { formUnknown, withoutLayerAlone } from './grammar-errors.ts';
import type { ParsedOption } from './take-option.ts';

/** What a `--dry-run` prints in place of the plan in words. */
export interface DryRunOptions {
  readonly form?: RenderForm;
  /** With a form: names of layers that may be lost. */
  readonly without?: readonly string[];
}

const DRY_RUN_FORMS: readonly RenderForm[] = ['oci', 'pod', 'pods'];

/**
 * `--dry-run=FORM`, and `--without-layer`. A session on the engine has every layer, whatever is named.
 *
 * @throws {RunClaudeError} USAGE for any other form, and for `--without-layer` without a form and without `--on`
 */
export function formOf(taken: readonly ParsedOption[]): DryRunOptions {
  const valuesOf = (name: string): readonly string[] =>
    taken.flatMap(({ option, value }) => (option.name === name && value !== undefined ? [value] : []));
  const named = valuesOf('dry-run').at(-1);
  const without = valuesOf('without-layer');
  const form = DRY_RUN_FORMS.find((one) => one === named);
  if (named !== undefined && form === undefined) throw formUnknown(named, DRY_RUN_FORMS);
  const isElsewhere = taken.some(({ option }) => option.name === 'on');
  if (form === undefined && without.length > 0 && !isElsewhere) throw withoutLayerAlone();
  return {
    ...(form === undefined ? {} : { form }),
    ...(form === undefined && without.length === 0 ? {} : { without }),
  };
}
