import { createInsertScanner, InsertRefused, type InsertScanner } from './insert-scanner.ts';

/** Ends the rows of a table: a comment, so that the file is what the client reads. */
export const END_OF_ROWS = '-- tool: end of rows\n';
const NEWLINE = 10;

/**
 * The INSERT statements of a file, passed on as far as they have been read and are rows of this table. Rows of a
 * snapshot are input: the client would run any other statement. Parts are gone when the next is asked for.
 */
export async function* checkedRows(
  content: AsyncIterable<Uint8Array>,
  { table, rows }: { table: string; rows: number },
): AsyncGenerator<Uint8Array> {
  let insert: InsertScanner | null = null;
  /** The beginning of a statement whose table is not known yet. */
  let held: Uint8Array[] = [];
  let counted = 0;
  for await (const block of content) {
    for (let at = 0; at < block.length; ) {
      if (!insert) {
        if (block[at] === NEWLINE) {
          at += 1;
          continue;
        }
        insert = createInsertScanner();
      }
      const end = insert.scan(block, at);
      const part = block.subarray(at, end);
      at = end;
      if (insert.table === null) {
        held.push(Buffer.from(part));
        continue;
      }
      if (insert.table !== table) throw new InsertRefused(`it is of the table ${insert.table}`);
      yield* held;
      held = [];
      yield part;
      if (!insert.done) continue;
      counted += insert.rows;
      insert = null;
    }
  }
  if (insert) throw new InsertRefused('it has no end');
  if (counted !== rows) throw new InsertRefused(`there are ${counted} rows, and ${rows} in the manifest`);
}
