import { type Token, tokensOf } from '../../../../engines/mysql/catalog/definitions/tokens.ts';
import type { SqlToken } from '../sql/cursor.ts';

const KINDS: Partial<Record<Token['kind'], SqlToken['kind']>> = {
  word: 'word',
  name: 'name',
  text: 'text',
  other: 'other',
  open: 'text',
};

/** Returns the tokens of a statement, those in version comments, too. */
export function mysqlTokens(sql: string): SqlToken[] {
  const tokens: SqlToken[] = [];
  for (const { kind, text, value, at } of tokensOf(sql)) {
    const known = KINDS[kind];
    if (!known) continue;
    const content = kind === 'word' ? text : kind === 'text' ? textValue(value) : value;
    tokens.push({ kind: known, value: content, at, end: at + text.length });
  }
  return tokens;
}

function textValue(text: string): string {
  const quote = text.charAt(0);
  return text
    .slice(1, -1)
    .replaceAll(quote + quote, () => quote)
    .replaceAll(/\\(.)/gsu, '$1');
}
