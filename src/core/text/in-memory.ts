/** Content above this size is streamed and never held whole in memory. */
export const MAX_IN_MEMORY_BYTES = 32 << 20;
