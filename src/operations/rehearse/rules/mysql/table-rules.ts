import { changedAllRows, droppedTables, ifBusy, onTable } from '../busy-tables.ts';
import type { Rule } from '../rule.ts';
import { MANY_ROWS } from '../situation.ts';
import { flushedTables, tableOfTrigger } from './locks.ts';
import { BY_TOOL, copiesTable, onlineDdl, pages, REBUILT } from './rule-parts.ts';

export const TABLE_RULES: Rule[] = [
  {
    code: 'table_rebuilt',
    what: '`ENGINE=`, `FORCE`, `ROW_FORMAT=` and the like',
    text: REBUILT,
    safer: `ALGORITHM=INPLACE, LOCK=NONE at a quiet time. ${BY_TOOL}`,
    ...onlineDdl('table'),
    lock: null,
    rewrites: true,
    find: onTable('rebuild'),
  },
  {
    code: 'table_optimized',
    text: REBUILT,
    safer: 'Leave it: InnoDB uses the space again. ANALYZE TABLE for statistics.',
    ...pages('optimize-table.html', 'optimize-table'),
    lock: null,
    rewrites: true,
    find: onTable('optimize'),
  },
  {
    code: 'table_renamed',
    text: 'Running programs that use the old name fail.',
    safer: 'Create a view with the old name at once, and drop it after the deployment.',
    ...pages('rename-table.html', 'rename-table'),
    lock: 'EXCLUSIVE',
    find: onTable('rename table'),
  },
  {
    code: 'table_dropped',
    text: 'The rows are lost, and running programs that use the table fail.',
    safer: 'Deploy programs that do not use it first; rename it, and drop it later.',
    ...pages('drop-table.html', 'drop-table'),
    lock: 'EXCLUSIVE',
    rewrites: true,
    find: (action, { tables }) => (action.kind === 'drop' ? ifBusy(tables, ...droppedTables(action, tables)) : []),
  },
  {
    code: 'table_truncated',
    text: 'The rows are lost, and no ROLLBACK brings them back; reads and writes wait.',
    safer: 'DELETE in batches where other sessions use the table.',
    ...pages('truncate-table.html', 'truncate-table'),
    lock: 'EXCLUSIVE',
    rewrites: true,
    find: onTable('truncate'),
  },
  {
    code: 'table_partitioned',
    ...copiesTable('partitioning'),
    safer: `Create a new table with partitions, copy the rows in batches, and switch. ${BY_TOOL}`,
    find: partition('all'),
  },
  {
    code: 'partition_rebuilt',
    what: '`REORGANIZE`, `COALESCE`, `REBUILD` or `OPTIMIZE PARTITION`',
    ...copiesTable('partitioning'),
    text: 'Writes to the table wait until the rows of these partitions are copied.',
    safer: 'Split empty partitions only: keep one behind the last value.',
    find: partition('some'),
  },
  {
    code: 'partition_dropped',
    text: 'The rows of the partition are lost; reads and writes of the table wait for the change.',
    safer: 'EXCHANGE PARTITION with an empty table, and drop that one later.',
    ...onlineDdl('partitioning'),
    lock: 'EXCLUSIVE',
    rewrites: true,
    find: partition('drop'),
  },
  {
    code: 'partition_exchanged',
    text: 'Reads and writes of both tables wait until all rows are compared with the bounds.',
    safer: 'WITHOUT VALIDATION, where the rows are known to fit.',
    ...pages('partitioning-management-exchange.html', 'alter-table'),
    lock: 'EXCLUSIVE',
    rewrites: true,
    find: partition('exchange'),
  },
  {
    code: 'all_rows_changed',
    what: `\`UPDATE\` or \`DELETE\` without \`WHERE\`, of ${MANY_ROWS} rows or more`,
    text: 'All rows are locked until the end of the transaction; old rows grow the undo log, and replicas lag behind.',
    safer: 'Change the rows in batches by ranges of the primary key, each in a transaction of its own.',
    ...pages('innodb-purge-configuration.html', 'innodb-undo-log'),
    lock: null,
    find: changedAllRows,
  },
  {
    code: 'table_locked',
    text: 'Writes, or reads as well, wait until UNLOCK TABLES or the end of the session.',
    safer: 'Lock rows (SELECT … FOR UPDATE), or GET_LOCK().',
    ...pages('lock-tables.html', 'lock-tables'),
    lock: null,
    find: onTable('lock'),
  },
  {
    code: 'tables_flushed',
    text: 'It waits for all running queries, and writes wait behind it until UNLOCK TABLES.',
    safer: 'A consistent read: START TRANSACTION WITH CONSISTENT SNAPSHOT.',
    ...pages('flush.html#flush-tables-with-read-lock', 'flush'),
    lock: null,
    find: (action, { tables }) =>
      action.kind === 'flush' ? ifBusy(tables, ...flushedTables(action.tables, tables)) : [],
  },
  {
    code: 'trigger_created',
    text: 'Reads and writes of the table wait for the change, and then writes run with the trigger.',
    safer: 'Set lock_wait_timeout, and create it at a quiet time.',
    ...pages('create-trigger.html', 'create-trigger'),
    lock: 'EXCLUSIVE',
    find: onTable('create trigger'),
  },
  {
    code: 'trigger_dropped',
    text: 'Reads and writes of the table wait for the drop; then writes run without the trigger.',
    safer: 'Set lock_wait_timeout, and deploy programs that do its work first.',
    ...pages('drop-trigger.html', 'drop-trigger'),
    lock: 'EXCLUSIVE',
    find: (action, { tables }) =>
      action.kind === 'drop trigger' ? ifBusy(tables, ...tableOfTrigger(action.table, tables)) : [],
  },
];

/** A rewrite in fact that no rule explains. */
export const TABLE_REWRITTEN: Rule = {
  code: 'table_rewritten',
  what: 'any other statement that wrote a table anew',
  text: REBUILT,
  safer: `ALGORITHM=INSTANT, or INPLACE with LOCK=NONE, fails at once where it is not possible. ${BY_TOOL}`,
  ...pages('innodb-online-ddl.html', 'innodb-online-ddl-overview'),
  lock: null,
  rewrites: true,
  find: () => [],
};

function partition(change: string): Rule['find'] {
  return onTable('partition', (action) => action.change === change);
}
