import { type Definition, definitionOf, isNamed, refused } from './checked-definition.ts';
import { asLexed, hasTokensOf, textOfBytes } from './client-bytes.ts';
import type { Code } from './definitions.ts';
import { isOneStatement } from './one-statement.ts';
import { definerLength, isWord, lexicalModeOf, type Token } from './tokens.ts';

const HEADS: Record<string, RegExp> = {
  VIEW: /^(OR REPLACE )?(ALGORITHM = \w+ )?(SQL SECURITY (DEFINER|INVOKER) )?VIEW$/,
  TRIGGER: /^(OR REPLACE )?TRIGGER$/,
  EVENT: /^(OR REPLACE )?EVENT$/,
  PROCEDURE: /^(OR REPLACE )?PROCEDURE$/,
  FUNCTION: /^(OR REPLACE )?(AGGREGATE )?FUNCTION$/,
  PACKAGE: /^(OR REPLACE )?PACKAGE$/,
  'PACKAGE BODY': /^(OR REPLACE )?PACKAGE BODY$/,
};

export function checkProgram(code: Code, database: string | null): void {
  const { kind, name, create, sql_mode, charset, bytes } = code;
  const mode = lexicalModeOf(sql_mode);
  const statement = bytes === undefined || charset === null ? create : asLexed(create, charset);
  const definition = definitionOf(`${kind.toLowerCase()} ${name}`, statement, mode);
  checkBytes(definition, code);
  const tokens = definition.tokens.filter((token) => token.kind !== 'comment');
  const notOne = `it is not one CREATE ${kind} of this name`;
  const start = headEnd(tokens, kind);
  if (start === -1 || tokens[0]?.value !== 'CREATE') throw refused(definition, notOne);
  checkDefiner(definition, tokens.slice(0, start));
  const head = tokens.slice(1, start).filter((_, at) => !inDefiner(tokens, at + 1));
  const words = head.map((token) => (token.kind === 'word' || token.text === '=' ? token.value : '?'));
  if (!HEADS[kind]?.test(words.join(' '))) throw refused(definition, notOne);
  const [named, ...rest] = withoutOwn(afterExists(tokens.slice(start)), database);
  if (!isNamed(named, name)) throw refused(definition, notOne);
  if (rest[0]?.text === '.') throw refused(definition, `it names the database ${named?.text}`);
  BODIES[kind]?.({ ...definition, tokens: rest }, database);
  const isOracle = kind.startsWith('PACKAGE') || /\bORACLE\b/i.test(sql_mode ?? '');
  if (!isOracle && !isOneStatement(rest)) throw refused(definition, 'it is more than one statement');
}

/** The bytes are executed, the text is checked. */
function checkBytes(definition: Definition, { create, sql_mode, charset, bytes }: Code): void {
  if (bytes === undefined) return;
  const text = textOfBytes(Buffer.from(bytes, 'base64'), charset ?? '');
  if (charset === null || !hasTokensOf(create, text, { charset, mode: lexicalModeOf(sql_mode) })) {
    throw refused(definition, 'its bytes are another statement than its text');
  }
}

/** After the words of the kind; -1 without them. */
function headEnd(tokens: Token[], kind: string): number {
  const words = kind.split(' ');
  const at = tokens.findIndex(
    (token, index) => token.value === words[0] && token.kind === 'word' && !inDefiner(tokens, index),
  );
  const isWhole = words.every(
    (word, index) => tokens[at + index]?.kind === 'word' && tokens[at + index]?.value === word,
  );
  return at === -1 || !isWhole ? -1 : at + words.length;
}

function inDefiner(tokens: Token[], at: number): boolean {
  const from = tokens.findIndex((token) => isWord(token, 'DEFINER'));
  if (from === -1 || tokens[from + 1]?.text !== '=') return false;
  return at >= from && at < from + definerLength(tokens.slice(from));
}

/** SHOW CREATE quotes accounts; without quotes a name may be a word of a clause. */
function checkDefiner(definition: Definition, head: Token[]): void {
  const from = head.findIndex((token) => isWord(token, 'DEFINER'));
  if (from === -1) return;
  const [, , user, , host] = head.slice(from, from + definerLength(head.slice(from)));
  const isQuoted = [user, host ?? user].every((token) => token?.kind === 'name' || token?.kind === 'text');
  const isCurrent = user?.kind === 'word' && user.value === 'CURRENT_USER';
  if (!isQuoted && !isCurrent) throw refused(definition, 'its definer is not a quoted account');
}

function withoutOwn(tokens: Token[], database: string | null): Token[] {
  const isOwn = database !== null && tokens[1]?.text === '.' && isNamed(tokens[0], database);
  return isOwn ? tokens.slice(2) : tokens;
}

function afterExists(tokens: Token[]): Token[] {
  const words = tokens.slice(0, 3).map(({ kind, value }) => (kind === 'word' ? value : ''));
  return words.join(' ') === 'IF NOT EXISTS' ? tokens.slice(3) : tokens;
}

const BODIES: Record<string, (definition: Definition, database: string | null) => void> = {
  VIEW(definition) {
    for (const { kind, value, text } of definition.tokens) {
      if (kind === 'version' || kind === 'versionEnd') throw refused(definition, 'it holds a comment');
      if (text === ';') throw refused(definition, 'it is more than one statement');
      if (kind === 'word' && ['INTO', 'OUTFILE', 'DUMPFILE'].includes(value))
        throw refused(definition, `it holds ${value}`);
    }
  },
  TRIGGER(definition, database) {
    const [time, what, on, ...target] = definition.tokens;
    const [, after] = withoutOwn(target, database);
    const isTrigger = /^(BEFORE|AFTER) (INSERT|UPDATE|DELETE) ON$/.test(
      [time, what, on].map((one) => one?.value).join(' '),
    );
    if (!isTrigger) throw refused(definition, 'it is not one CREATE TRIGGER of this name');
    if (after?.text === '.') throw refused(definition, 'it names the database of its table');
  },
  EVENT(definition) {
    const shape = definition.tokens.map(({ kind, value }) => (kind === 'text' ? 'T' : kind === 'name' ? 'N' : value));
    if (!EVENT_HEAD.test(shape.join(' '))) throw refused(definition, 'it is not one CREATE EVENT of this name');
  },
  // Without parameters it is a library function: RETURNS … SONAME.
  FUNCTION(definition) {
    const [first] = definition.tokens;
    if (first?.text !== '(' && first?.value !== 'RETURN') throw refused(definition, 'it has no parameters');
  },
};

/** Clauses in the order of SHOW CREATE: the state of an event is where `events.ts` reads and sets it. */
const EVENT_HEAD =
  /^ON SCHEDULE (?:AT T|EVERY (?:\d+|T) [A-Z_]+(?: STARTS T)?(?: ENDS T)?)(?: ON COMPLETION (?:NOT )?PRESERVE)?(?: ENABLE| DISABLE(?: ON (?:SLAVE|REPLICA))?)?(?: COMMENT T)? DO /;
