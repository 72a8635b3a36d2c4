import type { Action } from '../action.ts';
import type { Rule } from '../rule.ts';
import { firstWords, SqlCursor, type SqlToken } from '../sql/cursor.ts';
import { pages } from './rule-parts.ts';

export const REACH_RULES: Rule[] = [
  {
    code: 'beyond_branch',
    what: 'users, grants, global variables, plugins, other servers, files',
    text: 'It reaches what is outside of the database: the rehearsal did it, and the end of the branch does not undo it.',
    safer: 'Do it once, apart from migrations of one database.',
    ...pages('sql-server-administration-statements.html', 'account-management-sql-statements'),
    lock: null,
    find: (action) => (action.kind === 'reach' ? [''] : []),
  },
];

const BEGINNING =
  /^(?:(?:create|alter|drop|rename|create or replace) (?:user|role|server)|grant|revoke|set (?:password|default role|global|persist|persist_only)|change (?:master|replication)|(?:start|stop) (?:slave|replica|group_replication|all)|reset|clone|alter instance|(?:create|alter|drop) (?:undo )?(?:tablespace|resource group)|install|uninstall|purge|kill|shutdown|restart)\b/;

/** Returns the action of a statement that reaches out of its database. */
export function reachOf(tokens: readonly SqlToken[]): Action[] {
  const cursor = new SqlCursor(tokens, (word) => word);
  const reaches = BEGINNING.test(firstWords(tokens)) || setsGlobals(cursor.copy()) || writesFile(cursor);
  return reaches ? [{ kind: 'reach' }] : [];
}

/** `SET @@GLOBAL.a = 1`. */
function setsGlobals(cursor: SqlCursor): boolean {
  if (!cursor.words('set')) return false;
  return cursor.items().some((item) => {
    item.symbol('@');
    item.symbol('@');
    return item.oneOf('global', 'persist', 'persist_only') !== null;
  });
}

function writesFile(cursor: SqlCursor): boolean {
  return cursor.past('into') && cursor.oneOf('outfile', 'dumpfile') !== null;
}
