import { describe, expect, it } from 'vitest';
import {
  type LexicalMode,
  significant,
  tokensOf,
  unclearIn,
} from '../../../../../src/engines/mysql/catalog/definitions/tokens.ts';

function kindsOf(sql: string, mode: LexicalMode = {}): string[] {
  return significant(sql, mode).map(({ kind, text }) => `${kind} ${text}`);
}

describe('the lexer of MySQL', () => {
  it('ends a name in double quotes at the next double quote: a backslash escapes nothing in it', () => {
    expect(kindsOf(String.raw`"a\" 'b'`, { ansiQuotes: true })).toEqual([String.raw`name "a\"`, "text 'b'"]);
    expect(kindsOf(String.raw`"a\" 'b'"`)).toEqual([String.raw`text "a\" 'b'"`]);
  });

  it('reads an asterisk and a slash as an end only within a version comment', () => {
    expect(kindsOf("2*/*'*/3 '")).toEqual(['word 2', 'other *', 'word 3', "open '"]);
    expect(kindsOf('/*!50100 a */*/ b')).toEqual([
      ...['version /*!50100', 'word a', 'versionEnd */'],
      ...['other *', 'other /', 'word b'],
    ]);
  });

  it('reads five or six digits as a version', () => {
    expect(kindsOf('/*!1003012 a*/')).toEqual(['version /*!100301', 'word 2', 'word a', 'versionEnd */']);
    expect(kindsOf('/*!123 a*/')).toEqual(['version /*!', 'word 123', 'word a', 'versionEnd */']);
    expect(kindsOf('/*M!100301 a*/')[0]).toBe('version /*M!100301');
  });

  it('reads a control character after two minus signs as the beginning of a comment', () => {
    expect(kindsOf("--\u007f'\n1")).toEqual(['word 1']);
    expect(kindsOf('1--1')).toEqual(['word 1', 'other -', 'other -', 'word 1']);
  });

  it('treats the rest of the text as one unclosed token, in linear time', () => {
    expect(kindsOf("a 'b; c")).toEqual(['word a', "open 'b; c"]);
    expect([...tokensOf("\\'".repeat(200_000))].length).toBeLessThan(10);
  });
});

describe('a text that servers read alike', () => {
  it.each([
    String.raw`SELECT '\'' /* it's */ -- it's
    , 1`,
    'SELECT /*+ BKA(`a`) SET_VAR(sort_buffer_size = 16M) */ 1',
    String.raw`SELECT \N`,
    'SELECT $a, a$b$c, 2--1',
  ])('is clear: %s', (sql) => {
    expect(unclearIn([...tokensOf(sql)])).toBeNull();
  });

  it.each([
    "SELECT 'a",
    'SELECT `a',
    'SELECT 1 /* a',
    'SELECT /*+ BKA(`*/ 1 /*`) */',
    String.raw`SELECT \'a'`,
    "SELECT $$ ' $$",
    "SELECT $a$ ' $a$",
    "SELECT 1--\u00a0'",
    'SELECT \u0000 1',
  ])('is not: %s', (sql) => {
    expect(unclearIn([...tokensOf(sql)])).not.toBeNull();
  });
});
