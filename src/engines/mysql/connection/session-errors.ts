import type { QueryError } from 'mysql2';

export class SqlError extends Error {
  override readonly name = 'SqlError';
  readonly errno: number;

  constructor(message: string, errno: number) {
    super(message);
    this.errno = errno;
  }
}

/** A failed or lost connection. `errno`: the server's number, if any. */
export class ConnectionLost extends Error {
  override readonly name = 'ConnectionLost';
  readonly errno: number | null;
  /** Error code of Node or the driver: `ECONNREFUSED`. */
  readonly code: string | null;

  constructor(message: string, errno: number | null = null, code: string | null = null) {
    super(message);
    this.errno = errno;
    this.code = code;
  }
}

export function sessionError(error: QueryError, signal: AbortSignal | undefined): unknown {
  if (signal?.aborted) return signal.reason;
  const errno = numberOf(error);
  return errno === null ? new ConnectionLost(messageOf(error), null, error.code) : new SqlError(error.message, errno);
}

/** Returns a handler of errors: the server's errors of these numbers become the value. */
export function unless<Value>(numbers: Iterable<number>, value: Value): (error: unknown) => Value {
  const known = new Set(numbers);
  return (error) => {
    if (error instanceof SqlError && known.has(error.errno)) return value;
    throw error;
  };
}

/** Returns a handler of errors: an error of the server becomes the value. */
export function onRefusal<Value>(toValue: (error: SqlError) => Value): (error: unknown) => Value {
  return (error) => {
    if (error instanceof SqlError) return toValue(error);
    throw error;
  };
}

/** The server's number: those of the driver and the system are negative, or absent. */
export function numberOf({ errno }: QueryError): number | null {
  return typeof errno === 'number' && errno > 0 ? errno : null;
}

/** The driver proposes its own options, or nothing, where an account has a plugin that it refuses or lacks. */
const PLUGIN = /^Server request(?:ed|s) authentication using (?:unknown plugin )?(\w*)/;

export function messageOf(error: Error & { errors?: Error[] }): string {
  const plugin = PLUGIN.exec(error.message)?.[1];
  if (plugin !== undefined)
    return `the server requests authentication by ${plugin || 'an old plugin'}, which is not supported`;
  return error.message || (error.errors ?? []).map(({ message }) => message).join('; ') || 'the connection was lost';
}
