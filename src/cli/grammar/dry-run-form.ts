import { formUnknown } from './grammar-errors.ts';
import type { RunLine } from './parse-command-line.ts';
import type { ParsedOption } from './take-option.ts';

/** What `--dry-run` can print for another runtime: a bundle of OCI, pods of Kubernetes. */
export type DryRunForm = 'oci' | 'pod';

const DRY_RUN_FORMS: readonly DryRunForm[] = ['oci', 'pod'];

/**
 * `--dry-run=FORM`, with its `--without-layer`. A session that is started has every layer, whatever is named.
 *
 * @throws {RunClaudeError} USAGE for any other form
 */
export function formOf(taken: readonly ParsedOption[]): Pick<RunLine, 'form' | 'without'> {
  const valuesOf = (name: string): readonly string[] =>
    taken.flatMap(({ option, value }) => (option.name === name && value !== undefined ? [value] : []));
  const named = valuesOf('dry-run').at(-1);
  const without = valuesOf('without-layer');
  const form = DRY_RUN_FORMS.find((one) => one === named);
  if (named !== undefined && form === undefined) throw formUnknown(named, DRY_RUN_FORMS);
  return form === undefined ? {} : { form, without };
}
