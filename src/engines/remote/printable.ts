/** Text of a node or a cluster, as it is shown in messages: one line of bounded length that acts on no terminal. */
export function printable(text: unknown): string {
  return typeof text === 'string' ? text.replaceAll(/[^\x20-\x7e]+/g, ' ').slice(0, 500) : '';
}
