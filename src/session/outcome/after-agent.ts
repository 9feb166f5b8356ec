// The stages after the agent's end. They are most of the program, and are imported while the agent runs.

export { preloadPrompt as readyToAsk } from '../../terminal/read-line.ts';
export { collectSession } from '../end/collect.ts';
export { openSessionJudge, startJudge, warmUpAudit } from '../end/session-judge.ts';
export { applyChoice } from './apply-choice.ts';
export { decideSession } from './decide-session.ts';
export { endSession } from './end-session.ts';
export { reviewRemaining } from './remaining-changes.ts';
export { openFiles } from './targets/files.ts';
