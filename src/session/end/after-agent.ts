// What follows the agent's end. It is most of the program, so it is loaded with a dynamic import while the agent runs.

export { readyToAsk } from '../../terminal/ask.ts';
export { applySession } from './apply-session.ts';
export { openAuditBase, warmUpAudit } from './audit-base.ts';
export { collectSession } from './collect.ts';
export { endSession } from './end-session.ts';
export { reviewRemaining } from './remaining-changes.ts';
export { decideSession } from './review-session.ts';
