import { ownValue } from '../../../core/text/own-value.ts';
import { MAX_LEAVES, MAX_NESTING, OverBudget } from '../budget.ts';
import type { Leaf } from '../leaf.ts';

/** A comment, text without markup, a declaration, an instruction, or a tag with its attributes. */
const TOKEN =
  /<!--[\s\S]*?-->|<!\[CDATA\[([\s\S]*?)\]\]>|<!([A-Za-z][^<>]*)>|<\?([\s\S]*?)\?>|<\/([\w:.-]+)\s*>|<([\w:.-]+)((?:\s+[\w:.-]+\s*=\s*(?:"[^"<]*"|'[^'<]*'))*)\s*(\/?)>|([^<]+)/y;
const ATTRIBUTE = /(?<![\w:.-])([\w:.-]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/g;
const ENTITIES: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" };

/**
 * The leaves of an XML text: `a.b` with its text, `a.b@name` with an attribute's value, `a.b` with '' where an element
 * is empty. A document type or an instruction is a leaf as well. Undefined for text that is not well-formed.
 *
 * @throws {OverBudget}
 */
export function leavesOfXml(text: string): Leaf[] | undefined {
  const out: Leaf[] = [];
  const open: { readonly name: string; readonly path: string; text: string; isParent: boolean }[] = [];
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < text.length) {
    const match = TOKEN.exec(text);
    if (out.length > MAX_LEAVES || open.length > MAX_NESTING) throw new OverBudget();
    if (match === null) return undefined;
    const [, raw, declaration, instruction, closed, opened, attributes = '', isEmpty, plain] = match;
    const top = open.at(-1);
    if (declaration !== undefined) out.push({ key: '!', value: declaration });
    else if (instruction !== undefined) {
      if (!/^xml\s/i.test(instruction)) out.push({ key: '?', value: instruction });
    } else if (closed !== undefined) {
      if (top?.name !== closed) return undefined;
      open.pop();
      const value = top.text.trim();
      if (value !== '' || !top.isParent) out.push({ key: top.path, value });
    } else if (opened !== undefined) {
      const path = top === undefined ? opened : `${top.path}.${opened}`;
      if (top !== undefined) top.isParent = true;
      for (const [, name, double, single] of attributes.matchAll(ATTRIBUTE))
        out.push({ key: `${path}@${name}`, value: decoded(double ?? single ?? '') });
      if (isEmpty === '') open.push({ name: opened, path, text: '', isParent: false });
      else out.push({ key: path, value: '' });
    } else if (top !== undefined) top.text += raw ?? decoded(plain ?? '');
    else if ((raw ?? plain ?? '').trim() !== '') return undefined;
  }
  return open.length === 0 ? out : undefined;
}

/**
 * A well-formed text with a line for each tag and its attributes in double quotes, and an element that holds nothing but
 * text in one line. Comments are left out.
 */
export function usualXml(text: string): string | undefined {
  const out: string[] = [];
  let open: string | undefined;
  let inner = '';
  let count = 0;
  const flush = (): void => {
    if (open !== undefined) out.push(open);
    if (inner.trim() !== '') out.push(inner.trim());
    open = undefined;
    inner = '';
  };
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < text.length) {
    const match = TOKEN.exec(text);
    count += 1;
    if (match === null) return undefined;
    if (count > MAX_LEAVES) throw new OverBudget();
    const [whole, raw, declaration, instruction, closed, opened, attributes = '', isEmpty, plain] = match;
    if (declaration !== undefined || instruction !== undefined) {
      flush();
      out.push(whole);
    } else if (closed !== undefined) {
      const isAlone = open !== undefined && !inner.includes('\n');
      if (isAlone) out.push(`${open}${inner.trim()}</${closed}>`);
      else {
        flush();
        out.push(`</${closed}>`);
      }
      if (isAlone) [open, inner] = [undefined, ''];
    } else if (opened !== undefined) {
      flush();
      const list = [...attributes.matchAll(ATTRIBUTE)].map(
        ([, name, double, single]) => ` ${name}="${decoded(double ?? single ?? '')}"`,
      );
      const tag = `<${opened}${list.join('')}${isEmpty === '' ? '' : '/'}>`;
      if (isEmpty === '') open = tag;
      else out.push(tag);
    } else inner += raw ?? decoded(plain ?? '');
  }
  flush();
  return `${out.join('\n')}\n`;
}

const decoded = (text: string): string =>
  text.replace(
    /&(?:#x([0-9a-f]{1,6})|#(\d{1,7})|(\w{1,20}));/gi,
    (whole, hex?: string, number?: string, name?: string) => {
      if (name !== undefined) return ownValue(ENTITIES, name) ?? whole;
      const code = Number.parseInt(hex ?? number ?? '', hex === undefined ? 10 : 16);
      return code < 0x110000 ? String.fromCodePoint(code) : whole;
    },
  );
