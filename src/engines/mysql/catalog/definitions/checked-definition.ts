import { UserError } from '../../../../runtime/errors.ts';
import type { RowStorage } from '../table-traits.ts';
import { type LexicalMode, type Token, tokensOf } from './tokens.ts';

export interface Definition {
  what: string;
  tokens: Token[];
  own?: Own;
  kind?: RowStorage;
  /** Takes the tables in tablespaces of a server's own, for one message about all of them. */
  elsewhere?: Set<string>;
}

/** MariaDB qualifies the sequence of a default with its database. */
export interface Own {
  database: string | null;
  sequences: Set<string>;
}

export function definitionOf(what: string, sql: string, mode: LexicalMode = {}): Definition {
  const tokens = [...tokensOf(sql, mode)].filter(({ kind }) => kind !== 'space');
  return { what, tokens };
}

export function refused({ what }: Pick<Definition, 'what'>, why: string): UserError {
  return new UserError('content_refused', `The definition of ${what} was refused: ${why}`, {
    hint: 'Nothing was changed. Build the snapshot again from a source you trust.',
  });
}

/** With the place of the token in the statement. */
export function refusedAt(
  { what, sql }: { what: string; sql: string },
  { at, text }: Pick<Token, 'at' | 'text'>,
  why: string,
): UserError {
  const before = sql.slice(0, at);
  const line = before.split('\n').length;
  const column = at - before.lastIndexOf('\n');
  const found = text.length > MOST_FOUND ? `${text.slice(0, MOST_FOUND)}…` : text;
  return refused({ what }, `line ${line}, column ${column}: ${JSON.stringify(found)}: ${why}`);
}

const MOST_FOUND = 40;

export function isNamed(token: Token | undefined, name: string): boolean {
  if (token?.kind === 'name') return token.value === name;
  return token?.kind === 'word' && token.text === name;
}
