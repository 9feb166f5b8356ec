import { createReadStream } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { parseObject } from '../../../core/text/json-in.ts';
import { isConversationId, TranscriptFilter } from '../formats/transcript.ts';
import { INSIDE_KEY, type Instance, ownFiles, readOwnFile } from '../instances/instance.ts';
import type { StageOptions } from './stage-options.ts';
import { stageTree } from './stage-trees.ts';
import type { Staging } from './staged.ts';

/** The newest transcripts of a project are staged, up to this number and this total size. */
const MAX_TRANSCRIPTS = 50;
const MAX_TRANSCRIPT_BYTES = 64 << 20;
const MAX_HISTORY_BYTES = 16 << 20;

/**
 * Stages the part of this project: transcripts, memory, history, todos, tasks and plans of its instance, and the
 * transcripts that Claude on the host made in this directory, with mapped paths.
 */
export async function stageProject(
  staging: Staging,
  instance: Instance,
  { configDir, projectRoot, conversation }: Pick<StageOptions, 'configDir' | 'projectRoot' | 'conversation'>,
): Promise<void> {
  const inside = `.claude/projects/${INSIDE_KEY}`;
  staging.dir('.claude/projects');
  staging.dir(inside);
  const own = join(instance.dir, 'projects', INSIDE_KEY);
  const budget = { bytes: MAX_TRANSCRIPT_BYTES };
  const staged = new Set<string>();
  for (const { name, mtimeMs } of await newest(own, conversation)) {
    const content = await readOwnFile(join(own, name), budget.bytes);
    if (content === undefined) continue;
    budget.bytes -= content.length;
    staged.add(name);
    staging.file(`${inside}/${name}`, content, { mtimeMs });
  }
  const key = hostTranscriptKey(projectRoot);
  const hostDir = join(configDir, 'projects', key ?? '');
  for (const { name, mtimeMs } of key === undefined ? [] : await newest(hostDir, conversation)) {
    if (staged.has(name)) continue;
    const text = await hostTranscript(join(hostDir, name), name.slice(0, -6), projectRoot, budget.bytes);
    if (text === undefined) continue;
    budget.bytes -= text.length;
    staging.file(`${inside}/${name}`, text, { mtimeMs });
  }
  for (const name of ['memory'])
    await stageTree(staging, { from: join(own, name), to: `${inside}/${name}`, shown: `this project's ${name}` });
  for (const name of ['todos', 'tasks', 'plans'])
    await stageTree(staging, {
      from: join(instance.dir, name),
      to: `.claude/${name}`,
      shown: `this project's ${name}`,
    });
  await stageHistory(staging, instance, configDir, projectRoot);
}

/**
 * The name of Claude Code's folder for the transcripts of a directory: every character except letters and digits is a
 * dash. Undefined past 200 characters, where Claude cuts the name and appends its own hash.
 */
function hostTranscriptKey(root: string): string | undefined {
  const key = root.replace(/[^a-zA-Z0-9]/g, '-');
  return key.length > 200 ? undefined : key;
}

interface Transcript {
  readonly name: string;
  /** Of the file on this host. Claude's --continue takes the file with the latest time. */
  readonly mtimeMs: number;
}

/** The newest transcripts in a directory. The one with the id `wanted` comes first, however old it is. */
async function newest(dir: string, wanted: string | undefined): Promise<Transcript[]> {
  const names = (await ownFiles(dir)).filter((name) => name.endsWith('.jsonl') && isConversationId(name.slice(0, -6)));
  const dated = await Promise.all(
    names.map(async (name) => ({ name, mtimeMs: (await stat(join(dir, name))).mtimeMs })),
  );
  const rank = ({ name, mtimeMs }: Transcript): number => (name === `${wanted}.jsonl` ? Infinity : mtimeMs);
  dated.sort((a, b) => rank(b) - rank(a));
  return dated.slice(0, MAX_TRANSCRIPTS);
}

/**
 * A transcript of the host, for the inside. The name of its folder is ambiguous (`/a/b-c` and `/a-b/c` share one), so that
 * a transcript from any other directory is left out.
 */
async function hostTranscript(path: string, id: string, root: string, max: number): Promise<string | undefined> {
  if ((await stat(path)).size > max) return undefined;
  let isOtherProject = false;
  const filter = new TranscriptFilter({
    sessionId: id,
    mapCwd: (cwd) => {
      if (cwd === root) return '/workspace';
      if (cwd.startsWith(`${root}/`)) return `/workspace${cwd.slice(root.length)}`;
      isOtherProject = true;
      return '/workspace';
    },
  });
  const lines: string[] = [];
  for await (const line of createInterface({
    input: createReadStream(path, 'utf8'),
    crlfDelay: Number.POSITIVE_INFINITY,
  })) {
    const kept = filter.line(line);
    if (kept !== undefined) lines.push(kept);
    if (isOtherProject) return undefined;
  }
  return lines.length === 0 ? undefined : `${lines.join('\n')}\n`;
}

/** Stages the prompts of this project for the up-arrow: those in the host's history, then those of the instance. */
async function stageHistory(staging: Staging, instance: Instance, configDir: string, root: string): Promise<void> {
  const own = (await readOwnFile(join(instance.dir, 'history.jsonl'), MAX_HISTORY_BYTES)) ?? Buffer.alloc(0);
  const host = (await lastBytes(join(configDir, 'history.jsonl'), MAX_HISTORY_BYTES)).split('\n');
  const lines: string[] = [];
  for (const line of host) {
    const record = parseObject(line);
    if (record?.['project'] !== root || typeof record['display'] !== 'string') continue;
    const { display, timestamp, sessionId } = record;
    lines.push(`${JSON.stringify({ display, pastedContents: {}, timestamp, project: '/workspace', sessionId })}\n`);
  }
  staging.file('.claude/history.jsonl', Buffer.concat([Buffer.from(lines.join('')), own]));
}

async function lastBytes(path: string, max: number): Promise<string> {
  const file = await open(path, 'r').catch(() => undefined);
  if (file === undefined) return '';
  try {
    const { size } = await file.stat();
    const start = Math.max(0, size - max);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(size - start), 0, size - start, start);
    return buffer.subarray(0, bytesRead).toString('utf8');
  } finally {
    await file.close();
  }
}
