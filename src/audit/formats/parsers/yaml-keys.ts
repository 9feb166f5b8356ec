import { type Document, isMap, isScalar, isSeq } from 'yaml';

/** Keys that appear twice in one map of a YAML document, each as a path: parsers differ on which one counts. */
export function repeatedKeys(document: Document): string[] {
  const out: string[] = [];
  const left: { readonly node: unknown; readonly path: string }[] = [{ node: document.contents, path: '' }];
  for (let one = left.pop(); one !== undefined; one = left.pop()) {
    const { node, path } = one;
    if (isSeq(node)) for (const item of node.items) left.push({ node: item, path: `${path}[]` });
    if (!isMap(node)) continue;
    const seen = new Set<string>();
    for (const { key, value } of node.items) {
      const name = isScalar(key) ? String(key.value) : '?';
      const inner = path === '' ? name : `${path}.${name}`;
      if (seen.has(name) && name !== '<<') out.push(inner);
      seen.add(name);
      left.push({ node: value, path: inner });
    }
  }
  return out;
}
