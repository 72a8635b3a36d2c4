import { type Token, tokensOf } from '../../../../engines/mysql/catalog/definitions/tokens.ts';
import type { SqlToken } from '../sql/cursor.ts';

const KINDS: Partial<Record<Token['kind'], SqlToken['kind']>> = {
  ...{ word: 'word', name: 'name', text: 'text', open: 'text', other: 'other' },
};

/** Returns the tokens as of the server's lexer, also those of version comments; an unterminated quote is the rest of the text. */
export function mysqlTokens(sql: string): SqlToken[] {
  const tokens: SqlToken[] = [];
  for (const { kind, text, value, at } of tokensOf(sql)) {
    const known = KINDS[kind];
    if (!known || (kind === 'open' && text.startsWith('/*'))) continue;
    const shown = kind === 'word' ? text : known === 'text' ? literal(text) : value;
    tokens.push({ kind: known, value: shown, at, end: at + text.length });
  }
  return tokens;
}

/** The value of a quoted text, whose escapes are left as they are. */
function literal(text: string): string {
  const quote = text.charAt(0);
  return text.slice(1, text.endsWith(quote) && text.length > 1 ? -1 : undefined).replaceAll(quote + quote, () => quote);
}
