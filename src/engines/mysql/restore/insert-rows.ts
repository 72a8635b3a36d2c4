import { EXIT, UserError } from '../../../errors.ts';
import { quoteName, type Session } from '../connection/session.ts';

export interface InsertOptions {
  table: string;
  columns: string[];
  /** Those that take text and no bytes. */
  texts: string[];
  /** Rows as text. */
  content: AsyncIterable<Uint8Array>;
}

export interface Loaded {
  loaded: number;
  warnings: Warning[];
}

export interface Warning {
  Code: number;
  Message: string;
}

export function warningsOf(session: Session): Promise<Warning[]> {
  return session.query<Warning>('SHOW WARNINGS');
}

/** How many bytes of rows go into a statement: as hexadecimal twice as many, which every server takes. */
const STATEMENT_BYTES = 256 * 1024;
const LINE_FEED = 10;

/** Rows as INSERT, for servers that take no LOAD DATA LOCAL; one transaction a table. */
export async function insertRows(session: Session, { table, columns, texts, content }: InsertOptions): Promise<Loaded> {
  const isText = new Set(texts);
  const asText = columns.map((column) => isText.has(column));
  const head = `INSERT INTO ${quoteName(table)} (${columns.map(quoteName).join(', ')}) VALUES `;
  const warnings: Warning[] = [];
  let loaded = 0;
  // A row may be longer than many blocks: they are joined once its end has come.
  let unfinished: Uint8Array[] = [];
  let waiting = 0;
  await session.execute('START TRANSACTION');
  for await (const block of content) {
    waiting += block.length;
    if (waiting > LONGEST_ROW) throw tooLong(table);
    if (!block.includes(LINE_FEED)) {
      unfinished.push(Buffer.from(block));
      continue;
    }
    const rows = Buffer.concat([...unfinished, block]);
    let start = 0;
    for (let end = endOfRows(rows, start); end !== -1; end = endOfRows(rows, start)) {
      const values = rows
        .toString('latin1', start, end)
        .split('\n')
        .map((row) => valuesOf(row, asText));
      const executed = await session.execute(head + values.join(','));
      loaded += executed.rows;
      if (executed.warnings > 0) warnings.push(...(await warningsOf(session)));
      start = end + 1;
    }
    unfinished = [Buffer.from(rows.subarray(start))];
    waiting = rows.length - start;
  }
  await session.execute('COMMIT');
  return { loaded, warnings };
}

/** As hexadecimal in one statement twice as long, which is the most that servers and texts of JavaScript take. */
const LONGEST_ROW = 128 * 1024 * 1024;

function tooLong(table: string): UserError {
  return new UserError(`A row of ${table} is too long for INSERT statements`, {
    code: 'row_too_long',
    exit: EXIT.failed,
    hint: 'The destination is as it was before. Set local_infile=ON on the server, so that rows are loaded by LOAD DATA.',
  });
}

/** Where the last row ends that still goes into a statement; a row that is longer than one goes alone. */
function endOfRows(rows: Buffer, start: number): number {
  const last = rows.lastIndexOf(LINE_FEED, start + STATEMENT_BYTES);
  return last >= start ? last : rows.indexOf(LINE_FEED, start);
}

/** A backslash in the text means what it means in a literal; what is not ASCII goes as hexadecimal, untouched by any character set. */
function valuesOf(row: string, asText: boolean[]): string {
  const fields = row.split('\t').map((field, at) => {
    if (field === '\\N') return 'NULL';
    const literal = isPlain(field) ? `_binary'${field.replaceAll("'", "''")}'` : `X'${hexOf(field)}'`;
    return asText[at] ? `CONVERT(${literal} USING utf8mb4)` : literal;
  });
  return `(${fields.join(',')})`;
}

function isPlain(field: string): boolean {
  return /^[\x20-\x7e]*$/.test(field);
}

const UNESCAPED: Record<string, string> = { '\\t': '\t', '\\n': '\n', '\\\\': '\\' };

function hexOf(field: string): string {
  return Buffer.from(
    field.replaceAll(/\\[tn\\]/g, (escaped) => UNESCAPED[escaped] ?? escaped),
    'latin1',
  ).toString('hex');
}
