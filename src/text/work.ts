/**
 * Steps that matching patterns and walking folders took in this process. Tests compare this number at n, 2n and 4n: it
 * grows with the input as time does, and no other work of the machine changes it.
 */
export const WORK = { steps: 0 };
