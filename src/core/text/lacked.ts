/** The problem of a change of what a session's copy lacks on purpose. The audit knows it by this text. */
export const LACKED = 'it was left out of the copy or masked, and is never changed on the host';
