import { expect, it } from 'vitest';
import {
  filesOfContents,
  listContents,
  rewriteContents,
} from '../../../../src/engines/postgres/dump/archive-contents.ts';

function integer(value: number): Buffer {
  const bytes = Buffer.alloc(5);
  bytes.writeUInt8(value < 0 ? 1 : 0);
  bytes.writeUInt32LE(Math.abs(value), 1);
  return bytes;
}

function text(value: string | null): Buffer {
  return value === null ? integer(-1) : Buffer.concat([integer(Buffer.byteLength(value)), Buffer.from(value)]);
}

/** As `WriteHead` and `WriteToc` write version 1.`minor`, with the entries of a table and of its comment. */
function contents(minor: number, definition: string): Buffer {
  const entry = (dumpId: number, { oid, kind, sql }: { oid: string; kind: string; sql: string | null }): Buffer[] => [
    ...[integer(dumpId), integer(0), text('1259'), text(oid), text('tag'), text(kind), integer(2), text(sql)],
    ...[text('DROP'), text(null), text('public'), text(''), text('heap')],
    ...(minor >= 16 ? [integer(114)] : []),
    ...[text('owner'), text('false'), text('12'), text('13'), text(null), text(null)],
  ];
  return Buffer.concat([
    Buffer.from('PGDMP'),
    Buffer.from([1, minor, 0, 4, 8, 3]),
    minor >= 15 ? Buffer.from([0]) : integer(0),
    ...Array.from({ length: 7 }, () => integer(1)),
    ...[text('database'), text('15.1'), text('15.1'), integer(3)],
    ...entry(1, { oid: '16400', kind: 'TABLE', sql: definition }),
    ...entry(2, { oid: '0', kind: 'COMMENT', sql: 'COMMENT' }),
    ...entry(3, { oid: '0', kind: 'TABLE DATA', sql: null }),
  ]);
}

it.each([14, 15, 16])('rewrites the definitions of a table of contents of version 1.%i and nothing else', (minor) => {
  const toc = contents(minor, 'CREATE TABLE ü (id integer)');
  const kinds: string[] = [];
  const rewritten = rewriteContents(toc, ({ kind, class: catalog, oid, definition }) => {
    kinds.push(`${kind} ${catalog} ${oid}`);
    return kind === 'TABLE' ? 'CREATE TABLE shorter' : definition;
  });
  expect(kinds).toEqual(['TABLE 1259 16400', 'COMMENT 1259 0']);
  expect(rewritten).toEqual(contents(minor, 'CREATE TABLE shorter'));
});

it.each([14, 15, 16])('lists the entries of version 1.%i with those that they depend on', (minor) => {
  const entries = listContents(contents(minor, 'CREATE TABLE ü (id integer)'));
  expect(entries?.map(({ line, definition, needs }) => [line, definition, needs])).toEqual([
    ['1; 1259 16400 TABLE public tag owner', 'CREATE TABLE ü (id integer)', [12, 13]],
    ['2; 1259 0 COMMENT public tag owner', expect.stringContaining('COMMENT'), [12, 13]],
    ['3; 1259 0 TABLE DATA public tag owner', '', [12, 13]],
  ]);
});

it('lists nothing where a number is not one, which pg_restore would read otherwise', () => {
  const toc = contents(16, 'CREATE TABLE t ()');
  const at = toc.indexOf('13');
  toc.write('1x', at);
  expect(listContents(toc)).toBeNull();
});

it('lists nothing where an integer has other bits than one of pg_dump, which pg_restore would read otherwise', () => {
  const toc = contents(16, 'CREATE TABLE t ()');
  // The absent file of the last entry; for pg_restore, which overflows, a text of 5 bytes.
  toc.writeInt32LE(-5, toc.length - 4);
  expect(filesOfContents(toc)).toBeNull();
});

it('leaves unknown parts unchanged', () => {
  const toc = contents(16, 'CREATE TABLE t ()');
  const change = (): string => '';
  expect(rewriteContents(contents(17, 'CREATE TABLE t ()'), change)).toBeNull();
  expect(rewriteContents(toc.subarray(0, -3), change)).toBeNull();
  expect(rewriteContents(Buffer.concat([toc, Buffer.from([0])]), change)).toBeNull();
  expect(rewriteContents(Buffer.from('PGDMP'), change)).toBeNull();
});
