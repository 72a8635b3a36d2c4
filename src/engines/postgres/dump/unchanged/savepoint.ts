import type { PostgresSession } from '../../connection/session.ts';
import { SqlError } from '../../connection/session-errors.ts';

/**
 * Returns `null` when a statement of the work fails; the transaction of the build goes on. A build that fails meanwhile
 * rolls its transaction back, and has its own error to tell.
 */
export async function withinSavepoint<Result>(session: PostgresSession, work: () => Promise<Result>) {
  try {
    await session.execute('SAVEPOINT evidence');
    const result = await work();
    await session.execute('RELEASE SAVEPOINT evidence');
    return result;
  } catch (error) {
    if (!(error instanceof SqlError)) throw error;
    await session.execute('ROLLBACK TO SAVEPOINT evidence').catch((refused) => {
      if (!(refused instanceof SqlError)) throw refused;
    });
    return null;
  }
}
