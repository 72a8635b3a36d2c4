import { expect, it } from 'vitest';
import { lexicalModeOf, tokensOf } from '../../../../../src/engines/mysql/catalog/definitions/tokens.ts';
import { acceptStatement } from '../../../../../src/engines/mysql/restore/script/accept-statement.ts';
import {
  createSplitter,
  type InsertedRows,
  type MysqlStatement,
} from '../../../../../src/engines/mysql/restore/script/split.ts';
import { ScriptProblem } from '../../../../../src/engines/shared/script/script-problem.ts';
import { fc } from '../../../../helpers/fast-check.ts';

const PIECES = [
  ...["'", "''", '"', '`', '\\', '--', '-- ', '#', '/*', '*/', '/*!', '/*!50000', '/*!500001', '/*M!100300', '/*M'],
  ...['\n', ';', '//', '-', '$$', '_', '1', '12345', 'é', ' ', 'x', 'SELECT', 'use', 'Drop', '(', '\0', '\u007f'],
];

function statementsOf(text: string, sqlMode: string): MysqlStatement[] | null {
  try {
    const splitter = createSplitter({ sqlMode });
    return [...splitter.push(Buffer.from(text)), ...splitter.end()] as MysqlStatement[];
  } catch (error) {
    if (error instanceof ScriptProblem) return null;
    throw error;
  }
}

it.each(['', 'ANSI_QUOTES', 'NO_BACKSLASH_ESCAPES', 'ANSI_QUOTES,NO_BACKSLASH_ESCAPES'])(
  'the splitter of files and the grammar of definitions read the same words of a statement in mode "%s"',
  (sqlMode) => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...PIECES), { maxLength: 16 }), (pieces) => {
        for (const { bytes, words } of statementsOf(pieces.join(''), sqlMode) ?? []) {
          const tokens = [...tokensOf(bytes.toString('latin1'), lexicalModeOf(sqlMode))];
          const read = tokens.filter(({ kind, text }) => kind === 'word' && !/^\d/.test(text));
          expect(words).toEqual(read.map(({ value }) => value));
          expect(tokens.filter(({ kind }) => kind === 'open')).toEqual([]);
        }
      }),
      { numRuns: 3000 },
    );
  },
  60_000,
);

it.each(['/*!50000DROP*/ DATABASE prod;', '/*!50000USE prod*/;', '/*M!100100USE prod*/;'])(
  'a statement directly behind the digits of a version is refused: %s',
  (sql) => {
    const splitter = createSplitter({ accept: acceptStatement });
    expect(() => [...splitter.push(Buffer.from(sql)), ...splitter.end()]).toThrow('leads to another database');
  },
);

it('a text of many escapes is one token, in chunks and whole', () => {
  const text = `SELECT '${"\\'".repeat(4_000_000)}';`;
  const splitter = createSplitter({});
  const bytes = Buffer.from(text);
  const parts: unknown[] = [];
  for (let at = 0; at < bytes.length; at += 256 * 1024)
    parts.push(...splitter.push(bytes.subarray(at, at + 256 * 1024)));
  expect([...parts, ...splitter.end()]).toMatchObject([{ number: 1, words: ['SELECT'] }]);
});

it('rows of an INSERT are handed on as they come, and only where the backslash escapes', () => {
  const script = "CREATE TABLE `a` (`b` text);\nINSERT INTO `a` (`b`) VALUES ('x;\\';'),\n(_binary 'y');\nSELECT 1;";
  for (const size of [1, 7, 1000]) {
    const splitter = createSplitter({ inserts: true });
    const rows: string[] = [];
    const statements: string[] = [];
    const take = (parts: unknown[]): void => {
      for (const part of parts as (MysqlStatement | InsertedRows)[]) {
        if (part.kind === 'rows') rows.push(part.bytes.toString());
        else statements.push(part.bytes.toString());
      }
    };
    for (let at = 0; at < script.length; at += size) take(splitter.push(Buffer.from(script.slice(at, at + size))));
    take(splitter.end());
    expect(statements).toEqual(['CREATE TABLE `a` (`b` text)', 'SELECT 1']);
    expect(rows.join('')).toBe("INSERT INTO `a` (`b`) VALUES ('x;\\';'),\n(_binary 'y');");
  }
  const other = createSplitter({ inserts: true, sqlMode: 'NO_BACKSLASH_ESCAPES' });
  expect([...other.push(Buffer.from("INSERT INTO `a` VALUES ('\\');")), ...other.end()]).toMatchObject([
    { kind: 'statement', words: ['INSERT', 'INTO', 'VALUES'] },
  ]);
});
