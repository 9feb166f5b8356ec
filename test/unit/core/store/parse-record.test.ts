import { describe, expect, it } from 'vitest';
import { RunClaudeError } from '../../../../src/core/errors.ts';
import {
  anyOf,
  type Check,
  fields,
  flag,
  listOf,
  mapOf,
  number,
  oneOf,
  optional,
  parseRecord,
  type RecordFormat,
  text,
  variants,
} from '../../../../src/core/store/parse-record.ts';

type Shape = { readonly kind: 'circle'; readonly radius: number } | { readonly kind: 'box'; readonly sides: number[] };

interface Drawing {
  readonly version: 2;
  readonly name: string;
  readonly shapes: readonly Shape[];
  readonly colours: Readonly<Record<string, string>>;
  readonly layer: 'front' | 'back';
  readonly scale?: number;
  readonly visible: boolean | readonly string[];
}

const shape = variants<Shape>('kind', {
  circle: fields<Extract<Shape, { kind: 'circle' }>>({ kind: oneOf('circle'), radius: number }) as Check<Shape>,
  box: fields<{ kind: 'box'; sides: readonly number[] }>({
    kind: oneOf('box'),
    sides: listOf(number),
  }) as Check<Shape>,
});

const FORMAT: RecordFormat<Drawing> = {
  name: 'drawing',
  version: 2,
  unversioned: 0,
  migrations: {
    0: (old) => ({ ...(old as object), version: 1, colours: {} }),
    1: (old) => {
      const { title, ...rest } = old as { readonly title: string };
      return { ...rest, version: 2, name: title };
    },
  },
  check: fields<Drawing>({
    version: oneOf(2),
    name: text,
    shapes: listOf(shape),
    colours: mapOf(text),
    layer: oneOf('front', 'back'),
    scale: optional(number),
    visible: anyOf(flag, listOf(text)),
  }),
  hint: 'Draw it again.',
};

const drawing: Drawing = {
  version: 2,
  name: 'house',
  shapes: [
    { kind: 'circle', radius: 1 },
    { kind: 'box', sides: [1, 2] },
  ],
  colours: { wall: 'red' },
  layer: 'front',
  visible: ['wall'],
};

function refusal(value: unknown): RunClaudeError {
  try {
    parseRecord(value, FORMAT, '/state/drawing');
  } catch (error) {
    if (error instanceof RunClaudeError) return error;
    throw error;
  }
  throw new Error('it was accepted');
}

describe('a record of the current version', () => {
  it('is returned unchanged, unknown fields included', () => {
    expect(parseRecord(drawing, FORMAT, 'f')).toBe(drawing);
    expect(parseRecord({ ...drawing, later: 1 }, FORMAT, 'f')).toEqual({ ...drawing, later: 1 });
  });

  it.each<[string, unknown, string]>([
    ['a missing field', { ...drawing, name: undefined }, 'name is missing'],
    ['a field of another type', { ...drawing, name: 3 }, 'name is not text'],
    ['an optional field of another type', { ...drawing, scale: '1' }, 'scale is not a number'],
    ['an unknown word', { ...drawing, layer: 'middle' }, 'layer is not one of front, back'],
    ['no list', { ...drawing, shapes: {} }, 'shapes is not a list'],
    [
      'a wrong item',
      { ...drawing, shapes: [drawing.shapes[0], { kind: 'box', sides: ['x'] }] },
      'shapes[1].sides[0] is',
    ],
    [
      'an unknown variant',
      { ...drawing, shapes: [{ kind: 'constructor' }] },
      'shapes[0].kind is not one of circle, box',
    ],
    ['a wrong value of a map', { ...drawing, colours: { wall: 1 } }, 'colours.wall is not text'],
    ['neither of two', { ...drawing, visible: 'yes' }, 'visible is not a list'],
    ['null', { ...drawing, colours: null }, 'colours is not an object'],
  ])('is refused with the path of the wrong field: %s', (_name, value, reason) => {
    const { code, message, hint } = refusal(value);
    expect({ code, hint }).toEqual({ code: 'RECORD_DAMAGED', hint: 'Draw it again.' });
    expect(message).toContain(`/state/drawing is not a valid drawing: ${reason}`);
  });
});

describe('a record of another version', () => {
  it('is migrated version by version', () => {
    const { name, version, ...rest } = drawing;
    expect(parseRecord({ ...rest, version: 1, title: name }, FORMAT, 'f')).toEqual(drawing);
    const { colours, ...oldest } = rest;
    expect(parseRecord({ ...oldest, title: name }, FORMAT, 'f')).toEqual({ ...drawing, colours: {} });
  });

  it('is refused with the next step if a newer release wrote it', () => {
    const { code, message, hint } = refusal({ ...drawing, version: 3 });
    expect(code).toBe('RECORD_VERSION');
    expect(message).toBe(
      '/state/drawing was written by a newer release of run-claude (drawing of version 3; this release reads version 2)',
    );
    expect(hint).toBe('Update run-claude, then run the command again.');
  });

  it('is refused if no migration exists for its version', () => {
    expect(refusal({ ...drawing, version: -1 })).toMatchObject({ code: 'RECORD_VERSION' });
  });

  it('is reported as damaged if it lacks a version that its format always had', () => {
    const { unversioned, ...format } = FORMAT;
    expect(unversioned).toBe(0);
    expect(() => parseRecord({ name: 'x' }, format, 'f')).toThrow('f is not a valid drawing: version is missing');
    expect(() => parseRecord('x', format, 'f')).toThrow('version is missing');
  });
});
