import type { AgentName } from '../core/types/agent/agent-package.ts';
import type { Agent, AgentCredentials, AgentData, AgentHome, AgentParts, HomeOptions } from './agent.ts';
import type { AgentConversation, SettingsWatch } from './others/collect-agent.ts';
import { readerOf, type WordTable } from './others/words.ts';

/** An agent besides Claude, as data: its conversations stay in their session, and nothing of its home comes back. */
export interface OtherAgentRow
  extends Omit<
    AgentParts,
    'instructionsFile' | 'homePaths' | 'commandLine' | 'loadCredentials' | 'loadHome' | 'loadData'
  > {
  readonly name: AgentName;
  readonly instructionsFile: string;
  readonly words: WordTable;
  /** Its configuration directory inside, relative to the home. */
  readonly dir: string;
  /** Where else in the home it keeps data of its own. */
  readonly alsoKeeps?: readonly string[];
  /** Directories in it that are copied. */
  readonly trees: readonly string[];
  /** What in it the agent on a host would run, obey or trust: a change is reported. */
  readonly obeyed: RegExp;
  /** Of that, what the agent itself writes in any session. */
  readonly own?: RegExp;
  readonly conversation: AgentConversation & {
    /** The words, with those that continue the conversation. */
    readonly resume: (id: string, words: readonly string[]) => readonly string[];
  };
  readonly loadFind: () => Promise<AgentCredentials['find']>;
  readonly loadSettings: () => Promise<OtherSettings>;
}

/** The settings that are made for a session. */
export interface OtherSettings {
  /** The agent's configuration directory on this host. */
  readonly from: (env: NodeJS.ProcessEnv, home: string) => string;
  /** Its file in that directory. */
  readonly file: string;
  /** `dropped`: names of the user's keys that it does not have. */
  readonly make: (
    from: string,
    options: HomeOptions,
  ) => Promise<{ readonly text: string; readonly dropped: readonly string[] }>;
  /** What of such a file is not a plain preference: a change of it is reported. May throw for a text of another format. */
  readonly others: SettingsWatch['others'];
}

/** The agent of a row. */
export function otherAgent(row: OtherAgentRow): Agent {
  const { words, dir, alsoKeeps = [], trees, obeyed, own, conversation, loadFind, loadSettings, ...agent } = row;
  const { instructionsFile } = agent;
  return {
    ...agent,
    homePaths: [dir, ...alsoKeeps],
    commandLine: { ...readerOf(words), namedConversation: () => undefined, resumeWords: conversation.resume },
    loadCredentials: async () => ({ find: await loadFind(), asFile: undefined }),
    loadHome,
    loadData,
  };

  async function loadHome(): Promise<AgentHome> {
    const [{ stageAgent }, settings] = await Promise.all([import('./others/stage-agent.ts'), loadSettings()]);
    return {
      conversationsDir: undefined,
      stage: async (options) => {
        const from = settings.from(options.env, options.home);
        const { text, dropped } = await settings.make(from, options);
        const path = `${dir}/${settings.file}`;
        const notes = dropped.length === 0 ? [] : [`~/${path}: not staged: ${dropped.join(', ')}`];
        const watched = { [path]: settings.others };
        return stageAgent(
          { dir, instructionsFile, trees },
          { ...options, from, made: { [path]: text }, watched, notes },
        );
      },
    };
  }

  async function loadData(): Promise<AgentData> {
    const [{ collectAgent }, { file, others }] = await Promise.all([
      import('./others/collect-agent.ts'),
      loadSettings(),
    ]);
    const watch = { dir, obeyed, own, conversation, settings: { path: `${dir}/${file}`, others } };
    return { collect: (options) => collectAgent(watch, options), apply: async () => [] };
  }
}
