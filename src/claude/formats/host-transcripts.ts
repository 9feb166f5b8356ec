/**
 * The folder that Claude Code gives a directory's transcripts: every character but letters and digits becomes a dash.
 * Past 200 characters it cuts and appends a hash of its own, which we do not make up: such a project has no key here.
 */
export function hostTranscriptKey(root: string): string | undefined {
  const key = root.replace(/[^a-zA-Z0-9]/g, '-');
  return key.length > 200 ? undefined : key;
}
