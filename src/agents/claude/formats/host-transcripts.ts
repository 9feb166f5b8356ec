/**
 * The name of Claude Code's folder for the transcripts of a directory: every character except letters and digits is a
 * dash. Undefined past 200 characters, where Claude cuts the name and appends a hash of its own.
 */
export function hostTranscriptKey(root: string): string | undefined {
  const key = root.replace(/[^a-zA-Z0-9]/g, '-');
  return key.length > 200 ? undefined : key;
}
