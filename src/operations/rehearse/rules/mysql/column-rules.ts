import type { ColumnFacts } from '../../../../engines/facets/rehearsal-facts.ts';
import type { ActionOf, ColumnDefinition } from '../action.ts';
import { onTable } from '../busy-tables.ts';
import type { Rule } from '../rule.ts';
import type { Situation } from '../situation.ts';
import { isCopied } from './locks.ts';
import { BY_TOOL, COPIED, copiesTable, onlineDdl, pages, REBUILT } from './rule-parts.ts';

export const COLUMN_RULES: Rule[] = [
  {
    code: 'column_type_copied',
    ...copiesTable('column'),
    safer: `Add a column of the new type, fill it in batches, keep it equal by a trigger, then switch. ${BY_TOOL}`,
    find: changedColumn(({ definition }, old, { statement }) => isCopied(statement) && !isReordered(old, definition)),
  },
  {
    code: 'enum_reordered',
    ...copiesTable('column'),
    text: `${COPIED} Values that are not members any more are lost, or fail.`,
    safer: 'Add members at the end only.',
    find: changedColumn(({ definition }, old) => isReordered(old, definition)),
  },
  {
    code: 'not_null_added',
    what: '`MODIFY … NOT NULL`',
    text: `The statement fails for a NULL; ${REBUILT.charAt(0).toLowerCase()}${REBUILT.slice(1)}`,
    safer: 'Fill the rows in batches first; then ALGORITHM=INPLACE, LOCK=NONE under a strict sql_mode.',
    ...onlineDdl('column'),
    lock: null,
    rewrites: true,
    find: changedColumn(({ definition }, old) => definition.isNotNull && old.isNullable),
  },
  {
    code: 'column_moved',
    text: REBUILT,
    safer: 'Leave the order: name the columns in queries.',
    ...onlineDdl('column'),
    lock: null,
    rewrites: true,
    find: changedColumn(({ moves }) => moves),
  },
  {
    code: 'charset_converted',
    text: `${COPIED} Indexes may become too long.`,
    safer: `Change single columns in the background. ${BY_TOOL}`,
    ...onlineDdl('table'),
    lock: null,
    rewrites: true,
    find: onTable('convert'),
  },
  {
    code: 'auto_increment_column',
    ...copiesTable('column'),
    text: 'Writes to the table wait until it is written anew with a number in each row.',
    safer: `Add a plain column, fill it in batches, then change it at a quiet time. ${BY_TOOL}`,
    find: addedColumn(({ isIdentity }) => isIdentity),
  },
  {
    code: 'stored_column',
    ...copiesTable('generated-column'),
    safer: 'A VIRTUAL column, with an index where it is searched.',
    find: addedColumn(({ isStored }) => isStored),
  },
  {
    code: 'default_expression',
    text: COPIED,
    safer: 'ADD COLUMN without a default; fill the old rows in batches; then ALTER COLUMN … SET DEFAULT.',
    ...pages('data-type-defaults.html', 'instant-add-column-for-innodb'),
    lock: 'SHARED NO WRITE',
    rewrites: true,
    find: addedColumn(({ default: value, hasCheck }, { statement }) => {
      return (value?.includes('(') ?? false) && !hasCheck && isCopied(statement);
    }),
  },
  {
    code: 'implicit_default',
    what: '`ADD COLUMN … NOT NULL` without a default',
    text: "The rows get '' or 0, and programs that insert without the column fail under a strict sql_mode.",
    safer: 'Add it with a DEFAULT; or without NOT NULL, and fill it in batches.',
    ...pages('data-type-defaults.html', 'create-table'),
    lock: null,
    find: addedColumn(
      (column) => column.isNotNull && column.default === null && !column.isStored && !column.isIdentity,
    ),
  },
  {
    code: 'column_dropped',
    text: 'Running programs that name the column fail. Its values are lost.',
    safer: 'Deploy programs that do not name the column first, then drop it.',
    ...onlineDdl('column'),
    lock: 'EXCLUSIVE',
    rewrites: true,
    find: onTable('drop column'),
  },
  {
    code: 'column_renamed',
    text: 'Running programs that use the old name fail.',
    safer: 'Add a column, write to both, fill it in batches, deploy, then drop the old one.',
    ...onlineDdl('column'),
    lock: null,
    find: onTable(
      ['rename column', 'alter column'],
      (action) => action.kind === 'rename column' || action.column !== action.definition.name,
    ),
  },
  {
    code: 'narrow_key',
    text: 'The numbers end at 2,147,483,647 or before; a wider type then copies the table.',
    safer: 'BIGINT UNSIGNED.',
    ...pages('integer-types.html', 'auto_increment'),
    lock: null,
    find(action) {
      if (action.kind !== 'create table') return [];
      return action.columns.some(({ type, isIdentity }) => isIdentity && NARROW.test(type)) ? [action.table] : [];
    },
  },
];

const NARROW = /^(?:tinyint|smallint|mediumint|int|integer)\b/;

/** Finds a change of a column from before the statement. */
function changedColumn(
  isDangerous: (change: ActionOf<'alter column'>, old: ColumnFacts, situation: Situation) => boolean,
): Rule['find'] {
  return onTable('alter column', (change, situation) => {
    const old = situation.tables.busy(change.table)?.columns.get(change.column);
    return old !== undefined && isDangerous(change, old, situation);
  });
}

/** Finds a column that is added to a table with rows. */
function addedColumn(isDangerous: (column: ColumnDefinition, situation: Situation) => boolean): Rule['find'] {
  return onTable('add column', ({ column }, situation) => isDangerous(column, situation));
}

/** Reports whether both are an ENUM or a SET, and the members of the old one are not the first of the new one. */
function isReordered({ type: old }: ColumnFacts, { type }: ColumnDefinition): boolean {
  const [before, after] = [membersOf(old), membersOf(type)];
  return before !== null && after !== null && before.some((member, at) => after[at] !== member);
}

const MEMBERS = /^(?:enum|set)\s*\((.*)\)/is;

function membersOf(type: string): string[] | null {
  const inner = MEMBERS.exec(type)?.[1];
  return inner === undefined ? null : [...inner.matchAll(/'((?:[^']|'')*)'/g)].map(([, member = '']) => member);
}
