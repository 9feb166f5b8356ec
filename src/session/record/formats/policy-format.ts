import {
  absolutePath,
  anyOf,
  type Check,
  fields,
  flag,
  listOf,
  mapOf,
  number,
  oneOf,
  optional,
  text,
} from '../../../core/store/parse-record.ts';
import type { OwnAgent, OwnPackage, OwnProvider } from '../../../core/types/agent/own-agent.ts';
import type { Severity } from '../../../core/types/finding.ts';
import type {
  AllowRule,
  BrokerRule,
  McpProgram,
  McpServer,
  Policy,
  Service,
  UserRule,
} from '../../../core/types/policy.ts';
import type { SceneCommand } from '../../../core/types/scene.ts';
import { CACHE_NAMES } from '../../../core/types/setup/cache.ts';
import type { Environment } from '../../../core/types/setup/environment.ts';
import { STRATEGY_NAMES } from '../../../core/types/strategy.ts';
import type { TestCommand } from '../../../core/types/test.ts';

/** A list of words. */
export const texts: Check<readonly string[]> = listOf(text);
/** An agent of the user's configuration. */
export const ownAgent: Check<OwnAgent> = fields<OwnAgent>({
  name: text,
  title: text,
  program: texts,
  package: optional(fields<OwnPackage>({ name: text, integrity: text, entry: text })),
  copy: texts,
  instructions: optional(text),
  print: texts,
  skipPermissions: texts,
  env: mapOf(text),
  provider: optional(
    fields<OwnProvider>({ api: oneOf('anthropic', 'openai', 'gemini'), url: text, key: text, placeholder: text }),
  ),
});
const severity: Check<Severity> = oneOf('blocked', 'suspect', 'note');

/** What passes with a host's requests in addition to the gateway's own lists. */
const passedNames = { parameters: optional(texts), headers: optional(texts), contentTypes: optional(texts) };

/** A policy in a session's record. */
export const policy: Check<Policy> = fields<Policy>({
  mode: oneOf('copy', 'bind'),
  strategy: oneOf('auto', ...STRATEGY_NAMES),
  shallow: flag,
  repo: flag,
  autoApply: flag,
  allowSuspect: texts,
  yes: flag,
  failOn: optional(severity),
  newKinds: optional(oneOf('ask', 'note')),
  rehearse: optional(oneOf('off', 'ask', 'always')),
  test: optional(texts),
  tests: optional(listOf(fields<TestCommand>({ name: text, command: text, timeoutMs: number, needsNetwork: flag }))),
  scenes: optional(
    listOf(fields<SceneCommand>({ name: text, command: text, files: texts, tools: texts, timeoutMs: number })),
  ),
  requireTests: optional(flag),
  also: optional(texts),
  exclude: texts,
  include: texts,
  mask: texts,
  unmask: optional(texts),
  copyIgnored: optional(flag),
  includeIgnored: anyOf(flag, texts),
  tmpdir: optional(text),
  memoryMb: number,
  cpus: number,
  pids: number,
  tmpMb: number,
  diskMb: optional(number),
  timeoutMs: optional(number),
  idleTimeoutMs: optional(number),
  notify: optional(texts),
  keepAwake: optional(flag),
  maxCostUsd: optional(number),
  maxRequests: optional(number),
  network: oneOf('gateway', 'none', 'open'),
  allowHosts: texts,
  allowAddresses: texts,
  networkPresets: texts,
  brokers: listOf(
    fields<BrokerRule>({
      host: text,
      header: text,
      from: texts,
      methods: texts,
      requests: optional(texts),
      ...passedNames,
    }),
  ),
  mcpServers: optional(
    listOf(
      fields<McpServer>({
        name: text,
        url: text,
        header: optional(text),
        from: optional(texts),
        oauth: optional(flag),
        tools: optional(texts),
      }),
    ),
  ),
  services: optional(
    listOf(
      fields<Service>({
        name: text,
        image: optional(text),
        packages: texts,
        command: texts,
        port: number,
        env: mapOf(text),
        ready: optional(text),
        readyMs: number,
        data: absolutePath,
        seed: optional(text),
        files: texts,
        reaches: texts,
        memoryMb: number,
        diskMb: number,
      }),
    ),
  ),
  mcpPrograms: optional(
    listOf(
      fields<McpProgram>({
        name: text,
        command: texts,
        directory: optional(absolutePath),
        env: mapOf(text),
        secrets: mapOf(texts),
        hosts: texts,
        tools: optional(texts),
      }),
    ),
  ),
  allowRequests: optional(listOf(fields<AllowRule>({ host: text, requests: texts, ...passedNames }))),
  ports: optional(texts),
  allowLocal: optional(texts),
  mcp: optional(flag),
  credentials: oneOf('broker', 'file', 'none'),
  freshCreds: flag,
  env: mapOf(text),
  envFiles: optional(texts),
  envFileNames: optional(texts),
  with: optional(texts),
  caches: optional(listOf(oneOf(...CACHE_NAMES))),
  approved: optional(texts),
  environment: optional(
    fields<Environment>({ packages: texts, setup: optional(text), env: mapOf(text), files: texts }),
  ),
  allowGitPush: flag,
  permissions: oneOf('skip', 'ask'),
  on: optional(text),
  engine: oneOf('auto', 'docker', 'podman'),
  runtime: optional(text),
  agent: optional(text),
  gpu: optional(flag),
  image: optional(text),
  toolchain: flag,
  claudeVersion: optional(text),
  rebuild: flag,
  isolateClaudeData: flag,
  syncBack: flag,
  profile: optional(text),
  verify: flag,
  report: optional(text),
  quiet: flag,
  trace: flag,
  auditRules: listOf(fields<UserRule>({ id: text, paths: texts, severity, why: text })),
  auditSeverities: mapOf(severity),
});
