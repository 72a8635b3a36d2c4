import { expect, it } from 'vitest';
import { splitStatements } from '../../../../src/engines/postgres/sanitize/statements.ts';

const texts = (query: string): string[] => splitStatements(query).map(({ text }) => text);

it('statements are numbered from 1 and know the line that they begin in', () => {
  expect(splitStatements('-- first\nSELECT 1;\n\n;;\n  SELECT\n 2 ; SELECT 3')).toEqual([
    { number: 1, line: 2, text: 'SELECT 1' },
    { number: 2, line: 5, text: 'SELECT\n 2' },
    { number: 3, line: 6, text: 'SELECT 3' },
  ]);
});

it.each([
  { what: 'a string', statement: "SELECT 'a;b'" },
  { what: 'a doubled quote', statement: "SELECT 'it''s;'" },
  { what: 'a backslash before the quote that ends a standard string', statement: "SELECT '\\'" },
  { what: 'an escape string', statement: "SELECT E'a\\';b'" },
  { what: 'an escape string in lower case', statement: "SELECT e'\\\\;'" },
  { what: 'a word that ends in e before a string', statement: "SELECT date'2020-01-01'" },
  { what: 'a name', statement: 'SELECT "a;""b"' },
  { what: 'a comment in the statement', statement: 'SELECT 1 -- not; here\n + 1' },
  { what: 'a nested comment', statement: 'SELECT /* a /* b; */ c; */ 1' },
  { what: 'a dollar quote', statement: "DO $$ BEGIN PERFORM ';'; END $$" },
  { what: 'a dollar quote with a tag', statement: 'DO $a$ x; $$ y; $b$ z; $a$' },
  { what: 'a dollar within a name', statement: 'SELECT a$b$c, 1' },
  { what: 'a parameter', statement: 'PREPARE p AS SELECT $1, $2' },
  { what: 'parentheses', statement: 'CREATE RULE r AS ON DELETE TO t DO (SELECT 1; SELECT 2)' },
  {
    what: 'a body in standard SQL',
    statement:
      'CREATE OR REPLACE FUNCTION f() RETURNS int BEGIN ATOMIC SELECT CASE WHEN true THEN 1 END; SELECT 2; END',
  },
  { what: 'letters of other alphabets', statement: 'SELECT größe, «имя» FROM таблица' },
])('semicolons in $what do not end the statement', ({ statement }) => {
  expect(texts(`${statement}; SELECT 2`)).toEqual([statement, 'SELECT 2']);
});

it('a query of comments and semicolons holds no statement', () => {
  expect(splitStatements(' -- nothing\n/* at all */ ;; ')).toEqual([]);
});

it('the bounds of a transaction are left out: all of it is one', () => {
  expect(splitStatements('BEGIN; SELECT 1; COMMIT;').map(({ number }) => number)).toEqual([2]);
  expect(texts('START TRANSACTION; SELECT 1; END')).toEqual(['SELECT 1']);
  expect(texts('SAVEPOINT a; ROLLBACK TO a')).toEqual(['SAVEPOINT a', 'ROLLBACK TO a']);
});

it.each([
  { query: 'SELECT 1;\n\\connect other', line: 2 },
  { query: 'SELECT 1 \\gexec', line: 1 },
  { query: "SELECT 1;\n\nSELECT 'open", line: 3 },
  { query: 'SELECT 1; /* open', line: 1 },
  { query: 'SELECT\n"open', line: 2 },
  { query: 'DO\n$x$ never', line: 2 },
  { query: 'SELECT 1,\n(2; SELECT 3', line: 2 },
  { query: '\nCREATE FUNCTION f() RETURNS int BEGIN ATOMIC SELECT 1;', line: 2 },
  { query: '\nCOPY t FROM STDIN;\n1\n\\.', line: 4 },
  { query: 'SELECT 1;\nCOPY t (a) FROM stdin', line: 2 },
  { query: 'SELECT 1;\nDROP DATABASE production', line: 2 },
  { query: 'SELECT 1;\nalter system set fsync = off', line: 2 },
  { query: 'SELECT 1;\nROLLBACK', line: 2 },
  { query: 'SET standard_conforming_strings = off', line: 1 },
])('$query is refused with its line', ({ query, line }) => {
  expect(() => splitStatements(query)).toThrow(
    expect.objectContaining({ code: 'query_refused', message: expect.stringMatching(`line ${line}\\b`) }),
  );
});
