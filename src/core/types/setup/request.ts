import type { Service } from '../policy.ts';
import type { Environment } from './environment.ts';

/** What a project's own file asks for beyond the user's settings. Nothing of it holds before the user agrees. */
export interface ProjectRequest {
  readonly environment: Environment;
  /** The content of the files that the setup and the seeds read: a digest by path. Undefined: none is read. */
  readonly contents?: Readonly<Record<string, string>> | undefined;
  /** An image of the engine, which a devcontainer.json names. */
  readonly image?: string | undefined;
  /** Servers next to the agent. Undefined: none. */
  readonly services?: readonly Service[] | undefined;
  /** Ports of the session whose pages the user sees, as `--port`; `forwardPorts` of a devcontainer.json. */
  readonly ports?: readonly number[] | undefined;
}
