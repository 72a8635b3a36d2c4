import type { StatementPiece } from '../../restore/rows/insert-rows.ts';
import { InsertRefused, InsertScanner } from './insert-scanner.ts';

export const END_OF_ROWS = '-- tool: end of rows\n';
const NEWLINE = 10;

/** The INSERT statements of a file, checked while they pass: the server would run any other statement. */
export async function* checkedRows(
  content: AsyncIterable<Uint8Array>,
  { table, rows }: { table: string; rows: number },
): AsyncGenerator<StatementPiece> {
  let insert: InsertScanner | null = null;
  let held: Uint8Array[] = [];
  let counted = 0;
  for await (const block of content) {
    for (let at = 0; at < block.length; ) {
      if (!insert) {
        if (block[at] === NEWLINE) {
          at += 1;
          continue;
        }
        insert = new InsertScanner();
      }
      const end = insert.scan(block, at);
      const part = block.subarray(at, end);
      at = end;
      if (insert.table === null) {
        held.push(Buffer.from(part));
        continue;
      }
      if (insert.table !== table) throw new InsertRefused(`it is of the table ${insert.table}`);
      for (const bytes of held) yield { bytes, last: false };
      held = [];
      yield { bytes: part, last: insert.done };
      if (!insert.done) continue;
      counted += insert.rows;
      insert = null;
    }
  }
  if (insert) throw new InsertRefused('it has no end');
  if (counted !== rows) throw new InsertRefused(`there are ${counted} rows, and ${rows} in the manifest`);
}
