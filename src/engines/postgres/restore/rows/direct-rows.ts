import type { UserError } from '../../../../runtime/errors.ts';
import type { EngineContext } from '../../../engine-context.ts';
import { restoreFailed } from '../../../shared/restore-failed.ts';
import { quoteName, quoteText } from '../../connection/quote.ts';
import { ConnectionLost, SqlError } from '../../connection/session-errors.ts';
import type { Wire } from '../../connection/wire.ts';
import type { WireAddress } from '../../connection/wire-login.ts';
import { failureHint } from '../failure-hint.ts';
import { COPY_SETTINGS, copyStatement, type RowsToLoad } from './copy-commands.ts';
import { checkCounts, feedFile } from './feed-tables.ts';
import type { FillRun } from './filling.ts';

/** A session that loads rows without psql, which copies each byte twice more, in pieces of 4 kB. */
export interface RowLoader extends Disposable {
  /**
   * Loads a batch in one transaction. Resolves with the numbers of rows, or with what the server has refused: then it has
   * loaded nothing.
   */
  load(batch: RowsToLoad[], onBytes: (current: string, bytes: number) => void): Promise<number[] | UserError>;
}

/** `null` where it cannot connect: psql knows more ways, and tells why. */
export async function openRowLoader(
  { signal }: EngineContext,
  { fill, address }: { fill: FillRun; address: WireAddress },
): Promise<RowLoader | null> {
  // A load through psql starts without it.
  const { openWire } = await import('../../connection/wire.ts');
  const wire = await openWire(address).catch((error) => {
    if (error instanceof ConnectionLost || error instanceof SqlError) return null;
    throw error;
  });
  if (!wire) return null;
  const close = (): void => wire.close();
  signal.addEventListener('abort', close, { once: true });
  try {
    const settings = { client_encoding: 'UTF8', ...fill.settings, ...COPY_SETTINGS };
    const assignments = Object.entries(settings).map(([name, value]) => `SET ${quoteName(name)} = ${quoteText(value)}`);
    await wire.execute(assignments.join('; '));
  } catch (error) {
    close();
    throw error;
  }
  return {
    load: (batch, onBytes) => loadBatch(wire, { fill, batch, onBytes }),
    [Symbol.dispose]() {
      signal.removeEventListener('abort', close);
      close();
    },
  };
}

export interface Batch {
  fill: FillRun;
  batch: RowsToLoad[];
  onBytes: (current: string, bytes: number) => void;
}

async function loadBatch(wire: Wire, { fill, batch, onBytes }: Batch): Promise<number[] | UserError> {
  const { read, details } = fill;
  const counts: number[] = [];
  try {
    await wire.execute('BEGIN');
    for (const rows of batch) {
      const copy = wire.copyIn(copyStatement(rows, details));
      const { table, files } = rows;
      for (const file of files) await feedFile({ read, table, file, onBytes, write: copy.write });
      counts.push(await copy.end());
    }
    await wire.execute('COMMIT');
  } catch (error) {
    if (error instanceof SqlError) {
      await wire.execute('ROLLBACK');
      const words = error.message.split('\n');
      const what = `The rows of ${batch[counts.length]?.table.name} could not be loaded`;
      return restoreFailed(what, words.slice(0, 20), failureHint(words, details));
    }
    // Half of a table's rows must not be taken for all.
    wire.close();
    throw error;
  }
  return checkCounts(counts, batch);
}
