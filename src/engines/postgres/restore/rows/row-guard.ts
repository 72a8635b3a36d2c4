import { UserError } from '../../../../runtime/errors.ts';

/** Takes the rows of a table as they pass, in chunks that end anywhere. */
export interface RowGuard {
  /** Throws when the rows could end a COPY. */
  check(rows: Uint8Array): void;
  /** Throws when the last row has no end. */
  end(): void;
}

/** A line that begins like the end-of-copy mark. COPY itself writes every backslash of a value twice. */
const MARK = '\n\\.';

/**
 * Refuses rows that would end their COPY early: psql and the server take a line `\.` for its end, and what follows for
 * the rows of another table. psql also reads a line that holds a NUL as several.
 */
export function createRowGuard(table: string): RowGuard {
  let border = Buffer.from('\n');
  return {
    check(rows) {
      const bytes = Buffer.from(rows.buffer, rows.byteOffset, rows.byteLength);
      const across = Buffer.concat([border, bytes.subarray(0, MARK.length - 1)]);
      if (across.includes(MARK) || bytes.includes(MARK)) throw refused(table, 'a line \\. before their end');
      if (bytes.includes(0)) throw refused(table, 'a NUL byte');
      border = Buffer.concat([border, bytes.subarray(1 - MARK.length)]).subarray(1 - MARK.length);
    },
    end() {
      if (border.at(-1) !== 0x0a) throw refused(table, 'a last row without a line feed');
    },
  };
}

/** Rows that PostgreSQL never writes: they were forged or damaged. */
export function refused(table: string, what: string): UserError {
  return new UserError('content_refused', `The rows of ${table} are refused: they contain ${what}`, {
    hint: 'COPY never writes such rows, so they were forged or damaged. Do not trust their source; the destination is as it was before.',
  });
}
