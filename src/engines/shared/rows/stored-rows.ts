/** A row of a small table as text by column; `null` for NULL. */
export type StoredRow = Record<string, string | null>;

/**
 * The rows of a stored table: the text of COPY and of LOAD DATA, or the INSERT statements of mysqldump. For small tables
 * of known programs: a row that is not understood is left out.
 */
export function storedRows(text: string, columns: string[]): StoredRow[] {
  return text.startsWith('INSERT INTO ') ? insertedRows(text) : copiedRows(text, columns);
}

const ESCAPES: Record<string, string> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v' };

function copiedRows(text: string, columns: string[]): StoredRow[] {
  const rows: StoredRow[] = [];
  for (const line of text.split('\n')) {
    if (line === '\\.') break;
    const fields = line.split('\t');
    if (fields.length !== columns.length) continue;
    rows.push(rowOf(columns, (index) => copiedValue(fields[index] ?? '')));
  }
  return rows;
}

function copiedValue(field: string): string | null {
  return field === '\\N' ? null : field.replaceAll(/\\(.)/g, (_, letter: string) => ESCAPES[letter] ?? letter);
}

const VALUE = /\s*(?:_\w+\s+)?(?:'((?:[^'\\]|\\[\s\S]|'')*)'|0x([0-9A-Fa-f]+)|(NULL)|([-+.\w]+))\s*/y;

/** Parses the output of `--complete-insert`: each statement on a line of its own, with its columns. */
function insertedRows(text: string): StoredRow[] {
  return text.split(/^(?=INSERT INTO )/m).flatMap((statement) => {
    const [head, list] = /^INSERT INTO (?:`[^`]*`)+ \(((?:`[^`]*`|, ?)+)\) VALUES\s*/.exec(statement) ?? [];
    if (head === undefined || list === undefined) return [];
    const columns = [...list.matchAll(/`((?:[^`]|``)*)`/g)].map(([, name = '']) => name.replaceAll('``', '`'));
    return valuesOf(statement, head.length).flatMap((values) =>
      values.length === columns.length ? [rowOf(columns, (index) => values[index] ?? null)] : [],
    );
  });
}

function valuesOf(statement: string, start: number): (string | null)[][] {
  const rows: (string | null)[][] = [];
  for (let at = start; statement[at] === '('; ) {
    const row: (string | null)[] = [];
    do {
      VALUE.lastIndex = at + 1;
      const match = VALUE.exec(statement);
      if (!match) return rows;
      const [, quoted, hexadecimal, missing, plain] = match;
      row.push(missing ? null : (plain ?? (hexadecimal ? fromHexadecimal(hexadecimal) : unquoted(quoted ?? ''))));
      at = VALUE.lastIndex;
    } while (statement[at] === ',');
    if (statement[at] !== ')') return rows;
    rows.push(row);
    at += 1;
    while (statement[at] === ',' || statement[at] === '\n' || statement[at] === ' ') at += 1;
  }
  return rows;
}

function unquoted(text: string): string {
  return text.replaceAll(/''|\\([\s\S])/g, (_, letter?: string) => (letter ? (ESCAPES[letter] ?? letter) : "'"));
}

function fromHexadecimal(digits: string): string {
  return Buffer.from(digits, 'hex').toString();
}

export function rowOf(columns: string[], value: (index: number) => string | null): StoredRow {
  return Object.fromEntries(columns.map((column, index) => [column.toLowerCase(), value(index)]));
}
