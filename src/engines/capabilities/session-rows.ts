import { type Asked, by, type Capability, type Cell, lost, refused } from './capability.ts';
import type { Column } from './columns.ts';

type Cells = Readonly<Record<Column, Cell>>;

const ON_AN_ENGINE = refused('Leave them out, or run the session on an engine: leave --on out.');
const NODE_IMAGE = refused(
  'Nodes run the image of [kubernetes]. Leave the options out, or run the session on an engine.',
);
const GIVE_A_TASK = refused('Give it a task: run-claude --on ... -p, exec or batch.');
const ENGINE_ELSEWHERE = refused(
  'Plan for an engine on another machine, where all directories are volumes: DOCKER_HOST=ssh://USER@HOST',
  'RENDER_LOSS',
);
const OTHER_FORM = refused('Leave it out, or render pods: --dry-run=pods', 'RENDER_LOSS');

const engines = (cell: Cell) => ({ docker: cell, podman: cell });
const pods = (cell: Cell) => ({ 'kubernetes-pod': cell, 'kubernetes-pods': cell });
const forms = (cell: Cell) => ({ oci: cell, pod: cell, pods: cell });

/** What runs on an engine, and what a form renders of it, if anything. */
const onEngines = (rendered: Cell, elsewhere = ON_AN_ENGINE, field = 'yes'): Cells => ({
  ...engines(by(field)),
  slurm: elsewhere,
  ...pods(elsewhere),
  ...forms(rendered),
});
const YES = by('yes');
/** Nodes have one image, which run-claude does not make there. */
const OWN_IMAGE: Cells = { ...engines(YES), slurm: YES, ...pods(NODE_IMAGE), ...forms(YES) };

const has = (list: readonly unknown[] | undefined): boolean => (list ?? []).length > 0;

const row = (words: string, what: string, cells: Cells, isAsked: (asked: Asked) => boolean): Capability => ({
  what,
  words,
  cells,
  isAsked,
});

/** Every choice for a session that its containers depend on, and what is started or served next to them. */
export const SESSION_ROWS = {
  'bind-mode': row(
    'bind mode',
    "work on the user's own files",
    onEngines(YES),
    ({ policy }) => policy?.mode === 'bind',
  ),
  'host-directories': row(
    'a directory of this machine',
    'directories of this machine in a container',
    {
      ...onEngines(YES),
      pod: ENGINE_ELSEWHERE,
      pods: ENGINE_ELSEWHERE,
    },
    ({ spec }) => spec?.mounts?.some(({ kind }) => kind === 'bind') === true,
  ),
  'network-open': row(
    '--network open',
    'a network without the gateway',
    { ...onEngines(by('the caller makes the namespace')), pod: OTHER_FORM, pods: YES },
    ({ policy, spec }) => policy?.network === 'open' || (spec?.role === 'agent' && spec.network !== 'none'),
  ),
  'gateway-network': row(
    '--network gateway',
    "a network of the gateway's own",
    {
      ...engines(by('a bridge for each session')),
      slurm: lost("the gateway shares the node's network namespace: its rules hold, its own namespace does not"),
      ...pods(by('the network of its pod')),
      ...forms(by('the caller makes the network')),
    },
    ({ policy }) => policy?.network === 'gateway',
  ),
  'credentials-file': row(
    '--credentials file',
    "the agent's own login inside",
    onEngines(YES),
    ({ policy }) => policy?.credentials === 'file',
  ),
  'allow-local': row('--allow-local', "services of the user's machine", onEngines(YES), ({ policy }) =>
    has(policy?.allowLocal),
  ),
  ports: row(
    '--port',
    "pages of --port, by run-claude's own listener",
    onEngines(lost('nothing shows the pages')),
    ({ policy }) => has(policy?.ports),
  ),
  runtime: row(
    '--runtime',
    'another runtime of the engine',
    {
      docker: by('Runtime'),
      podman: by('oci_runtime'),
      slurm: ON_AN_ENGINE,
      ...pods(ON_AN_ENGINE),
      oci: by('the caller chooses'),
      pod: OTHER_FORM,
      pods: by('runtimeClassName'),
    },
    ({ policy, spec }) => policy?.runtime !== undefined || spec?.runtime !== undefined,
  ),
  'other-folders': row(
    '--also',
    'folders of --also: a base, a layer and a review for each',
    onEngines(lost('the folders are not inside')),
    ({ policy, also }) => has(policy?.also) || has(also),
  ),
  caches: row(
    '--cache',
    'archives of packages in a read-only volume',
    onEngines(lost('packages come from the registry')),
    ({ policy }) => has(policy?.caches),
  ),
  'isolate-claude-data': row(
    '--isolate-claude-data',
    "Claude's data of this session alone",
    onEngines(YES),
    ({ policy }) => policy?.isolateClaudeData === true,
  ),
  services: row(
    '[[service]]',
    'servers of [[service]], in their own containers',
    onEngines(lost('the services are not started, and the agent has no way to them')),
    ({ policy }) => has(policy?.services),
  ),
  'mcp-programs': row(
    '[[mcp]] with command',
    'MCP servers that are programs, in their own containers',
    onEngines(lost('the MCP servers that are programs are not started')),
    ({ policy }) => policy?.network === 'gateway' && has(policy.mcpPrograms),
  ),
  setup: row(
    '[environment] setup',
    'what the setup of [environment] made',
    onEngines(lost('the setup has not run: what it makes is missing')),
    ({ policy }) => policy?.environment?.setup !== undefined,
  ),
  packages: row('[environment] packages', 'packages of Debian in the image', OWN_IMAGE, ({ policy }) =>
    has(policy?.environment?.packages),
  ),
  image: row('--image', 'a custom image', OWN_IMAGE, ({ policy }) => policy?.image !== undefined),
  toolchain: row('--toolchain', 'compilers in the image', OWN_IMAGE, ({ policy }) => policy?.toolchain === true),
  'claude-version': row(
    '--claude-version',
    'another release of Claude Code',
    OWN_IMAGE,
    ({ policy }) => policy?.claudeVersion !== undefined,
  ),
  rebuild: row('--rebuild', 'an image that is built again', OWN_IMAGE, ({ policy }) => policy?.rebuild === true),
  'image-builds': row('making an image', 'images that run-claude makes', OWN_IMAGE, () => false),
  'other-agents': row(
    'agents besides Claude',
    'agents whose program is a layer over the image',
    OWN_IMAGE,
    ({ agentLayer }) => agentLayer !== undefined,
  ),
  terminal: row(
    'a session on a terminal',
    "the agent's terminal",
    onEngines(YES, GIVE_A_TASK),
    ({ tty, spec }) => tty === true || spec?.tty === true,
  ),
  kept: row(
    'a session without an agent',
    '`up`: a session without an agent',
    onEngines(YES, GIVE_A_TASK),
    ({ program }) => program?.kind === 'kept',
  ),
  'commands-inside': row(
    'a command in its session',
    '`exec` and `shell` in a session that runs',
    onEngines(YES),
    () => false,
  ),
  companions: row(
    'a program next to the agent',
    'programs next to the agent',
    onEngines(YES),
    ({ spec }) => spec?.role === 'companion',
  ),
  'joined-volumes': row(
    'a volume of other volumes',
    'a layer over a base that sessions share',
    { ...engines(by('DriverOpts')), slurm: by('an overlay of the node'), ...pods(ON_AN_ENGINE), ...forms(YES) },
    ({ volume }) => volume?.options !== undefined,
  ),
} as const satisfies Readonly<Record<string, Capability>>;
