import { ifBusy } from '../busy-tables.ts';
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
    find(action, { tables }) {
      if (action.kind !== 'add constraint') return [];
      const { kind, isNotValid } = action.constraint;
      return kind === 'foreign' && !isNotValid ? ifBusy(tables, action.table) : [];
    },
  },
  {
    code: 'check_validated',
    what: '`ADD CHECK` without `NOT VALID`',
    text: 'Reads and writes of the table wait until all rows are checked.',
    safer: 'ADD CONSTRAINT … CHECK … NOT VALID; then, in a transaction of its own, VALIDATE CONSTRAINT.',
    url: NOTES,
    lock: 'ACCESS EXCLUSIVE',
    find(action, { tables }) {
      if (action.kind === 'add column') return action.column.hasCheck ? ifBusy(tables, action.table) : [];
      if (action.kind !== 'add constraint') return [];
      const { kind, isNotValid } = action.constraint;
      return kind === 'check' && !isNotValid ? ifBusy(tables, action.table) : [];
    },
  },
  {
    code: 'validated_in_transaction',
    what: '`VALIDATE CONSTRAINT` in the transaction of its `NOT VALID`',
    text: 'The lock of ADD CONSTRAINT is held until all rows are checked, as without NOT VALID.',
    safer: 'COMMIT between ADD CONSTRAINT … NOT VALID and VALIDATE CONSTRAINT.',
    url: NOTES,
    lock: null,
    find: (action, { tables, transaction }) =>
      action.kind === 'validate constraint' && transaction.notValid.has(`${action.table} ${action.name}`)
        ? ifBusy(tables, action.table)
        : [],
  },
  {
    code: 'not_null_scan',
    what: '`SET NOT NULL` without a validated `CHECK (… IS NOT NULL)`',
    text: 'Reads and writes of the table wait until all rows are checked.',
    safer: 'ADD CONSTRAINT … CHECK (column IS NOT NULL) NOT VALID; VALIDATE CONSTRAINT; SET NOT NULL; DROP CONSTRAINT.',
    url: addressOf('sql-altertable.html#SQL-ALTERTABLE-DESC-SET-DROP-NOT-NULL'),
    lock: 'ACCESS EXCLUSIVE',
    find(action, { tables }) {
      if (action.kind !== 'set not null') return [];
      const table = tables.busy(action.table);
      const isSafe = !table || isCheckedNotNull(table, action.column) || !isNullable(table, action.column);
      return isSafe ? [] : [action.table];
    },
  },
  {
    code: 'unique_not_using_index',
    what: '`UNIQUE` or `PRIMARY KEY` without `USING INDEX`',
    text: 'Reads and writes of the table wait until the index is built.',
    safer: 'CREATE UNIQUE INDEX CONCURRENTLY; then ADD CONSTRAINT … USING INDEX.',
    url: addressOf('sql-altertable.html#SQL-ALTERTABLE-DESC-ADD-TABLE-CONSTRAINT-USING-INDEX'),
    lock: 'ACCESS EXCLUSIVE',
    find(action, { tables }) {
      if (action.kind === 'add column') {
        return action.column.isUnique || action.column.isPrimary ? ifBusy(tables, action.table) : [];
      }
      if (action.kind !== 'add constraint') return [];
      const { kind, usingIndex } = action.constraint;
      return (kind === 'unique' || kind === 'primary') && !usingIndex ? ifBusy(tables, action.table) : [];
    },
  },
  {
    code: 'exclusion_constraint',
    what: '`ADD EXCLUDE`',
    text: 'Reads and writes of the table wait until the index is built and all rows are checked.',
    safer: 'There is none: create a new table with the constraint, copy the rows in batches, and switch.',
    url: addressOf('sql-createtable.html#SQL-CREATETABLE-EXCLUDE'),
    lock: 'ACCESS EXCLUSIVE',
    find: (action, { tables }) =>
      action.kind === 'add constraint' && action.constraint.kind === 'exclusion' ? ifBusy(tables, action.table) : [],
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
    find: (action, { tables }) =>
      action.kind === 'detach partition' && !action.concurrently ? ifBusy(tables, action.table) : [],
  },
];

function isNullable(table: { columns: Map<string, { isNullable: boolean }> }, column: string): boolean {
  return table.columns.get(column)?.isNullable ?? true;
}
