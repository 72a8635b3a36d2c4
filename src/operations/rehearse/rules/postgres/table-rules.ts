import { changedAllRows, droppedTables, ifBusy, onTable } from '../busy-tables.ts';
import type { Rule } from '../rule.ts';
import { MANY_ROWS } from '../situation.ts';
import { isAtLeast } from './locks.ts';
import { addressOf } from './rule-parts.ts';

export const TABLE_RULES: Rule[] = [
  {
    code: 'table_renamed',
    what: '`RENAME TO` or `SET SCHEMA` of a table',
    text: 'Running programs that use the old name fail.',
    safer: 'Create a view with the old name in the same transaction, and drop it after the deployment.',
    url: addressOf('sql-altertable.html'),
    lock: 'ACCESS EXCLUSIVE',
    find: onTable('rename table'),
  },
  {
    code: 'table_dropped',
    what: '`DROP TABLE` or `DROP SCHEMA` with rows',
    text: 'The rows are lost, and running programs that use the table fail.',
    safer: 'Deploy programs that do not use it first; rename it, and drop it later.',
    url: addressOf('sql-droptable.html'),
    lock: 'ACCESS EXCLUSIVE',
    find: (action, { tables }) => (action.kind === 'drop' ? ifBusy(tables, ...droppedTables(action, tables)) : []),
  },
  {
    code: 'table_truncated',
    what: '`TRUNCATE`',
    text: 'The rows are lost; reads and writes wait.',
    safer: 'DELETE in batches where other sessions use the table.',
    url: addressOf('sql-truncate.html'),
    lock: 'ACCESS EXCLUSIVE',
    rewrites: true,
    find: onTable('truncate', ({ cascade }) => !cascade),
  },
  {
    code: 'truncate_cascade',
    what: '`TRUNCATE … CASCADE`',
    text: 'Rows of all tables that reference it are lost, too.',
    safer: 'Name the tables without CASCADE: the server then refuses the others.',
    url: addressOf('sql-truncate.html'),
    lock: 'ACCESS EXCLUSIVE',
    rewrites: true,
    find: onTable('truncate', ({ cascade }) => cascade),
  },
  {
    code: 'tablespace_changed',
    what: '`SET TABLESPACE`',
    text: 'Reads and writes of the table wait until all of its files are copied.',
    safer: 'Create a new table there, copy the rows in batches, and switch.',
    url: addressOf('sql-altertable.html#SQL-ALTERTABLE-DESC-SET-TABLESPACE'),
    lock: 'ACCESS EXCLUSIVE',
    rewrites: true,
    find: onTable('set tablespace'),
  },
  {
    code: 'logging_changed',
    what: '`SET LOGGED` or `SET UNLOGGED`',
    text: 'Reads and writes of the table wait until it is written anew.',
    safer: 'Create a new table, copy the rows in batches, and switch.',
    url: addressOf('sql-altertable.html#SQL-ALTERTABLE-DESC-SET-LOGGED-UNLOGGED'),
    lock: 'ACCESS EXCLUSIVE',
    rewrites: true,
    find: onTable('set logged'),
  },
  {
    code: 'table_clustered',
    what: '`CLUSTER`',
    text: 'Reads and writes of the table wait until it is written anew.',
    safer: 'pg_repack, or a maintenance window.',
    url: addressOf('sql-cluster.html'),
    lock: 'ACCESS EXCLUSIVE',
    rewrites: true,
    find: onTable('cluster'),
  },
  {
    code: 'vacuum_full',
    what: '`VACUUM FULL`',
    text: 'Reads and writes of the table wait until it is written anew.',
    safer: 'VACUUM without FULL; pg_repack to return space.',
    url: addressOf('sql-vacuum.html'),
    lock: 'ACCESS EXCLUSIVE',
    rewrites: true,
    find(action, { tables }) {
      if (action.kind !== 'vacuum full') return [];
      return action.tables.length > 0 ? ifBusy(tables, ...action.tables) : tables.allBusy().map(([table]) => table);
    },
  },
  {
    code: 'refresh_not_concurrent',
    what: '`REFRESH MATERIALIZED VIEW`',
    text: 'Reads of the view wait until it is filled.',
    safer: 'REFRESH MATERIALIZED VIEW CONCURRENTLY, which needs a unique index.',
    url: addressOf('sql-refreshmaterializedview.html'),
    lock: 'ACCESS EXCLUSIVE',
    rewrites: true,
    find: onTable('refresh', ({ concurrently }) => !concurrently),
  },
  {
    code: 'enum_value_in_transaction',
    what: 'use of an enum value in the transaction that added it',
    text: 'The statement fails: the value can be used after the commit.',
    safer: 'COMMIT between ALTER TYPE … ADD VALUE and the use.',
    url: addressOf('sql-altertype.html#id-1.9.3.42.7'),
    lock: null,
    find(action, { transaction, statement, tables }) {
      if (!('table' in action) || action.table === null) return [];
      const isUsed = [...transaction.addedValues].some((value) => statement.literals.has(value));
      return isUsed ? ifBusy(tables, action.table) : [];
    },
  },
  {
    code: 'enum_value_renamed',
    what: '`ALTER TYPE … RENAME VALUE`',
    text: 'Running programs that use the old value fail.',
    safer: 'Add a value, write it, change the rows in batches; the old value stays.',
    url: addressOf('sql-altertype.html'),
    lock: null,
    find(action, { tables }) {
      if (action.kind !== 'rename enum value') return [];
      const isOfType = (type: string): boolean => type.split('.').at(-1)?.replaceAll('"', '') === action.type;
      const using = tables
        .allBusy()
        .filter(([, { columns }]) => [...columns.values()].some(({ type }) => isOfType(type)));
      return using.map(([table]) => table);
    },
  },
  {
    code: 'all_rows_changed',
    what: `\`UPDATE\` or \`DELETE\` without \`WHERE\`, of ${MANY_ROWS} rows or more`,
    text: 'All rows are locked until the end of the transaction, and the table grows by all old rows.',
    safer: 'Change the rows in batches, each in a transaction of its own.',
    url: addressOf('routine-vacuuming.html#VACUUM-FOR-SPACE-RECOVERY'),
    lock: 'ROW EXCLUSIVE',
    find: changedAllRows,
  },
  {
    code: 'table_locked',
    what: '`LOCK TABLE` in a mode that blocks writes',
    text: 'Writes, or reads as well, wait until the end of the transaction.',
    safer: 'Lock rows (SELECT … FOR UPDATE), or an advisory lock.',
    url: addressOf('sql-lock.html'),
    lock: null,
    find: onTable('lock', ({ mode }) => isAtLeast(mode, 'SHARE')),
  },
  {
    code: 'trigger_created',
    what: '`CREATE`, `ENABLE` or `DISABLE TRIGGER`',
    text: 'Writes to the table wait for the change, and then run with the trigger, or without it.',
    safer: 'Set lock_timeout, and do nothing else in the transaction.',
    url: addressOf('sql-createtrigger.html'),
    lock: 'SHARE ROW EXCLUSIVE',
    find: onTable(['create trigger', 'switch trigger']),
  },
  {
    code: 'trigger_dropped',
    what: '`DROP TRIGGER`',
    text: 'Reads and writes of the table wait for the drop; then writes run without the trigger.',
    safer: 'Replace its function by one that does nothing first; drop it with lock_timeout.',
    url: addressOf('sql-droptrigger.html'),
    lock: 'ACCESS EXCLUSIVE',
    find: onTable('drop trigger'),
  },
];

/** A rewrite in fact that no rule explains. */
export const TABLE_REWRITTEN: Rule = {
  code: 'table_rewritten',
  what: 'any other statement that wrote a table anew in the rehearsal',
  text: 'Reads and writes of the table wait until it is written anew.',
  safer: 'Create a new table, copy the rows in batches, and switch.',
  url: addressOf('sql-altertable.html#SQL-ALTERTABLE-NOTES'),
  lock: 'ACCESS EXCLUSIVE',
  rewrites: true,
  find: () => [],
};
