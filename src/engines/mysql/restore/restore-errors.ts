import { restoreFailed } from '../../shared/restore-failed.ts';
import { SqlError } from '../connection/session-errors.ts';

/** Returns a handler of errors: an error of the server becomes one of the restore. */
export function failRestore(message: string, next?: string): (error: unknown) => never {
  return (error) => {
    throw error instanceof SqlError ? restoreFailed(message, [error.message], next) : error;
  };
}
