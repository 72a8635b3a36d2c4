import { ifBusy, onTable } from '../busy-tables.ts';
import type { Rule } from '../rule.ts';
import { reindexedTables } from './locks.ts';
import { addressOf } from './rule-parts.ts';

export const INDEX_RULES: Rule[] = [
  {
    code: 'index_not_concurrent',
    what: '`CREATE INDEX` on a table with rows',
    text: 'Writes to the table wait until the index is built.',
    safer: 'CREATE INDEX CONCURRENTLY, outside of a transaction.',
    url: addressOf('sql-createindex.html#SQL-CREATEINDEX-CONCURRENTLY'),
    lock: 'SHARE',
    find: onTable('create index', ({ concurrently }) => !concurrently),
  },
  {
    code: 'index_dropped_not_concurrent',
    what: '`DROP INDEX`',
    text: 'Reads and writes of the table wait for the drop, which waits for all that use the table.',
    safer: 'DROP INDEX CONCURRENTLY, outside of a transaction.',
    url: addressOf('sql-dropindex.html'),
    lock: 'ACCESS EXCLUSIVE',
    find: (action, { tables }) =>
      action.kind === 'drop index' && !action.concurrently ? ifBusy(tables, tables.tableOfIndex(action.index)) : [],
  },
  {
    code: 'reindex_not_concurrent',
    what: '`REINDEX`',
    text: 'Writes to the table wait until the index is built, and so do reads that use the index.',
    safer: 'REINDEX … CONCURRENTLY, outside of a transaction.',
    url: addressOf('sql-reindex.html#SQL-REINDEX-CONCURRENTLY'),
    lock: 'SHARE',
    find: (action, { tables }) =>
      action.kind === 'reindex' && !action.concurrently ? ifBusy(tables, ...reindexedTables(action, tables)) : [],
  },
  {
    code: 'concurrently_in_transaction',
    what: '`CONCURRENTLY` in a transaction',
    text: 'The server refuses to build or drop an index concurrently in a transaction.',
    safer: "Run the statement alone: turn the migration tool's transaction off for it.",
    url: addressOf('sql-createindex.html#SQL-CREATEINDEX-CONCURRENTLY'),
    lock: null,
    find(action, { tables, transaction }) {
      if (!transaction.isOpen) return [];
      if (action.kind === 'create index' && action.concurrently) return ifBusy(tables, action.table);
      if (action.kind === 'reindex' && action.concurrently) return ifBusy(tables, ...reindexedTables(action, tables));
      const isDrop = action.kind === 'drop index' && action.concurrently;
      return isDrop ? ifBusy(tables, tables.tableOfIndex(action.index)) : [];
    },
  },
];
