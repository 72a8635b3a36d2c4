import { onTable } from '../busy-tables.ts';
import type { Rule } from '../rule.ts';
import { isCopied } from './locks.ts';
import { COPIED, copiesTable, onlineDdl, pages, REBUILT } from './rule-parts.ts';

export const INDEX_RULES: Rule[] = [
  {
    code: 'fulltext_index',
    text: 'Writes to the table wait until the index is built; the first one of a table writes it anew.',
    safer: 'Build it in a maintenance window, or on a copy of the table.',
    ...onlineDdl('index'),
    lock: 'SHARED NO WRITE',
    rewrites: true,
    find: addedIndex('fulltext'),
  },
  {
    code: 'spatial_index',
    text: 'Writes to the table wait until the index is built.',
    safer: 'Build it in a maintenance window, or on a copy of the table.',
    ...onlineDdl('index'),
    lock: 'SHARED NO WRITE',
    rewrites: true,
    find: addedIndex('spatial'),
  },
  {
    code: 'unique_index',
    text: 'The statement fails where rows are equal, also at its end because of writes meanwhile.',
    safer: 'Look for equal rows first: GROUP BY … HAVING COUNT(*) > 1; and keep programs from writing new ones.',
    ...pages('innodb-online-ddl-failure-conditions.html', 'alter-table'),
    lock: 'SHARED UPGRADABLE',
    find: addedIndex('unique'),
  },
  {
    code: 'index_copied',
    ...copiesTable('index'),
    safer: 'ALGORITHM=INPLACE, LOCK=NONE; for tables of InnoDB.',
    find: onTable('add index', ({ type }, { statement }) => type === 'plain' && isCopied(statement)),
  },
  {
    code: 'index_dropped',
    text: 'Queries that use it read the whole table from then on, and building it again takes long.',
    safer: 'ALTER INDEX … INVISIBLE (MariaDB: IGNORED) first; drop it when nothing has become slow.',
    ...pages('invisible-indexes.html', 'ignored-indexes'),
    lock: 'EXCLUSIVE',
    find: onTable('drop index'),
  },
  {
    code: 'primary_key_added',
    text: REBUILT,
    safer: 'ALGORITHM=INPLACE, LOCK=NONE, at a quiet time; columns that are NOT NULL before.',
    ...onlineDdl('primary-key'),
    lock: 'SHARED UPGRADABLE',
    rewrites: true,
    find: onTable('add constraint', ({ constraint }) => constraint.kind === 'primary'),
  },
  {
    code: 'primary_key_dropped',
    ...copiesTable('primary-key'),
    safer: 'Drop it and add the new one in the same statement: both are done in place.',
    find: onTable('drop primary key'),
  },
  {
    code: 'foreign_key_copied',
    ...copiesTable('foreign-key'),
    safer: 'Look for rows without a parent, then SET foreign_key_checks = 0 for the statement: it is done in place.',
    find: foreignKey(true),
  },
  {
    code: 'foreign_key_unchecked',
    text: 'Rows that are there are not checked, now or later.',
    safer: 'Look for rows without a parent before: LEFT JOIN … WHERE parent.id IS NULL.',
    ...pages('create-table-foreign-keys.html', 'foreign-keys'),
    lock: 'EXCLUSIVE',
    find: foreignKey(false),
  },
  {
    code: 'check_copied',
    text: COPIED,
    safer: 'MySQL: add it as NOT ENFORCED, which is done in place; or check in programs.',
    ...pages('create-table-check-constraints.html', 'constraint'),
    lock: 'SHARED NO WRITE',
    rewrites: true,
    find: onTable(['add constraint', 'add column'], (action, { statement }) => {
      const isCheck = action.kind === 'add column' ? action.column.hasCheck : action.constraint.kind === 'check';
      return isCheck && isCopied(statement);
    }),
  },
];

function addedIndex(type: string): Rule['find'] {
  return onTable(['add index', 'add column'], (action) =>
    action.kind === 'add index' ? action.type === type : type === 'unique' && action.column.isUnique,
  );
}

function foreignKey(copied: boolean): Rule['find'] {
  return onTable(
    'add constraint',
    ({ constraint }, { statement }) => constraint.kind === 'foreign' && isCopied(statement) === copied,
  );
}
