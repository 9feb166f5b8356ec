import { asObject, type JsonObject } from '../formats/json-object.ts';
import { filterServers } from './mcp-filter.ts';

/** Preferences of ~/.claude.json that say nothing of the person or of other projects. */
const PLAIN_KEYS = ['theme', 'editorMode', 'verbose', 'autoCompactEnabled', 'diffTool', 'todoFeatureEnabled'];

export interface InsideJson {
  readonly json: JsonObject;
  /** MCP servers that stay out, with the reason. */
  readonly leftOut: readonly string[];
}

/**
 * ~/.claude.json for the inside: onboarding done, the working directory trusted, the placeholder approved, the
 * person's plain preferences and MCP servers that can exist there. Nothing of an account, of other projects or of
 * approvals goes in, and the file never comes back: trust of /workspace is no trust of the host's path.
 */
export function insideJson(host: JsonObject | undefined, facts: InsideFacts): InsideJson {
  const kept: JsonObject = {};
  for (const key of PLAIN_KEYS) if (host?.[key] !== undefined) kept[key] = host[key];
  const project = asObject(asObject(host?.['projects'])?.[facts.projectRoot]);
  const user = filterServers(host?.['mcpServers']);
  const local = filterServers(project?.['mcpServers']);
  const trusted = { hasTrustDialogAccepted: true, hasCompletedProjectOnboarding: true };
  const projects: JsonObject = {};
  for (const path of new Set(['/workspace', facts.workdir])) projects[path] = { ...trusted, mcpServers: local.servers };
  const approved = facts.placeholder === undefined ? [] : [facts.placeholder.slice(-20)];
  return {
    json: {
      theme: 'dark',
      ...kept,
      hasCompletedOnboarding: true,
      // A new home would be asked in every session whether auto mode becomes its default, and Enter means yes.
      hasSeenAutoDefaultNudge: true,
      hasSeenAutoDefaultNotice: true,
      ...(facts.skipPermissions ? { bypassPermissionsModeAccepted: true } : {}),
      customApiKeyResponses: { approved, rejected: [] },
      mcpServers: user.servers,
      projects,
    },
    leftOut: [...user.leftOut, ...local.leftOut],
  };
}

export interface InsideFacts {
  readonly projectRoot: string;
  /** Where the agent starts, inside. */
  readonly workdir: string;
  /** What stands for the credential inside; undefined: none. */
  readonly placeholder: string | undefined;
  readonly skipPermissions: boolean;
}
