import { quoteName } from '../connection/quote.ts';
import type { PostgresSession } from '../connection/session.ts';
import { SqlError } from '../connection/session-errors.ts';
import { writeMark } from '../swap/mark.ts';
import { rename } from '../swap/swap.ts';

/** Gives a spare the name and state of a shadow database; `false` where that is refused: another run has taken it. */
export async function takeSpare(
  server: PostgresSession,
  spare: string,
  { to, of }: { to: string; of: string },
): Promise<boolean> {
  try {
    await server.transaction([
      rename(spare, to),
      writeMark(to, { tool: 'new', of }),
      `ALTER DATABASE ${quoteName(to)} ALLOW_CONNECTIONS true`,
    ]);
    return true;
  } catch (error) {
    if (error instanceof SqlError) return false;
    throw error;
  }
}
