import { ifBusy, tablesOf } from '../busy-tables.ts';
import type { Rule } from '../rule.ts';
import { commits, isCopied, locksOf } from './locks.ts';
import { pages } from './rule-parts.ts';

export const TRANSACTION_RULES: Rule[] = [
  {
    code: 'lock_wait_timeout_missing',
    text: 'While the statement waits for a long transaction, all later reads and writes of the table wait behind it.',
    safer: 'SET lock_wait_timeout = 5 first, and repeat the migration when it fails.',
    ...pages('metadata-locking.html', 'metadata-locking'),
    lock: null,
    isOnce: true,
    find(action, situation) {
      const { tables, limitsLockWaits, statement } = situation;
      const limits = statement.actions.some((each) => each.kind === 'demand' && each.what === 'wait');
      if (limitsLockWaits || limits) return [];
      const strong = locksOf(action, situation).filter(({ mode }) => mode !== 'SHARED WRITE');
      return ifBusy(tables, ...strong.map(({ table }) => table));
    },
  },
  {
    code: 'algorithm_missing',
    what: 'a copied table without `ALGORITHM=` or `LOCK=`',
    text: 'Without a clause the server takes the way that it can, also the one that blocks writes.',
    safer: 'ALGORITHM=INPLACE, LOCK=NONE (or ALGORITHM=INSTANT): it fails at once where that is not possible.',
    ...pages('innodb-online-ddl-performance.html', 'alter-table'),
    lock: 'SHARED NO WRITE',
    find(action, { tables, statement }) {
      const [first] = statement.actions;
      const isStated = statement.actions.some((each) => each.kind === 'demand' && each.what !== 'wait');
      // A change of some partitions has no other way.
      const hasNoOther = action.kind === 'partition' && action.change === 'some';
      const isFirst = action === first && 'table' in action && commits(action) && !hasNoOther;
      return isFirst && isCopied(statement) && !isStated ? ifBusy(tables, action.table) : [];
    },
  },
  {
    code: 'definition_commits',
    what: 'a definition in a transaction',
    text: 'The definition commits what the transaction did before it: a later ROLLBACK brings nothing back.',
    safer: 'A definition in a migration of its own, which can be repeated.',
    ...pages('implicit-commit.html', 'sql-statements-that-cause-an-implicit-commit'),
    lock: null,
    find(action, { tables, statement, transaction }) {
      const isFirst = action === statement.actions[0];
      if (!transaction.isOpen || !isFirst || !commits(action) || action.kind === 'lock') return [];
      return ifBusy(tables, ...tablesOf(action));
    },
  },
];
