import { toUserError } from '../src/runtime/errors.ts';

/** Structured logs: one JSON object a line. Nothing of a body, a header or a query is in it. */
export interface Log {
  info(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
}

export type LogFields = Record<string, string | number | boolean | null | undefined>;

export function createLog({ write, clock }: { write: (line: string) => void; clock: () => Date }): Log {
  const line = (level: string, message: string, fields: LogFields = {}): void =>
    write(`${JSON.stringify({ time: clock().toISOString(), level, message, ...fields })}\n`);
  return {
    info: (message, fields) => line('info', message, fields),
    error: (message, fields) => line('error', message, fields),
  };
}

/** The message of a failure, without statements and values. */
export function reasonOf(error: unknown): { reason: string } {
  return { reason: toUserError(error).message.slice(0, 500) };
}
