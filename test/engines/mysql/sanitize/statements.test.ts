import { describe, expect, it } from 'vitest';
import { splitStatements, wordsOf } from '../../../../src/engines/mysql/sanitize/statements.ts';

describe('a sanitization query of MySQL', () => {
  const WHOLE: { what: string; query: string; texts: string[] }[] = [
    { what: 'ends statements at semicolons', query: 'SELECT 1; SELECT 2 ;;', texts: ['SELECT 1', 'SELECT 2'] },
    {
      what: 'leaves quotes alone',
      query: `SELECT ';''\\';', ";""\\";", \`;\`\`\`;`,
      texts: [`SELECT ';''\\';', ";""\\";", \`;\`\`\``],
    },
    {
      what: 'has three kinds of comments',
      query: '-- ;\n# ;\n/* ; */ SELECT 1 -- ;\n+ 2',
      texts: ['SELECT 1 -- ;\n+ 2'],
    },
    {
      what: 'takes two minus signs before a digit for what they are',
      query: 'SELECT 1--1; SELECT 2',
      texts: ['SELECT 1--1', 'SELECT 2'],
    },
    {
      what: 'holds what is for some versions',
      query: '/*!50000 SET @a = 1 */; SELECT 2',
      texts: ['/*!50000 SET @a = 1 */', 'SELECT 2'],
    },
    {
      what: 'may set another delimiter',
      query: 'DELIMITER //\nCREATE TRIGGER t BEGIN SET @a = 1; SET @b = 2; END//\n  delimiter ;\nSELECT 1;',
      texts: ['CREATE TRIGGER t BEGIN SET @a = 1; SET @b = 2; END', 'SELECT 1'],
    },
    {
      what: 'ends a statement at a delimiter that follows a word at once',
      query: 'DELIMITER $$\nCREATE TRIGGER t BEGIN SET @a = 1; END$$\nDELIMITER ;\nSELECT 1',
      texts: ['CREATE TRIGGER t BEGIN SET @a = 1; END', 'SELECT 1'],
    },
    {
      what: 'knows a delimiter only where a statement begins',
      query: 'SELECT 1 AS\ndelimiter; SELECT 2',
      texts: ['SELECT 1 AS\ndelimiter', 'SELECT 2'],
    },
  ];

  it.each(WHOLE)('$what', ({ query, texts }) => {
    expect(splitStatements(query).map(({ text }) => text)).toEqual(texts);
  });

  it('numbers its statements and says in which line each begins', () => {
    expect(splitStatements('-- first\nSELECT 1;\n\nSELECT\n2; SELECT 3')).toEqual([
      { number: 1, line: 2, text: 'SELECT 1' },
      { number: 2, line: 4, text: 'SELECT\n2' },
      { number: 3, line: 5, text: 'SELECT 3' },
    ]);
  });

  const REFUSED: { query: string; line: number }[] = [
    { query: 'USE other', line: 1 },
    { query: 'SELECT 1;\nsource /etc/passwd', line: 2 },
    { query: 'SELECT 1\\G', line: 1 },
    { query: '\\! rm -rf /', line: 1 },
    { query: 'DELIMITER', line: 1 },
    { query: 'DROP DATABASE shop', line: 1 },
    { query: '/*!50000 DROP DATABASE shop */', line: 1 },
    { query: '/*M!100000 GRANT ALL ON *.* TO me */', line: 1 },
    { query: "SET PASSWORD = 'x'", line: 1 },
    { query: 'SET GLOBAL read_only = 1', line: 1 },
    { query: 'SET @@global.read_only = 1', line: 1 },
    { query: "SELECT 1;\nLOAD DATA LOCAL INFILE '/etc/passwd' INTO TABLE t", line: 2 },
    { query: "SELECT * FROM person INTO OUTFILE '/tmp/x'", line: 1 },
    { query: 'ROLLBACK', line: 1 },
    { query: "SET sql_mode = 'NO_BACKSLASH_ESCAPES'", line: 1 },
    { query: 'SELECT 1;\n/*!999999 SELECT */ USE other', line: 2 },
    { query: "SELECT 1;\n/*!999999 ' */ DROP DATABASE shop -- ' */", line: 2 },
    { query: 'SELECT 1; connect other', line: 1 },
    { query: "SELECT 1;\nSELECT 'open", line: 2 },
    { query: 'SELECT 1 /* open', line: 1 },
  ];

  it.each(REFUSED)('refuses $query', ({ query, line }) => {
    const message = expect.stringMatching(new RegExp(`\\bline ${line}\\b`));
    expect(() => splitStatements(query)).toThrow(expect.objectContaining({ code: 'query_refused', exit: 3, message }));
  });

  it.each([
    ['UPDATE shop.customer SET a = 1', ['shop']],
    ['UPDATE `shop` . customer c SET c.a = "shop.x"', ['shop', 'c']],
    ["SELECT 'shop.customer', 1.5 -- shop.customer", []],
    ['UPDATE "shop"."customer" SET a = 1', ['shop']],
  ])('names before a dot: %s', (statement, qualifiers) => {
    expect(wordsOf(statement, {}).qualifiers).toEqual(qualifiers);
  });
});
