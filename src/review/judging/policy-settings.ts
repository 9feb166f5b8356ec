import type { Policy } from '../../core/types/policy.ts';
import type { JudgeRequest } from './change-judge.ts';

/** What the user's configuration says about an audit. */
export function policySettings(policy: Policy): Pick<JudgeRequest, 'newKinds' | 'userRules' | 'severities'> {
  return {
    // A user who is asked sees the note; nobody sees it with --auto-apply.
    newKinds: policy.autoApply ? (policy.newKinds ?? 'note') : 'note',
    userRules: policy.auditRules,
    severities: policy.auditSeverities,
  };
}
