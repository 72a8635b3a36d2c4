import { asLexed, hasTokensOf, textOfBytes } from '../client-bytes.ts';
import { type Definition, definitionOf, isNamed, refused } from './checked-definition.ts';
import type { Code } from './definitions.ts';
import { definerLength, lexicalModeOf, type Token } from './tokens.ts';

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
  if (definition.tokens.some((token) => token.kind === 'open')) {
    throw refused(definition, 'a quote or comment in it never ends');
  }
  const tokens = definition.tokens.filter((token) => token.kind !== 'comment');
  const notOne = `it is not one CREATE ${kind} of this name`;
  const start = headEnd(tokens, kind);
  if (start === -1 || tokens[0]?.value !== 'CREATE') throw refused(definition, notOne);
  const head = tokens.slice(1, start).filter((_, at) => !inDefiner(tokens, at + 1));
  const words = head.map((token) => (token.kind === 'word' || token.text === '=' ? token.value : '?'));
  if (!HEADS[kind]?.test(words.join(' '))) throw refused(definition, notOne);
  const [named, ...rest] = withoutOwn(afterExists(tokens.slice(start)), database);
  if (!isNamed(named, name)) throw refused(definition, notOne);
  if (rest[0]?.text === '.') throw refused(definition, `it names the database ${named?.text}`);
  BODIES[kind]?.({ ...definition, tokens: rest }, database);
  refuseSeveral(definition, rest);
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
  const from = tokens.findIndex(({ kind, value }) => kind === 'word' && value === 'DEFINER');
  if (from === -1 || tokens[from + 1]?.text !== '=') return false;
  return at >= from && at < from + definerLength(tokens.slice(from));
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
    const [on, schedule] = definition.tokens;
    if (on?.value !== 'ON' || schedule?.value !== 'SCHEDULE') {
      throw refused(definition, 'it is not one CREATE EVENT of this name');
    }
  },
  // Without parameters it is a library function: RETURNS … SONAME.
  FUNCTION(definition) {
    const [first] = definition.tokens;
    if (first?.text !== '(' && first?.value !== 'RETURN') throw refused(definition, 'it has no parameters');
  },
};

const COMPOUND = new Set('BEGIN LOOP IF CASE WHILE REPEAT FOR AS IS'.split(' '));

/** Semicolons are allowed in a compound statement only. The session also runs one statement at a time. */
function refuseSeveral(definition: Definition, tokens: Token[]): void {
  const last = tokens.at(-1)?.text === ';' ? tokens.slice(0, -1) : tokens;
  const end = last.findLastIndex(({ text }) => text === ';');
  if (end === -1) return;
  const first = last.findIndex(({ text }) => text === ';');
  const isCompound = last.slice(0, first).some(({ kind, value }) => kind === 'word' && COMPOUND.has(value));
  if (!isCompound || last[end + 1]?.value !== 'END') throw refused(definition, 'it is more than one statement');
}
