import { ifBusy, onTable } from '../busy-tables.ts';
import type { Rule } from '../rule.ts';
import { addressOf, isCheckedNotNull } from './rule-parts.ts';

const NOTES = addressOf('sql-altertable.html#SQL-ALTERTABLE-NOTES');

export const CONSTRAINT_RULES: Rule[] = [
  {
    code: 'foreign_key_validated',
    what: '`ADD FOREIGN KEY` without `NOT VALID`',
    text: 'Writes to both tables wait until all rows are checked.',
    safer: 'ADD CONSTRAINT … NOT VALID; then, in a transaction of its own, VALIDATE CONSTRAINT.',
    url: NOTES,
    lock: 'SHARE ROW EXCLUSIVE',
    find: onTable('add constraint', ({ constraint: { kind, isNotValid } }) => kind === 'foreign' && !isNotValid),
  },
  {
    code: 'check_validated',
    what: '`ADD CHECK` without `NOT VALID`',
    text: 'Reads and writes of the table wait until all rows are checked.',
    safer: 'ADD CONSTRAINT … CHECK … NOT VALID; then, in a transaction of its own, VALIDATE CONSTRAINT.',
    url: NOTES,
    lock: 'ACCESS EXCLUSIVE',
    find: onTable(['add column', 'add constraint'], (action) => {
      if (action.kind === 'add column') return action.column.hasCheck;
      return action.constraint.kind === 'check' && !action.constraint.isNotValid;
    }),
  },
  {
    code: 'validated_in_transaction',
    what: '`VALIDATE CONSTRAINT` in the transaction of its `NOT VALID`',
    text: 'The lock of ADD CONSTRAINT is held until all rows are checked, as without NOT VALID.',
    safer: 'COMMIT between ADD CONSTRAINT … NOT VALID and VALIDATE CONSTRAINT.',
    url: NOTES,
    lock: null,
    find: onTable('validate constraint', ({ table, name }, { transaction }) =>
      transaction.notValid.has(`${table} ${name}`),
    ),
  },
  {
    code: 'not_null_scan',
    what: '`SET NOT NULL` without a validated `CHECK (… IS NOT NULL)`',
    text: 'Reads and writes of the table wait until all rows are checked.',
    safer: 'ADD CONSTRAINT … CHECK (column IS NOT NULL) NOT VALID; VALIDATE CONSTRAINT; SET NOT NULL; DROP CONSTRAINT.',
    url: addressOf('sql-altertable.html#SQL-ALTERTABLE-DESC-SET-DROP-NOT-NULL'),
    lock: 'ACCESS EXCLUSIVE',
    find: onTable('set not null', ({ table, column }, { tables }) => {
      const known = tables.busy(table);
      return known !== null && !isCheckedNotNull(known, column) && (known.columns.get(column)?.isNullable ?? true);
    }),
  },
  {
    code: 'unique_not_using_index',
    what: '`UNIQUE` or `PRIMARY KEY` without `USING INDEX`',
    text: 'Reads and writes of the table wait until the index is built.',
    safer: 'CREATE UNIQUE INDEX CONCURRENTLY; then ADD CONSTRAINT … USING INDEX.',
    url: addressOf('sql-altertable.html#SQL-ALTERTABLE-DESC-ADD-TABLE-CONSTRAINT-USING-INDEX'),
    lock: 'ACCESS EXCLUSIVE',
    find: onTable(['add column', 'add constraint'], (action) => {
      if (action.kind === 'add column') return action.column.isUnique || action.column.isPrimary;
      const { kind, usingIndex } = action.constraint;
      return (kind === 'unique' || kind === 'primary') && !usingIndex;
    }),
  },
  {
    code: 'exclusion_constraint',
    what: '`ADD EXCLUDE`',
    text: 'Reads and writes of the table wait until the index is built and all rows are checked.',
    safer: 'There is none: create a new table with the constraint, copy the rows in batches, and switch.',
    url: addressOf('sql-createtable.html#SQL-CREATETABLE-EXCLUDE'),
    lock: 'ACCESS EXCLUSIVE',
    find: onTable('add constraint', ({ constraint }) => constraint.kind === 'exclusion'),
  },
  {
    code: 'partition_attached_unchecked',
    what: '`ATTACH PARTITION` without a `CHECK` on the partition',
    text: 'Reads and writes of the partition wait until all of its rows are checked.',
    safer: 'Add a CHECK of the bounds to it first, as NOT VALID, then VALIDATE CONSTRAINT.',
    url: addressOf('ddl-partitioning.html#DDL-PARTITIONING-DECLARATIVE-MAINTENANCE'),
    lock: 'ACCESS EXCLUSIVE',
    find(action, { tables }) {
      if (action.kind !== 'attach partition') return [];
      const constraints = [...(tables.busy(action.partition)?.constraints.values() ?? [])];
      const isChecked = constraints.some(({ isCheck, isValidated }) => isCheck && isValidated);
      return isChecked ? [] : ifBusy(tables, action.partition);
    },
  },
  {
    code: 'partition_detached_not_concurrent',
    what: '`DETACH PARTITION`',
    text: 'Reads and writes of the whole partitioned table wait.',
    safer: 'DETACH PARTITION … CONCURRENTLY, outside of a transaction.',
    url: addressOf('sql-altertable.html#SQL-ALTERTABLE-DETACH-PARTITION'),
    lock: 'ACCESS EXCLUSIVE',
    find: onTable('detach partition', ({ concurrently }) => !concurrently),
  },
];
