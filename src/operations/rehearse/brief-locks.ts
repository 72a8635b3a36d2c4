import type { ObservedLock, ObservedRehearsal } from '../../engines/facets/rehearse.ts';
import type { LockMode } from './rules/action.ts';
import { isAtLeast, locksOf } from './rules/postgres/locks.ts';
import { parsePostgres, splitPostgres } from './rules/postgres/parse.ts';
import { tableState } from './rules/state.ts';

/** Samples that may miss a lock: its statement may have waited for something else for some of its time. */
const MOST_MISSED = 4;

/** The locks of statements alone that were shorter than the time between some samples, by their kind. */
export function briefLocks({
  statements,
  locks,
  facts,
  sampling,
}: Pick<ObservedRehearsal, 'statements' | 'locks' | 'facts' | 'sampling'>): ObservedLock[] {
  const tables = tableState(facts);
  return statements.flatMap(({ text, inTransaction, error, atMs, durationMs }): ObservedLock[] => {
    if (error !== null) return [];
    const strongest = new Map<string, LockMode>();
    for (const part of splitPostgres(text)) {
      for (const action of parsePostgres(part, tables.resolve).actions) {
        for (const { table, mode } of locksOf(action, tables)) {
          const name = tables.originalName(table);
          const isStrong = mode !== 'ROW EXCLUSIVE' && isAtLeast(mode, strongest.get(name) ?? mode);
          if (isStrong && tables.busy(table)) strongest.set(name, mode);
        }
        tables.apply(action);
      }
    }
    if (inTransaction || durationMs > MOST_MISSED * sampling.intervalMs) return [];
    return [...strongest]
      .filter(([table]) => !locks.some((lock) => lock.statement === text && lock.table === table))
      .map(([table, mode]) => ({ table, index: null, mode, atMs, heldMs: durationMs, statement: text }));
  });
}
