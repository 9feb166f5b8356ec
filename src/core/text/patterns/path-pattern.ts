/** A path as a pattern of an ignore file that means it. */
export function pathPattern(path: string): string {
  return path
    .replace(/[\\*?[]/g, '\\$&')
    .replace(/^[!#]/, '\\$&')
    .replace(/ $/, '\\ ');
}
