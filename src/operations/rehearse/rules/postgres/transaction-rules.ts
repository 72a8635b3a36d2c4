import { ifBusy } from '../busy-tables.ts';
import type { Rule } from '../rule.ts';
import { isAtLeast, locksOf } from './locks.ts';
import { addressOf } from './rule-parts.ts';

export const TRANSACTION_RULES: Rule[] = [
  {
    code: 'lock_timeout_missing',
    what: 'a lock that blocks writes, without `lock_timeout`',
    text: 'While the statement waits for a long transaction, all later reads and writes of the table wait behind it.',
    safer: "SET lock_timeout = '2s' first, and repeat the migration when it fails.",
    url: addressOf('runtime-config-client.html#GUC-LOCK-TIMEOUT'),
    lock: null,
    isOnce: true,
    find(action, { tables, limitsLockWaits }) {
      if (limitsLockWaits) return [];
      const strong = locksOf(action, tables).filter(({ mode }) => isAtLeast(mode, 'SHARE'));
      return ifBusy(tables, ...strong.map(({ table }) => table));
    },
  },
  {
    code: 'several_tables_locked',
    what: '`ACCESS EXCLUSIVE` locks on several tables in one transaction',
    text: 'The first table stays locked while the statement waits for the next one, and may deadlock.',
    safer: 'Change each table in a transaction of its own.',
    url: addressOf('explicit-locking.html#LOCKING-DEADLOCKS'),
    lock: null,
    find(action, { tables, transaction }) {
      const own = locksOf(action, tables).filter(({ mode }) => mode === 'ACCESS EXCLUSIVE');
      const isNext = (table: string): boolean =>
        !transaction.locks.has(table) && [...transaction.locks.values()].includes('ACCESS EXCLUSIVE');
      return transaction.isOpen ? ifBusy(tables, ...own.map(({ table }) => table).filter(isNext)) : [];
    },
  },
  {
    code: 'rows_changed_under_lock',
    what: '`UPDATE`, `DELETE` or `INSERT … SELECT` behind an `ACCESS EXCLUSIVE` lock in its transaction',
    text: 'Reads and writes of the locked table wait until the rows are changed.',
    safer: 'COMMIT the change of the definition first, then change the rows in batches.',
    url: addressOf('explicit-locking.html#LOCKING-TABLES'),
    lock: null,
    find(action, { transaction }) {
      const isLong =
        action.kind === 'update' || action.kind === 'delete' || (action.kind === 'insert' && action.fromQuery);
      if (!isLong || !transaction.isOpen) return [];
      return [...transaction.locks].filter(([, mode]) => mode === 'ACCESS EXCLUSIVE').map(([table]) => table);
    },
  },
];
