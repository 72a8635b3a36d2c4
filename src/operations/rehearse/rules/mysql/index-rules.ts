import { ifBusy, onTable } from '../busy-tables.ts';
import type { Rule } from '../rule.ts';
import { isCopied } from './locks.ts';
import { COPIED, onlineDdl, pages, REBUILT } from './rule-parts.ts';

export const INDEX_RULES: Rule[] = [
  {
    code: 'fulltext_index',
    what: '`ADD FULLTEXT`',
    text: 'Writes to the table wait until the index is built; the first one of a table writes it anew.',
    safer: 'Build it in a maintenance window, or on a copy of the table.',
    ...onlineDdl('index'),
    lock: 'SHARED NO WRITE',
    rewrites: true,
    find: addedIndex('fulltext'),
  },
  {
    code: 'spatial_index',
    what: '`ADD SPATIAL`',
    text: 'Writes to the table wait until the index is built.',
    safer: 'Build it in a maintenance window, or on a copy of the table.',
    ...onlineDdl('index'),
    lock: 'SHARED NO WRITE',
    rewrites: true,
    find: addedIndex('spatial'),
  },
  {
    code: 'unique_index',
    what: '`ADD UNIQUE`',
    text: 'The statement fails where rows are equal, also at its end because of writes meanwhile.',
    safer: 'Look for equal rows first: GROUP BY … HAVING COUNT(*) > 1; and keep programs from writing new ones.',
    ...pages('innodb-online-ddl-failure-conditions.html', 'alter-table'),
    lock: 'SHARED UPGRADABLE',
    find: addedIndex('unique'),
  },
  {
    code: 'index_copied',
    what: '`ADD INDEX` that copies the table',
    text: COPIED,
    safer: 'ALGORITHM=INPLACE, LOCK=NONE; for tables of InnoDB.',
    ...onlineDdl('index'),
    lock: 'SHARED NO WRITE',
    rewrites: true,
    find: (action, { tables, statement }) =>
      action.kind === 'add index' && action.type === 'plain' && isCopied(statement) ? ifBusy(tables, action.table) : [],
  },
  {
    code: 'index_dropped',
    what: '`DROP INDEX`',
    text: 'Queries that use it read the whole table from then on, and building it again takes long.',
    safer: 'ALTER INDEX … INVISIBLE (MariaDB: IGNORED) first; drop it when nothing has become slow.',
    ...pages('invisible-indexes.html', 'ignored-indexes'),
    lock: 'EXCLUSIVE',
    find: onTable('drop index'),
  },
  {
    code: 'primary_key_added',
    what: '`ADD PRIMARY KEY`',
    text: REBUILT,
    safer: 'ALGORITHM=INPLACE, LOCK=NONE, at a quiet time; columns that are NOT NULL before.',
    ...onlineDdl('primary-key'),
    lock: 'SHARED UPGRADABLE',
    rewrites: true,
    find: (action, { tables }) =>
      action.kind === 'add constraint' && action.constraint.kind === 'primary' ? ifBusy(tables, action.table) : [],
  },
  {
    code: 'primary_key_dropped',
    what: '`DROP PRIMARY KEY`',
    text: COPIED,
    safer: 'Drop it and add the new one in the same statement: both are done in place.',
    ...onlineDdl('primary-key'),
    lock: 'SHARED NO WRITE',
    rewrites: true,
    find: onTable('drop primary key'),
  },
  {
    code: 'foreign_key_copied',
    what: '`ADD FOREIGN KEY` with `foreign_key_checks`',
    text: COPIED,
    safer: 'Look for rows without a parent, then SET foreign_key_checks = 0 for the statement: it is done in place.',
    ...onlineDdl('foreign-key'),
    lock: 'SHARED NO WRITE',
    rewrites: true,
    find: foreignKey(true),
  },
  {
    code: 'foreign_key_unchecked',
    what: '`ADD FOREIGN KEY` without `foreign_key_checks`',
    text: 'Rows that are there are not checked, now or later.',
    safer: 'Look for rows without a parent before: LEFT JOIN … WHERE parent.id IS NULL.',
    ...pages('create-table-foreign-keys.html', 'foreign-keys'),
    lock: 'EXCLUSIVE',
    find: foreignKey(false),
  },
  {
    code: 'check_copied',
    what: '`ADD CHECK`',
    text: COPIED,
    safer: 'MySQL: add it as NOT ENFORCED, which is done in place; or check in programs.',
    ...pages('create-table-check-constraints.html', 'constraint'),
    lock: 'SHARED NO WRITE',
    rewrites: true,
    find: (action, { tables, statement }) => {
      const isCheck =
        (action.kind === 'add constraint' && action.constraint.kind === 'check') ||
        (action.kind === 'add column' && action.column.hasCheck);
      return isCheck && isCopied(statement) ? ifBusy(tables, action.table) : [];
    },
  },
];

function addedIndex(type: string): Rule['find'] {
  return (action, { tables }) => {
    if (action.kind === 'add index') return action.type === type ? ifBusy(tables, action.table) : [];
    const isUniqueColumn = type === 'unique' && action.kind === 'add column' && action.column.isUnique;
    return isUniqueColumn ? ifBusy(tables, action.table) : [];
  };
}

function foreignKey(copied: boolean): Rule['find'] {
  return (action, { tables, statement }) =>
    action.kind === 'add constraint' && action.constraint.kind === 'foreign' && isCopied(statement) === copied
      ? ifBusy(tables, action.table)
      : [];
}
