import { ScriptProblem } from '../../../shared/script/script-problem.ts';
import type { ScriptStatement } from '../../../shared/script/split-script.ts';
import { quoteText } from '../../connection/quote.ts';

/** `0`: a word; `"a"`: a name; `'a'`: a text, with its value; otherwise a character. */
interface Token {
  kind: 'word' | 'name' | 'text' | 'other';
  text: string;
}

const TOKEN =
  /(?<space>[ \t\n\v\f\r]+|--[^\n\r]*|\/\*(?:[^*]|\*(?!\/))*\*\/)|(?<escaped>[eE]'(?:[^'\\]|\\[\s\S]|'')*')|(?<plain>'(?:[^']|'')*')|(?<name>"(?:[^"]|"")*")|(?<word>[A-Za-z0-9_\u0080-\u00ff][A-Za-z0-9_$\u0080-\u00ff]*)|(?<other>[\s\S])/y;

const MOST_BYTES = 1024 * 1024;

/**
 * The statement `COPY … FROM STDIN` in canonical form; `null` for another COPY. psql reads the following rows only
 * behind a COPY that the server accepts, so that an unknown form is refused.
 */
export function readCopy(statement: ScriptStatement, { standardStrings }: { standardStrings: boolean }): Buffer | null {
  const { line, column, bytes } = statement;
  const refuse = (what: string): never => {
    throw new ScriptProblem(`COPY with ${what}`, {
      position: { line, column },
      hint: 'Write it as COPY table (columns) FROM STDIN WITH (FORMAT csv, …), or use INSERT.',
    });
  };
  if (bytes.length > MOST_BYTES) return statement.words.includes('STDIN') ? refuse('more than 1 MB') : null;
  const reader = tokenReader(tokensOf(bytes.toString('latin1'), { standardStrings, refuse }), refuse);
  const { is, skip, name } = reader;
  // A query, whose rows can only be read.
  if (is('(')) return null;
  const path = [name()];
  while (skip('.')) path.push(name());
  const columns = skip('(') ? ` ${reader.names()}` : '';
  if (!skip('FROM')) return is('TO') ? null : refuse('an unknown beginning');
  if (!skip('STDIN')) return null;
  skip('WITH');
  const options = skip('(') ? readOptions(reader) : readOldOptions(reader);
  if (!reader.isAtEnd()) refuse('an unknown option');
  if (options.some(({ option, text }) => option === 'FORMAT' && !/^'?(?:csv|text)'?$/i.test(text)))
    refuse('a format other than text and csv');
  const written = options.map(({ option, text }) => `${option} ${text}`.trim()).join(', ');
  const sql = `COPY ${path.join('.')}${columns} FROM STDIN${written === '' ? '' : ` WITH (${written})`}`;
  return Buffer.from(sql, 'latin1');
}

type TokenReader = ReturnType<typeof tokenReader>;

/** Reads the tokens behind the first. Words are compared in capitals. */
function tokenReader(tokens: Token[], refuse: (what: string) => never) {
  let at = 1;
  const is = (text: string): boolean => {
    const token = tokens[at];
    return (token?.kind === 'word' || token?.kind === 'other') && token.text.toUpperCase() === text;
  };
  const skip = (text: string): boolean => {
    const isThere = is(text);
    if (isThere) at += 1;
    return isThere;
  };
  const name = (): string => {
    const token = tokens[at];
    if (token?.kind !== 'word' && token?.kind !== 'name') return refuse('an unknown table or column');
    at += 1;
    return token.kind === 'word' && /[\x80-\xff]/.test(token.text) ? `"${lowerCase(token.text)}"` : token.text;
  };
  /** Behind the opening parenthesis. */
  const names = (): string => {
    const list = [name()];
    while (skip(',')) list.push(name());
    if (!skip(')')) refuse('an unknown list of columns');
    return `(${list.join(', ')})`;
  };
  const value = (): string => {
    const token = tokens[at];
    at += 1;
    if (token?.kind === 'text') return quoteText(token.text);
    if (token?.kind === 'word') return token.text;
    if (token?.text === '*') return '*';
    if (token?.text === '(') return names();
    return refuse('an unknown value of an option');
  };
  return { is, skip, name, names, value, refuse, isAtEnd: () => at >= tokens.length };
}

/** Behind the opening parenthesis. */
function readOptions({ is, skip, name, value, refuse }: TokenReader): Option[] {
  const found: Option[] = [];
  do {
    const option = name().toUpperCase();
    if (!OPTIONS.has(option)) refuse('an unknown option');
    found.push({ option, text: is(',') || is(')') ? '' : value() });
  } while (skip(','));
  if (!skip(')')) refuse('an unknown option');
  return found;
}

/** https://www.postgresql.org/docs/current/sql-copy.html, "The following syntax was used before version 9.0" */
function readOldOptions({ skip, value, refuse, isAtEnd }: TokenReader): Option[] {
  const found: Option[] = [];
  while (!isAtEnd()) {
    if (skip('CSV')) found.push({ option: 'FORMAT', text: 'csv' });
    else if (skip('HEADER')) found.push({ option: 'HEADER', text: '' });
    else if (skip('FREEZE')) found.push({ option: 'FREEZE', text: '' });
    else {
      const option = ['DELIMITER', 'NULL', 'QUOTE', 'ESCAPE', 'ENCODING'].find(skip);
      if (option === undefined) return refuse('an unknown option');
      skip('AS');
      found.push({ option, text: value() });
    }
  }
  return found;
}

/** Folds case like the server, in every encoding. */
function lowerCase(word: string): string {
  return word.replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

interface Option {
  option: string;
  text: string;
}

const OPTIONS = new Set(
  'FORMAT FREEZE DELIMITER NULL DEFAULT HEADER QUOTE ESCAPE FORCE_NOT_NULL FORCE_NULL ON_ERROR REJECT_LIMIT ENCODING LOG_VERBOSITY'.split(
    ' ',
  ),
);

interface ParserState {
  standardStrings: boolean;
  refuse(what: string): never;
}

function tokensOf(sql: string, { standardStrings, refuse }: ParserState): Token[] {
  const tokens: Token[] = [];
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < sql.length) {
    const { space, escaped, plain, name, word, other } = TOKEN.exec(sql)?.groups ?? {};
    if (space !== undefined) continue;
    if (word !== undefined) tokens.push({ kind: 'word', text: word });
    else if (name !== undefined) tokens.push({ kind: 'name', text: name });
    else if (other !== undefined) tokens.push({ kind: 'other', text: other });
    else {
      const quoted = escaped?.slice(1) ?? plain ?? '';
      const isEscaped = escaped !== undefined || !standardStrings;
      tokens.push({ kind: 'text', text: textOf(quoted, { isEscaped, refuse }) });
    }
  }
  return tokens;
}

const ESCAPES: Record<string, string> = { t: '\t', b: '\b', n: '\n', r: '\r', f: '\f', '\\': '\\', "'": "'" };

function textOf(quoted: string, { isEscaped, refuse }: { isEscaped: boolean; refuse(what: string): never }): string {
  const inner = quoted.slice(1, -1).replaceAll("''", "'");
  const text = isEscaped
    ? inner.replaceAll(/\\([\s\S])/g, (_, letter: string) => ESCAPES[letter] ?? refuse('an unknown escape sequence'))
    : inner;
  // In some encodings a byte of a character is a backslash.
  return /^[\t-\r -~]*$/.test(text) ? text : refuse('an option that is not ASCII');
}
