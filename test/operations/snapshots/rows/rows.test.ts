import { rmSync } from 'node:fs';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { createRowScanner, type RowFormat, valueText } from '../../../../src/engines/shared/rows/row-scanner.ts';
import { readRows } from '../../../../src/operations/snapshots/rows/rows.ts';
import type { BucketProfile } from '../../../../src/repository/s3/connection.ts';
import { type Machine, machine } from '../../../helpers/storage/machine.ts';
import { storeTables } from '../../../helpers/storage/stored-snapshot.ts';

const CREATED = '2026-01-02T00:00:00.000Z';

/** Bytes of the stored format, in pieces of the given size. */
function scan(bytes: Buffer, { format = 'copied', piece = bytes.length, emptyEnd = false, mostBytes = 1000 } = {}) {
  const rows: (string | null)[][] = [];
  const hashes: number[] = [];
  const scanner = createRowScanner({
    ...{ format: format as RowFormat, mostBytes, emptyEnd },
    onRow({ values, hash }) {
      rows.push(values.map((value) => value && valueText(value)));
      hashes.push(hash);
      return true;
    },
  });
  for (let at = 0; at < bytes.length; at += piece) if (!scanner.push(bytes.subarray(at, at + piece))) break;
  return { rows, hashes };
}

const LETTERS: Record<string, string> = {
  '\b': 'b',
  '\f': 'f',
  '\n': 'n',
  '\r': 'r',
  '\t': 't',
  '\v': 'v',
  '\\': '\\',
};
const copied = (value: string | null) =>
  value === null ? '\\N' : value.replaceAll(/[\b\f\n\r\t\v\\]/g, (letter) => `\\${LETTERS[letter]}`);
const inserted = (value: string | null) =>
  value === null ? 'NULL' : `'${value.replaceAll('\\', '\\\\').replaceAll("'", "''").replaceAll('\n', '\\n')}'`;

const cell = fc.option(
  fc.oneof(
    fc.string({ unit: 'grapheme' }),
    fc.constantFrom('\\N', '\\.', '', 'NULL', 'a\tb\nc\\', "it's", '`VALUES ('),
  ),
);
const table = fc.array(fc.tuple(cell, cell), { maxLength: 5 });

describe('stored rows', () => {
  test('rows of COPY and LOAD DATA are read, in pieces of any size', () => {
    fc.assert(
      fc.property(table, fc.integer({ min: 1, max: 7 }), (rows, piece) => {
        const lines = rows.map((row) => `${row.map(copied).join('\t')}\n`).join('');
        expect(scan(Buffer.from(`${lines}\\.\n\n\n`), { piece }).rows).toEqual(rows);
        expect(scan(Buffer.from(`${lines}\n\\.\n`), { piece, emptyEnd: true }).rows).toEqual(rows);
      }),
    );
  });

  test('rows of INSERT statements are read, in pieces of any size', () => {
    fc.assert(
      fc.property(table, fc.integer({ min: 1, max: 7 }), (rows, piece) => {
        const values = rows.map((row) => `(${row.map(inserted).join(',')})`);
        const half = Math.ceil(values.length / 2);
        const statements = [values.slice(0, half), values.slice(half)]
          .filter(({ length }) => length > 0)
          .map((some) => `INSERT INTO \`VALUES(\` (\`a\`, \`b\`\`\`) VALUES\n${some.join(',\n')};\n`);
        expect(scan(Buffer.from(statements.join('')), { format: 'inserted', piece }).rows).toEqual(rows);
      }),
    );
  });

  test('an empty text of a table with one column is a row, also the last', () => {
    expect(scan(Buffer.from('\n\n\\.\n')).rows).toEqual([[''], ['']]);
    expect(scan(Buffer.from('\n\n\n\\.\n'), { emptyEnd: true }).rows).toEqual([[''], ['']]);
  });

  test('numbers, literals with an introducer and bytes are told apart from text', () => {
    const statement = "INSERT INTO `t` (`a`,`b`,`c`,`d`) VALUES (-1.5,_binary 'NULL',0xFF00,NULL);";
    expect(scan(Buffer.from(statement), { format: 'inserted' }).rows).toEqual([['-1.5', 'NULL', '0xFF00', null]]);
    expect(scan(Buffer.from([0xff, 0x41, 9, 0x41, 10])).rows).toEqual([['0xff41', 'A']]);
  });

  test('equal rows have equal hashes, whatever is kept of them; others have other ones', () => {
    const text = Array.from({ length: 5000 }, (_, n) => `${n}\tsome text\n`).join('');
    const { hashes } = scan(Buffer.from(text + text));
    expect(new Set(hashes).size).toBe(5000);
    expect(scan(Buffer.from(text), { mostBytes: 0, piece: 3 }).hashes).toEqual(hashes.slice(0, 5000));
  });

  test('a value is cut where it would be too long, never within a character', () => {
    expect(scan(Buffer.from('äöü\n'), { mostBytes: 3 }).rows).toEqual([['ä']]);
  });
});

describe('the first rows of a snapshot', () => {
  let here: Machine;
  const data = (name: string, columns: string[]) => ({
    [`${name}.dat`]: { schema: 'public', table: name, columns, of_extension: false },
  });

  beforeAll(async () => {
    const profile = { provider: 'minio', bucket: 'none' } as unknown as BucketProfile;
    here = await machine({ profile, targets: { app: { snapshot: {} } } });
    const huge = function* () {
      yield Buffer.from('1\t');
      for (let n = 0; n < 100; n += 1) yield Buffer.alloc(1024 * 1024, 'x');
      yield Buffer.from('\tafter\n2\tshort\t\\N\n\\.\n\n\n');
    };
    await storeTables(here.directory, {
      ...{ id: 'aaaa0000', target: 'app', created_at: CREATED },
      contents: {
        customer: '1\tann@example.com\t\\N\n2\t\\N\tred\x1b[2J\n\\.\n\n\n',
        blob: huge(),
        many: `${Array.from({ length: 3000 }, (_, n) => `${n}\n`).join('')}\\.\n\n\n`,
      },
      details: {
        data: {
          ...data('customer', ['id', 'email', 'note']),
          ...data('blob', ['id', 'content', 'title']),
          ...data('many', ['n']),
        },
      },
    });
  });

  afterAll(async () => {
    await here[Symbol.asyncDispose]();
    rmSync(here.directory, { recursive: true, force: true });
  });

  const rows = (table: string, more: object = {}) => readRows(here.context, { target: 'app', table, ...more });

  it('masks what looks like personal data until it is revealed, and shows NULL in both', async () => {
    const masked = await rows('public.customer');
    expect(masked.columns).toEqual([
      { name: 'id', personal: null, masked: false },
      { name: 'email', personal: 'e-mail address', masked: true },
      { name: 'note', personal: null, masked: false },
    ]);
    expect(masked.rows).toEqual([
      ['1', '***', null],
      ['2', null, 'red\x1b[2J'],
    ]);
    expect(JSON.stringify(masked)).not.toContain('ann@');
    const revealed = await rows('customer', { reveal: true });
    expect(revealed.rows[0]).toEqual(['1', 'ann@example.com', null]);
    expect(revealed.columns[1]).toEqual({ name: 'email', personal: 'e-mail address', masked: false });
  });

  it('keeps the beginning of a row of 100 MB, and reads the one after it', async () => {
    const before = process.memoryUsage().rss;
    const { rows: read, cut } = await rows('blob');
    expect(read.map((row) => row.map((value) => value?.length ?? null))).toEqual([
      [1, 4096, 5],
      [1, 5, null],
    ]);
    expect(cut).toEqual([{ row: 0, column: 1, bytes: 100 * 1024 * 1024 }]);
    expect(process.memoryUsage().rss - before).toBeLessThan(80 * 1024 * 1024);
  });

  it('reads as many rows as the limit, which is bounded', async () => {
    expect((await rows('many', { limit: 7 })).rows.map(([n]) => n)).toEqual(['0', '1', '2', '3', '4', '5', '6']);
    expect((await rows('many')).rows).toHaveLength(50);
    expect(await rows('many', { limit: 2, skip: 7 })).toMatchObject({ rows: [['7'], ['8']], skipped: 7 });
    for (const limit of [0, 1001])
      await expect(rows('many', { limit })).rejects.toMatchObject({ code: 'usage', exit: 2 });
  });

  it('names the closest table where there is none', async () => {
    const unknown = { code: 'table_unknown', exit: 2, hint: 'Did you mean public.customer?' };
    await expect(rows('public.custmer')).rejects.toMatchObject(unknown);
  });
});
