// The stages after the agent's end. They are most of the program, and are imported while the agent runs.

export { preloadPrompt as readyToAsk } from '../../terminal/read-line.ts';
export { applySession } from './apply-session.ts';
export { collectSession } from './collect.ts';
export { endSession } from './end-session.ts';
export { reviewRemaining } from './remaining-changes.ts';
export { decideSession } from './review-session.ts';
export { openSessionJudge, startJudge, warmUpAudit } from './session-judge.ts';
