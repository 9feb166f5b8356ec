/** The words of a list that is separated by white space. A tag for a template, in which a backslash is a backslash. */
export function words(list: TemplateStringsArray, ...values: readonly string[]): readonly string[] {
  return String.raw(list, ...values)
    .trim()
    .split(/\s+/);
}

/**
 * The words of a list as the alternatives of an expression: `a|b|c`. A word may hold expression syntax (`licen[cs]es?`,
 * `x\.y`), written as in a literal; a blank within a word is `\x20`.
 */
export function oneOf(list: TemplateStringsArray, ...values: readonly string[]): string {
  return words(list, ...values).join('|');
}

/** A tag for a template that holds an expression as a literal would, with lists of words put in. */
export function pattern(flags = ''): (source: TemplateStringsArray, ...lists: readonly string[]) => RegExp {
  return (source, ...lists) => new RegExp(String.raw(source, ...lists), flags);
}

/**
 * An expression that matches where any of its parts does.
 * @throws {TypeError} when the parts differ in their flags, of which the whole has one set.
 */
export function anyOf(...parts: readonly [RegExp, ...RegExp[]]): RegExp {
  const { flags } = parts[0];
  if (parts.some((part) => part.flags !== flags))
    throw new TypeError('the parts of an expression differ in their flags');
  return new RegExp(parts.map(({ source }) => source).join('|'), flags);
}

/** An expression that matches a text which is one of the parts from its beginning to its end. */
export function wholeLine(...parts: readonly [RegExp, ...RegExp[]]): RegExp {
  const { source, flags } = anyOf(...parts);
  return new RegExp(`^(${source})$`, flags);
}
