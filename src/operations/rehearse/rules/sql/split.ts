import type { SqlToken } from './cursor.ts';

export interface StatementTokens {
  text: string;
  tokens: readonly SqlToken[];
}

const ROUTINES = new Set(['function', 'procedure', 'trigger', 'event']);
/** `END IF` and the like end no block. */
const PARTS_OF_BLOCKS = new Set(['if', 'loop', 'while', 'repeat']);
/** Words until the kind of a routine, behind `CREATE OR REPLACE DEFINER = user@host`. */
const MOST_WORDS_BEFORE = 12;

/** Divides tokens at semicolons; those in the body of a routine (`BEGIN … END`) are a part of its statement. */
export function splitTokens(sql: string, tokens: readonly SqlToken[]): StatementTokens[] {
  const statements: StatementTokens[] = [];
  let from = 0;
  let depth = 0;
  let isRoutine = false;
  const end = (to: number): void => {
    const [first, last] = [tokens[from], tokens[to - 1]];
    if (first && last && from < to)
      statements.push({ text: sql.slice(first.at, last.end), tokens: tokens.slice(from, to) });
    from = to + 1;
    depth = 0;
    isRoutine = false;
  };
  for (const [at, token] of tokens.entries()) {
    if (token.kind === 'other' && token.value === ';' && depth <= 0) end(at);
    if (token.kind !== 'word') continue;
    const word = token.value.toLowerCase();
    if (ROUTINES.has(word) && at - from < MOST_WORDS_BEFORE && wordAt(tokens, from) === 'create') isRoutine = true;
    if (isRoutine) depth += blockChange(word, wordAt(tokens, at - 1), wordAt(tokens, at + 1));
  }
  end(tokens.length);
  return statements;
}

function blockChange(word: string, before: string, behind: string): number {
  if (word === 'end') return PARTS_OF_BLOCKS.has(behind) ? 0 : -1;
  return word === 'begin' || (word === 'case' && before !== 'end') ? 1 : 0;
}

function wordAt(tokens: readonly SqlToken[], at: number): string {
  const token = tokens[at];
  return token?.kind === 'word' ? token.value.toLowerCase() : '';
}
