import { ScriptProblem } from '../../../shared/script/script-problem.ts';
import type { ScriptStatement } from '../../../shared/script/split-script.ts';

const MOST_BYTES = 200;

const STANDARD_STRINGS = /^SET\s+(?:(?:SESSION|LOCAL)\s+)?standard_conforming_strings\s*(?:=|\bTO\b)\s*'?(\w+)'?$/i;

/** The value that a dump of an old server sets; `null` for another statement. */
export function standardStringsOf(statement: ScriptStatement): boolean | null {
  const value = match(STANDARD_STRINGS, statement);
  return value === null ? null : !/^(?:off?|false?|no?|0)$/i.test(value);
}

const ENCODING = /^SET\s+(?:(?:SESSION|LOCAL)\s+)?(?:client_encoding\s*(?:=|\bTO\b)|NAMES\b)\s*'?([\w-]+)'?$/i;

/** In these a byte of a character may be a backslash. https://www.postgresql.org/docs/current/multibyte.html */
const UNSAFE_ENCODINGS = new Set(
  'BIG5 WIN950 WINDOWS950 GB18030 GBK WIN936 WINDOWS936 JOHAB SJIS MSKANJI SHIFTJIS WIN932 WINDOWS932 SHIFTJIS2004 UHC WIN949 WINDOWS949'.split(
    ' ',
  ),
);

/** Refuses statements for another database. */
export function assertOwnDatabase({ line, column, words }: ScriptStatement): void {
  if (words[1] === 'DATABASE' && ['CREATE', 'DROP', 'ALTER'].includes(words[0] ?? '')) {
    throw new ScriptProblem(`${words[0]} DATABASE leads to another database`, {
      position: { line, column },
      hint: 'Remove it: a load runs on the confirmed database only. pg_dump writes it with --create.',
    });
  }
}

/** Refuses encodings that the splitter cannot read. */
export function assertSafeEncoding(statement: ScriptStatement): void {
  const { line, column } = statement;
  const encoding = match(ENCODING, statement);
  if (encoding === null || !UNSAFE_ENCODINGS.has(encoding.replaceAll(/[^A-Za-z0-9]/g, '').toUpperCase())) return;
  throw new ScriptProblem(`text in the encoding ${encoding}, which cannot be split into statements`, {
    position: { line, column },
    hint: 'Write the file in UTF8: pg_dump --encoding=UTF8.',
  });
}

const TRANSACTION_END = new Set(['COMMIT', 'END', 'ABORT']);

export function endsTransaction({ words }: ScriptStatement): boolean {
  const [first = ''] = words;
  if (first === 'PREPARE') return words[1] === 'TRANSACTION';
  return TRANSACTION_END.has(first) || (first === 'ROLLBACK' && !words.includes('TO'));
}

function match(pattern: RegExp, { words, bytes }: ScriptStatement): string | null {
  if (words[0] !== 'SET' || bytes.length > MOST_BYTES) return null;
  return pattern.exec(bytes.toString('latin1'))?.[1] ?? null;
}
