import { chmod, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { answerItem } from '../../src/operations/sanitize/ledger/review.ts';
import { reviewFacts, reviewRows } from '../../src/operations/sanitize/ledger/review-text.ts';
import {
  arrayElements,
  createPathCollector,
  MOST_KEYS,
  recordFields,
} from '../../src/sanitize/ledger/document-paths.ts';
import { findOpenItems, type Ledger, type LedgerEntry, openItemText } from '../../src/sanitize/ledger/ledger.ts';
import {
  LEDGER_FILE,
  ledgerText,
  parseLedger,
  readLedger,
  updateLedger,
} from '../../src/sanitize/ledger/ledger-file.ts';
import { type CatalogColumn, itemName, itemsOf, type Shape } from '../../src/sanitize/ledger/ledger-item.ts';
import { temporaryFolder, testContext } from '../helpers/postgres/postgres-server.ts';
import { randomFrom } from '../helpers/random.ts';

const plain: Shape = { kind: 'plain' };
const document: Shape = { kind: 'document' };
const kept = { state: 'kept', reason: 'x' } as const;

const classified = (columns: CatalogColumn[]): Ledger =>
  new Map(
    itemsOf({ columns, largeObjects: false }).map(({ name, values }) => [name, { ...kept, ...(values && { values }) }]),
  );

const opened = (columns: CatalogColumn[], ledger: Ledger, largeObjects = false): string[] =>
  findOpenItems(itemsOf({ columns, largeObjects }), ledger).map(({ name }) => name);

function keysOf(texts: string[], shape: Shape = document): string[] {
  const collector = createPathCollector();
  for (const text of texts) collector.add(text, shape);
  return collector
    .found()
    .map(({ path }) => itemName({ schema: 's', table: 't', column: 'c' }, path).slice('s.t.c->'.length));
}

describe('items of a ledger', () => {
  it('no two columns have one name, whatever characters are in their parts', () => {
    const parts = ['a', 'A', 'a.b', 'b', '"', '""', 'a"b', '->', 'a->b', '*', 'x\ny', ' ', '', 'ä', 'a\u0308'];
    const names = parts.flatMap((schema) =>
      parts.flatMap((table) =>
        parts.flatMap((column) => [
          itemName({ schema, table, column }),
          ...parts.flatMap((key) => [
            itemName({ schema, table, column }, [key]),
            itemName({ schema, table, column }, [key, null]),
          ]),
        ]),
      ),
    );
    expect(new Set(names).size).toBe(names.length);
  });

  it('finds each of 1,000 random additions, renames and moves', () => {
    const random = randomFrom(41);
    const words = ['id', 'Id', 'note', 'notes', 'a.b', 'a', 'b.c', 'line\nbreak', '"', '->', '*'];
    const word = (): string => words[Math.floor(random() * words.length)] ?? '';
    const shapes: Shape[] = [
      plain,
      { kind: 'enum', values: ['a', 'b'] },
      { kind: 'array', of: { kind: 'enum', values: ['a'] } },
      { kind: 'record', fields: [{ name: 'street', shape: plain }] },
    ];
    const newColumn = (): CatalogColumn => ({
      ...{ schema: word(), table: word(), column: word(), type: 'text' },
      shape: shapes[Math.floor(random() * shapes.length)] ?? plain,
    });
    for (let round = 0; round < 1000; round += 1) {
      const all = [...new Map(Array.from({ length: 12 }, newColumn).map((one) => [itemName(one), one])).values()];
      const before = all.slice(1).filter((column) => itemName(column) !== itemName(all[0] as CatalogColumn));
      const ledger = classified(before);
      expect(opened(before, ledger)).toEqual([]);
      const [added = newColumn()] = all;
      expect(opened([...before, added], ledger), `round ${round}`).toContain(itemName(added));
    }
  });

  it('finds new values of an enumeration in arrays and records, new fields, and large objects', () => {
    const column = (shape: Shape): CatalogColumn[] => [{ schema: 's', table: 't', column: 'c', type: 'x', shape }];
    const values = (of: string[]): Shape => ({ kind: 'array', of: { kind: 'enum', values: of } });
    expect(opened(column(values(['a', 'b'])), classified(column(values(['a']))))).toEqual(['s.t.c']);
    const record = (...fields: string[]): Shape => ({
      kind: 'record',
      fields: fields.map((name) => ({ name, shape: values(['a']) })),
    });
    expect(opened(column(record('x', 'y')), classified(column(record('x'))))).toEqual(['s.t.c->y']);
    expect(opened([], new Map(), true)).toEqual(['pg_catalog.pg_largeobject.data']);
  });
});

describe('keys of documents', () => {
  it('have two levels, through arrays, with quotes where a key has a dot', () => {
    expect(keysOf(['{"a": {"b": {"c": 1}}, "x.y": [{"z": 1}, [{"w": 2}]], "\\u0065": null}'])).toEqual([
      'a',
      'a->b',
      '"x.y"',
      '"x.y"->z',
      '"x.y"->w',
      'e',
    ]);
    expect(keysOf(['[1, "a", {"k": true}]', '7', '"text"', 'null', '{}'])).toEqual(['k']);
  });

  it('are found in both of two equal keys, and in damaged text', () => {
    expect(keysOf(['{"a": {"x": 1}, "a": {"y": 2}}'])).toEqual(['a', 'a->x', 'a->y']);
    expect(keysOf(['{"a": {"x"', '{"b', '{', '['])).toContain('a');
  });

  it('are found in arrays and records of PostgreSQL', () => {
    expect(arrayElements('[0:1]={"{\\"a\\": 1}",NULL}')).toEqual(['{"a": 1}']);
    expect(recordFields('(1,"a ""b"" \\\\",)')).toEqual(['1', 'a "b" \\', null]);
    expect(keysOf(['{"{\\"a\\": 1}","{\\"b\\": 2}"}'], { kind: 'array', of: document })).toEqual(['a', 'b']);
    const shape: Shape = {
      kind: 'record',
      fields: [
        { name: 'n', shape: plain },
        { name: 'doc', shape: document },
      ],
    };
    expect(keysOf(['(1,"{""a"": 1}")'], shape)).toEqual(['doc', 'doc->a']);
  });

  it('become one entry where there are too many, or arrays are too deep', () => {
    const many = Array.from({ length: MOST_KEYS + 1 }, (_, at) => `{"u": {"${at}": 1}}`);
    expect(keysOf(many)).toEqual(['u', 'u->*']);
    expect(keysOf([`${'['.repeat(40)}{"a": 1}${']'.repeat(40)}`])).toEqual(['*']);
    const any: Ledger = new Map([
      ['s.t.c->u->*', kept],
      ['s.t.d->*', kept],
    ]);
    const item = (name: string) => ({ name, type: 'JSON key' });
    expect(
      findOpenItems(['s.t.c->u->1', 's.t.c->v', 's.t.d->a->b', 's.t."d->x"'].map(item), any).map(({ name }) => name),
    ).toEqual(['s.t.c->v', 's.t."d->x"']);
  });
});

describe('keys that are data', () => {
  it('are not named where one looks like that of a person', () => {
    expect(keysOf(['{"users": {"ada@real.example.org": {"x": 1}, "b": 2}}', '{"users": {"c": 3}}'])).toEqual([
      'users',
      'users->*',
    ]);
    expect(keysOf(['{"ada@real.example.org": 1}'])).toEqual(['*']);
  });

  it('have one sum, the same in any order and another one for other keys and values', () => {
    const sumOf = (from: number, change: (at: number) => string): number | undefined => {
      const collector = createPathCollector();
      for (let at = 0; at <= MOST_KEYS; at += 1) collector.add(change((at + from) % (MOST_KEYS + 1)), document);
      return collector.found().find(({ path }) => path[0] === null)?.sum;
    };
    const own = (at: number): string => `{"k${at}": "v${at}"}`;
    expect(sumOf(0, own)).toBeGreaterThan(0);
    expect(sumOf(77, own)).toBe(sumOf(0, own));
    expect(sumOf(0, (at) => `{"k${at}": "v${MOST_KEYS - at}"}`)).not.toBe(sumOf(0, own));
    expect(sumOf(0, (at) => `{"x${at}": "v${at}"}`)).not.toBe(sumOf(0, own));
  });
});

describe('the file of a ledger', () => {
  async function folderWith(text?: string) {
    const folder = await temporaryFolder();
    const file = join(folder.path, LEDGER_FILE);
    if (text !== undefined) await writeFile(file, text);
    const sanitize = { query_file: join(folder.path, 'query.sql') };
    const { configuration } = testContext({
      settings: { working_directory: folder.path, targets: { app: { sanitize } } },
    });
    return { folder, file, place: { configuration, target: 'app' } };
  }

  it('is read as it was written, sorted, one line for each entry', () => {
    const ledger: Ledger = new Map<string, LedgerEntry>([
      ['s.t."x\ny: #"', kept],
      ['s.t.b', { state: 'changed' }],
      ['s.t.a', { state: 'kept', reason: "it's: a #reason", values: ['1', 'true', 'a, b'] }],
      ['1.5', { state: 'open' }],
    ]);
    const text = ledgerText(new Map([['app', ledger]]));
    expect(text.trimEnd().split('\n')).toHaveLength(5 + ledger.size);
    const [read] = parseLedger(text, 'x').values();
    expect(new Map(read)).toEqual(new Map([...ledger].sort(([a], [b]) => (a < b ? -1 : 1))));
  });

  it('shows characters that steer a terminal or reorder text, in the file and on a screen', () => {
    const [reason, name] = ['safe\u202e\u001b[2Jtxet', 's.t."a\u2066b"'];
    const ledger: Ledger = new Map([[name, { state: 'kept', reason, values: ['\u200f', 'x'] }]]);
    const text = ledgerText(new Map([['app', ledger]]));
    expect(text).not.toMatch(/[^\n -~]/);
    expect(text).toContain('\\u202e');
    expect(parseLedger(text, 'x').get('app')).toEqual(ledger);
    const item = { name, type: 'text', table: 's.t', column: 'a', samples: [], valuesLeft: 1, rows: 1, values: [] };
    const [row] = reviewRows(
      { file: 'x', open: [{ ...item, entry: { state: 'kept', reason } }], tables: new Map() },
      new Map(),
    );
    const [{ value } = { value: '' }] = row ? reviewFacts(row) : [];
    expect(value).toBe('kept: safe\\u202e\\u001b[2Jtxet');
    expect(openItemText({ name, type: 'text', why: 'unclassified' })).toBe('s.t."a\\u2066b" (text) is not classified');
  });

  // ledger.full.test.ts reads 50,000.
  it('is not written with more columns than can be read', async () => {
    const { folder, file, place } = await folderWith();
    await using _folder = folder;
    const entries = Array.from({ length: 100_001 }, (_, at) => [`s.t.column_${at}`, kept] as const);
    await expect(updateLedger(place, () => new Map(entries))).rejects.toMatchObject({
      code: 'file_not_written',
      message: `${file} would have 100001 columns, more than 100000`,
    });
  });

  it('is refused with its line where it is not understood', async () => {
    for (const [text, where] of [
      ['version: 1\ntargets:\n  app:\n    s.t.c: kept\n', ':4:5'],
      ['version: 1\ntargets:\n  app:\n    s.t.c: { kept: "" }\n', ':4:5'],
      ['version: 1\ntargets:\n  app:\n    s.t.c: changed\n    s.t.c: open\n', ':5:5'],
      ['version: 2\n', ':1:1'],
      ['version: 1\nother: 1\n', ':2:1'],
      ['version: 1\ntargets: [', ':2'],
      ['', ''],
    ] as const) {
      const { folder, place } = await folderWith(text);
      await using _folder = folder;
      await expect(readLedger(place)).rejects.toMatchObject({
        code: 'ledger_unreadable',
        message: expect.stringContaining(where),
      });
    }
  });

  it('is not read or written through a link out of its folder', async () => {
    const { folder, file, place } = await folderWith();
    await using _folder = folder;
    await using other = await temporaryFolder();
    const outside = join(other.path, 'outside.yml');
    await writeFile(outside, 'version: 1\n');
    await symlink(outside, file);
    await expect(readLedger(place)).rejects.toMatchObject({ code: 'ledger_unreadable' });
    await expect(updateLedger(place, (before) => before)).rejects.toMatchObject({ code: 'ledger_unreadable' });
    expect(await readFile(outside, 'utf8')).toBe('version: 1\n');
  });

  it('keeps the entries of other targets, and everything when it cannot be written', async () => {
    const { folder, file, place } = await folderWith('version: 1\ntargets:\n  other:\n    s.t.c: changed\n');
    await using _folder = folder;
    expect(await readLedger(place)).toEqual(new Map());
    await updateLedger(place, () => new Map([['s.t.d', kept]]));
    const text = await readFile(file, 'utf8');
    expect([...parseLedger(text, file).keys()]).toEqual(['app', 'other']);
    expect((await stat(file)).isFile()).toBe(true);
    await chmod(file, 0o600);
    const failing = updateLedger(place, () => {
      throw new Error('no');
    });
    await expect(failing).rejects.toMatchObject({ code: 'file_not_written' });
    expect(await readFile(file, 'utf8')).toBe(text);
  });

  it('gets an answer in place of the entry that was shown only', async () => {
    const { folder, file, place } = await folderWith('version: 1\ntargets:\n  app:\n    s.t.c: open\n');
    await using _folder = folder;
    const answer = (entry: LedgerEntry, replaces: LedgerEntry): Promise<string> =>
      answerItem(place, { target: 'app', name: 's.t.c', entry, replaces });
    await answer({ state: 'changed' }, { state: 'open' });
    const text = await readFile(file, 'utf8');
    for (const shown of [{ state: 'open' }, { state: 'kept', reason: 'y' }] as const) {
      await expect(answer(kept, shown)).rejects.toMatchObject({ message: 's.t.c is changed by now' });
    }
    expect(await readFile(file, 'utf8')).toBe(text);
    await answer({ state: 'open' }, { state: 'changed' });
    expect(await readFile(file, 'utf8')).toContain('s.t.c: open');
  });
});
