import type { ZodObject, z } from 'zod';
import type { Box } from '../../session/kept/box.ts';

/** What a tool's answer holds. */
export interface ToolAnswer {
  readonly text: string;
  readonly isError?: true;
}

export interface ToolCall {
  /** The session that the server works in: started at the first use, and again once it has ended. */
  readonly box: () => Promise<Box>;
  /** The client does not want the answer any more. */
  readonly signal: AbortSignal;
}

/** One tool of the server. */
export interface Tool {
  readonly name: string;
  readonly description: string;
  readonly input: ZodObject;
  /** It changes nothing in the session. */
  readonly isReadOnly: boolean;
  run(input: unknown, call: ToolCall): Promise<ToolAnswer>;
}

/** A row of the tools, its input checked against its schema. */
export function tool<S extends ZodObject>(row: {
  readonly name: string;
  readonly description: string;
  readonly input: S;
  readonly isReadOnly: boolean;
  readonly run: (input: z.infer<S>, call: ToolCall) => Promise<ToolAnswer>;
}): Tool {
  return { ...row, run: async (input, call) => row.run(row.input.parse(input), call) };
}
