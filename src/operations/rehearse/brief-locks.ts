import type { ObservedLock, ObservedRehearsal, ObservedStatement } from '../../engines/facets/rehearse.ts';
import type { LockMode } from './rules/action.ts';
import { type Dialect, isAtLeast } from './rules/dialect.ts';
import { type TableState, tableState } from './rules/state.ts';
import { statementFacts } from './rules/statement.ts';

/** The locks of statements by their kind that no sample saw: a busy server answers samples late. */
export function briefLocks(
  dialect: Dialect,
  { statements, locks, facts }: Pick<ObservedRehearsal, 'statements' | 'locks' | 'facts'>,
): ObservedLock[] {
  const tables = tableState(facts);
  return statements.flatMap((statement, at): ObservedLock[] => {
    const { text, inTransaction, error, atMs, durationMs } = statement;
    if (error !== null) return [];
    const { strongest, commits, isHeld } = locksOfText(dialect, statement, tables);
    const heldMs = isHeld ? untilUnlocked(dialect, statements.slice(at), tables) - atMs : durationMs;
    if (inTransaction && !commits) return [];
    return [...strongest]
      .filter(([table]) => !locks.some((lock) => lock.statement === text && lock.table === table))
      .map(([table, mode]) => ({ table, index: null, mode, atMs, heldMs, statement: text }));
  });
}

/** The strongest lock on each table with rows; `isHeld` after the statement. */
function locksOfText(dialect: Dialect, { text, affected = [] }: ObservedStatement, tables: TableState) {
  const strongest = new Map<string, LockMode>();
  const weakest = dialect.modes[0];
  let [commits, isHeld] = [false, false];
  for (const [at, part] of dialect.split(text).entries()) {
    const actions = dialect.read(part.tokens, tables.resolve);
    const statement = statementFacts(part, { actions, affected: affected[at] });
    for (const action of actions) {
      commits ||= dialect.commits(action);
      isHeld ||= dialect.holdsTables(action);
      for (const { table, mode } of dialect.locksOf(action, { tables, statement })) {
        const name = tables.originalName(table);
        const isStrong = mode !== weakest && isAtLeast(dialect, mode, strongest.get(name) ?? mode);
        if (isStrong && tables.busy(table)) strongest.set(name, mode);
      }
      tables.apply(action);
    }
  }
  return { strongest, commits, isHeld };
}

/** The beginning of the statement of the session that unlocks its tables, else the end of its last one. */
function untilUnlocked(dialect: Dialect, [first, ...later]: ObservedStatement[], { resolve }: TableState): number {
  const own = later.filter(({ session }) => session === first?.session);
  const ends = own.find(({ text }) =>
    dialect.split(text).some(({ tokens }) => dialect.read(tokens, resolve).some(dialect.unlocksTables)),
  );
  if (ends) return ends.atMs;
  const last = own.at(-1) ?? first;
  return last ? last.atMs + last.durationMs : 0;
}
