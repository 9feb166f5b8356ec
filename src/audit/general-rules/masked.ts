import { EVERY, type GeneralRule } from './rule.ts';

const SOURCE = 'docs/explanation/threat-model.md';

/** Changes are searched for the decoys of masked files next to the rules on files. */
export const DECOY_WRITTEN: GeneralRule = {
  id: 'decoy-written',
  title: 'Decoy of a masked file written',
  family: 'masked',
  when: 'push, publishing',
  severity: 'blocked',
  files: EVERY,
  look: [{ kind: 'reported' }],
  about:
    'decoys in names and new content, commits and branches: as they are, reversed, escaped, over line breaks, in base64, hex and gzip',
  cases: {
    built: {
      severity: 'suspect',
      title: 'Decoy of a public key in built output',
      why: 'A build puts such a key where every visitor can read it. It is a decoy here: build again outside.',
    },
    message: { title: 'Decoy of a masked file in a commit message' },
    branch: { title: 'Decoy of a masked file in the name of a branch' },
  },
  why: 'The session took it from a masked file, and would have written your secret in its place.',
  source: SOURCE,
};

export const MASKED_VALUE: GeneralRule = {
  id: 'masked-value',
  title: 'Real value of a masked file',
  family: 'masked',
  when: 'push, publishing',
  severity: 'blocked',
  files: EVERY,
  look: [{ kind: 'reported' }],
  about: 'values of masked files that the base does not have, in names and new content, as for `decoy-written`',
  cases: {
    message: { title: 'Real value of a masked file in a commit message' },
    branch: { title: 'Real value of a masked file in the name of a branch' },
  },
  why: 'The session should not know it: find out how it came in, and replace the secret.',
  source: SOURCE,
};

/** The gateway reports it. */
export const DECOY_SENT: GeneralRule = {
  id: 'decoy-sent',
  title: 'Decoy of a masked file sent',
  family: 'masked',
  when: 'during the session',
  severity: 'blocked',
  files: EVERY,
  look: [{ kind: 'reported' }],
  about: 'names of hosts, requests that the gateway reads, WebSockets, arguments of MCP tools',
  why: 'The session tried to send it to another host than its provider.',
  source: SOURCE,
};

export const DECOY_READ: GeneralRule = {
  id: 'decoy-read',
  title: 'Read by the agent',
  family: 'masked',
  when: 'nothing',
  severity: 'note',
  files: EVERY,
  look: [{ kind: 'reported' }],
  about: 'requests to the provider of the agent',
  why: 'The model has seen decoys of this masked file, and none of its secrets.',
  source: SOURCE,
};

/** Rules on values of masked files. Another part of the audit, or of the session, reports what they find. */
export const MASKED_RULES: readonly GeneralRule[] = [DECOY_WRITTEN, MASKED_VALUE, DECOY_SENT, DECOY_READ];
