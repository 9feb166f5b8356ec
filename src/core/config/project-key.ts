/** The table of a project, as its file has it: [project."/home/me/x"]. JSON's texts are TOML's, except for DEL. */
export function projectKey(root: string): string {
  return `[project.${JSON.stringify(root).replaceAll('\x7f', '\\u007f')}]`;
}
