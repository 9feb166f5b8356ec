import { z } from 'zod';
import { fileSchema } from './config-file.ts';
import { engineTables } from './engine-table.ts';
import { type Form, SETTINGS } from './settings.ts';

type Json = Readonly<Record<string, unknown>>;

const TEXT: Json = { type: 'string' };
const TEXTS: Json = { type: 'array', items: TEXT };

/**
 * The JSON Schema of config.toml, as editors take it for TOML. `describe`: what a setting means, by its name. It allows
 * whatever the file may hold; a few rules that join two keys are checked by run-claude alone.
 */
export function configSchema(describe: (name: string) => string | undefined): Json {
  const { properties = {}, ...schema } = schemaOf(fileSchema) as Json & { readonly properties?: Json };
  const settings = SETTINGS.filter(({ file }) => file !== false).map(({ name, form }) => {
    const description = describe(name);
    return [name, { ...formSchema(form), ...(description === undefined ? {} : { description }) }] as const;
  });
  const engine = { anyOf: [Object.fromEntries(settings)['engine'], schemaOf(engineTables)] };
  return {
    ...schema,
    title: 'config.toml of run-claude',
    properties: { ...properties, ...Object.fromEntries(settings), engine },
  };
}

function schemaOf(schema: z.ZodType): Json {
  return z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any', target: 'draft-7' });
}

function formSchema(form: Form): Json {
  switch (form.kind) {
    case 'choice':
      return form.isOpen === true ? { anyOf: [{ enum: form.of }, TEXT] } : { enum: form.of };
    case 'switch':
      return { type: 'boolean' };
    case 'switch-or-list':
      return { anyOf: [{ type: 'boolean' }, TEXTS] };
    case 'size':
      return { type: 'string', pattern: '^\\d+[kmgtKMGT]?[bB]?$' };
    case 'duration':
      return TEXT;
    case 'count':
      return { type: 'integer', minimum: form.min };
    case 'amount':
      return { type: 'number', minimum: 0 };
    case 'cpus':
      return { anyOf: [{ type: 'number' }, { const: 'all' }] };
    case 'text':
      return TEXT;
    case 'list':
    case 'variables':
      return TEXTS;
  }
}
