import { asObject, type JsonObject } from '../../../core/text/json-in.ts';
import { filterServers } from './mcp-filter.ts';

/** Preferences of ~/.claude.json that reveal nothing about the user or other projects. */
const PLAIN_KEYS = ['theme', 'editorMode', 'verbose', 'autoCompactEnabled', 'diffTool', 'todoFeatureEnabled'];

export interface InsideJson {
  readonly json: JsonObject;
  /** MCP servers that are left out, with the reason. */
  readonly leftOut: readonly string[];
  /** Commands that let the agent use one of them, with its login on the host. */
  readonly offers: readonly string[];
}

/**
 * ~/.claude.json for the inside: onboarding done, the working directory trusted, the placeholder approved, the user's
 * plain preferences, and MCP servers that can run inside. Accounts, other projects and approvals are left out. The file
 * never comes back: trust in /workspace is not trust in the host's path.
 */
export function insideJson(host: JsonObject | undefined, facts: InsideFacts): InsideJson {
  const kept: JsonObject = {};
  for (const key of PLAIN_KEYS) if (host?.[key] !== undefined) kept[key] = host[key];
  const project = asObject(asObject(host?.['projects'])?.[facts.projectRoot]);
  const own = Object.fromEntries(facts.servers.map(({ name, url }) => [name, { type: 'http', url }]));
  const user = filterServers(host?.['mcpServers'], own);
  const local = filterServers(project?.['mcpServers'], own);
  const trusted = { hasTrustDialogAccepted: true, hasCompletedProjectOnboarding: true };
  const projects: JsonObject = {};
  for (const path of new Set(['/workspace', facts.workdir])) projects[path] = { ...trusted, mcpServers: local.servers };
  const approved = facts.placeholder === undefined ? [] : [facts.placeholder.slice(-20)];
  return {
    json: {
      theme: 'dark',
      ...kept,
      hasCompletedOnboarding: true,
      // Otherwise Claude would ask in every session whether auto mode becomes the default, and Enter means yes.
      hasSeenAutoDefaultNudge: true,
      hasSeenAutoDefaultNotice: true,
      ...(facts.skipPermissions ? { bypassPermissionsModeAccepted: true } : {}),
      customApiKeyResponses: { approved, rejected: [] },
      mcpServers: { ...user.servers, ...own },
      projects,
    },
    leftOut: [...user.leftOut, ...local.leftOut],
    offers: [...user.offers, ...local.offers],
  };
}

export interface InsideFacts {
  readonly projectRoot: string;
  /** Where the agent starts, inside. */
  readonly workdir: string;
  /** What is inside in place of the credential; undefined without one. */
  readonly placeholder: string | undefined;
  readonly skipPermissions: boolean;
  /** MCP servers that the gateway logs in to. */
  readonly servers: readonly { readonly name: string; readonly url: string }[];
}
