import type { Action } from '../action.ts';
import type { Rule } from '../rule.ts';
import { firstWords, SqlCursor, type SqlToken } from '../sql/cursor.ts';
import { addressOf } from './rule-parts.ts';

export const REACH_RULES: Rule[] = [
  {
    code: 'beyond_branch',
    what: 'roles, databases, other servers (also by `dblink`), files and programs',
    text: 'It reaches what is outside of the database: the rehearsal did it, and the end of the branch does not undo it.',
    safer: 'Do it once, apart from migrations of one database.',
    url: addressOf('managing-databases.html'),
    lock: null,
    find: (action) => (action.kind === 'reach' ? [''] : []),
  },
];

/** Objects that all databases of a server share, and other servers. */
const BEGINNING =
  /^(?:(?:create|alter|drop) (?:role|user|group|database|tablespace|subscription|system)|(?:create|alter) (?:server|foreign table)|import foreign)\b/;
const LONGER = new Set(['grant', 'revoke', 'copy']);

/** Returns the action of a statement that reaches out of its database. */
export function reachOf(tokens: readonly SqlToken[]): Action[] {
  return isReaching(tokens) || callsOut(tokens) ? [{ kind: 'reach' }] : [];
}

function isReaching(tokens: readonly SqlToken[]): boolean {
  const words = firstWords(tokens);
  if (BEGINNING.test(words)) return true;
  if (!LONGER.has(words.split(' ', 1)[0] ?? '')) return false;
  const cursor = new SqlCursor(tokens, (word) => word);
  // Of roles.
  if (cursor.oneOf('grant', 'revoke')) return !cursor.has('on');
  if (!cursor.words('copy')) return false;
  cursor.until('to', 'from');
  return cursor.oneOf('to', 'from') !== null && (cursor.words('program') || cursor.next()?.kind === 'text');
}

const CALLED =
  /^(?:dblink(?:_\w+)?|lo_export|pg_file_\w+|pg_reload_conf|pg_(?:terminate|cancel)_backend|pg_(?:create|drop|copy)_(?:\w+_)?replication_slot)$/i;

/** Reports whether a text calls a function that reaches out of its database, wherever it is. */
export function callsOut(tokens: readonly SqlToken[]): boolean {
  return tokens.some(({ kind, value }, at) => {
    const isName = kind === 'word' || kind === 'name';
    return isName && tokens[at + 1]?.value === '(' && CALLED.test(value);
  });
}
