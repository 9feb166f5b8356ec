/** A file or folder that run-claude keeps on the user's machine. */
export interface Place {
  /** Below the directory that its table stands for; several names of one kind in one row. */
  readonly names: readonly string[];
  readonly what: string;
}

/** A directory of run-claude and what is in it. */
export interface PlacesOf {
  readonly dir: string;
  readonly variable?: string;
  readonly about: string;
  readonly places: readonly Place[];
}

const place = (names: string, what: string): Place => ({ names: names.split(' '), what });

/** Every place, by directory. places.test.ts compares the names with those of the source. */
export const PLACES: readonly PlacesOf[] = [
  {
    dir: '~/.config/run-claude',
    variable: 'XDG_CONFIG_HOME',
    about: 'Yours: run-claude writes to it only when you say so.',
    places: [
      place('config.toml', 'your settings'),
      place('profiles/NAME', 'settings, skills and plugins for `--profile`'),
    ],
  },
  {
    dir: '~/.local/state/run-claude',
    variable: 'XDG_STATE_HOME',
    about: 'Cannot be made again: what sessions left, and what you agreed to.',
    places: [
      place('sessions/ID', 'one directory for each session, see below'),
      place('agreed/HASH.json', 'settings that you agreed to at "Start the session?", by project'),
      place('requests/HASH.json', 'digests of the requests that you agreed to, by project'),
      place('batches/HASH', 'one directory for each file of `run-claude batch`'),
      place('batches/HASH/ID.json', 'a task: its session, how it ended'),
      place('batches/HASH/ID.out batches/HASH/ID.log', 'what its agent printed, the messages of its session'),
      place('plugin/HASH.json', 'a code of `/boxed:apply` or `/boxed:discard` that is not answered yet'),
      place('agent-folders', 'folders that an agent could write in bind mode: no program is taken from there'),
      place('engine-claims/PID.json', 'which engine a start has chosen, so that the next one counts it'),
      place('overlay-trial.json', 'whether overlay volumes work on this engine'),
      place('agent-id.json', 'the uid of the agent where root runs it'),
      place('locks/ up/HASH.lock config.lock', 'held while an apply, an `up` or a change of `config.toml` runs'),
    ],
  },
  {
    dir: '~/.local/state/run-claude/sessions/ID',
    about: 'One session. Files appear when there is something to write.',
    places: [
      place('session.json', 'the record: plan, stage, times, outcome'),
      place('manifest', 'every change, finding and withheld path'),
      place('store/', 'frozen content, by its SHA-256'),
      place('journal/', 'steps of an apply, before the first is taken'),
      place('layer/', 'what the session wrote (strategies `layers`, `copy`)'),
      place('report.json', 'the report'),
      place('network.jsonl', 'what the session asked the gateway for'),
      place('events.jsonl', 'its start, end, commands, answers, applies: `run-claude log` prints them'),
      place('usage.json', 'requests, tokens, cost'),
      place('note', 'the text of `run-claude note`'),
      place('home/', "the agent's home, until the session ends"),
      place('claude-staged.json', "Claude's data as it went in, to compare with what comes back"),
      place('decoys.json home-decoys.json', 'the decoys of masked files in the project, and in the home'),
      place('decoys-seen.jsonl', 'decoys that were sent: where from, where to, when'),
      place('services/', 'the log of each service'),
      place('ports.json ports-asked/', 'pages that are open, and those that `run-claude ports` asks for'),
      place('door holder.log', 'of a session of `up` or `--bg`: its socket, its messages'),
      place('output', 'of a session of `--bg`: what its program printed'),
      place('proposal', 'of a session of `up`: a request for a review'),
      place('bind.json bind.pack', 'bind mode: the project before the session'),
      place('bind/', 'bind mode: files that are mounted'),
      place('quarantine/', 'bind mode: what was moved out of the project'),
      place('explore/', 'the layer of `run-claude explore`, until it ends'),
      place('stop-request', 'written by `run-claude stop`'),
      place('frozen-files', 'while changes are collected: those that are frozen already'),
      place('own-entries branch-… import-…', 'while an import, `--branch` or `commits --import` runs'),
      place('layer.lock', 'held while the layer is read or changed'),
    ],
  },
  {
    dir: '~/.cache/run-claude',
    variable: 'XDG_CACHE_HOME',
    about: 'Can be made again.',
    places: [
      place('bases/HASH/', 'private copy of one project, by its path'),
      place('bases/HASH/gen/N/tree', 'a generation of the copy'),
      place('bases/HASH/gen/N/manifest', 'names, times and digests of its entries'),
      place('bases/HASH/users/', 'which session references which generation'),
      place('bases/HASH/decoy-key', "the key of the project's decoys, so that they stay the same"),
      place(
        'environments/HASH/',
        'what a setup made, by its inputs: `home`, `workspace`, `network.jsonl`, `made.json`',
      ),
      place('caches/HASH/', 'archives of packages: `archives`, `network.jsonl`, `filling.json`, `filled.json`'),
      place('caches-id', "random, part of every cache's address"),
      place('seeds/HASH.json', 'when the seeded data of a service was last used; the data is in a volume'),
      place('image/', 'the log and the lock of image builds, and releases of Claude Code that were looked up'),
    ],
  },
  {
    dir: '~/.local/share/run-claude',
    variable: 'XDG_DATA_HOME',
    about: "Claude's data.",
    places: [
      place('mcp-logins/NAME.json', 'tokens of `mcp login`, mode 0600'),
      place('projects/HASH/', 'conversations, prompts, memory of one repository'),
      place('projects/HASH/project-root', 'the path of the project, as text'),
    ],
  },
];

/** The generated part of docs/explanation/on-disk.md. */
export function places(): string {
  return PLACES.map(({ dir, variable, about, places: rows }) => {
    const title = `### \`${dir}/\``;
    const moved =
      variable === undefined ? '' : ` \`$${variable}/run-claude\` takes its place where the variable is set.`;
    const cells = rows.map(({ names, what }) => `| ${names.map((name) => `\`${name}\``).join(', ')} | ${what} |`);
    return [`${title}\n\n${about}${moved}\n`, '| path | what |', '| --- | --- |', ...cells].join('\n');
  }).join('\n\n');
}
