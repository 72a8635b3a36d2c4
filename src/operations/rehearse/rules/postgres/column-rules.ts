import type { ActionOf, ColumnDefinition } from '../action.ts';
import { onTable } from '../busy-tables.ts';
import type { Rule } from '../rule.ts';
import type { Situation } from '../situation.ts';
import { addressOf } from './rule-parts.ts';
import { isVolatile, normalType, rewrites } from './types.ts';

const NOTES = addressOf('sql-altertable.html#SQL-ALTERTABLE-NOTES');
const SERIAL = /^(?:small|big)?serial[248]?$/;
const NARROW = /^(?:integer|smallint|serial[24]?|smallserial)$/;

export const COLUMN_RULES: Rule[] = [
  {
    code: 'column_type_rewrite',
    what: '`ALTER COLUMN … TYPE` that converts the values',
    text: 'Reads and writes of the table wait until it and its indexes are written anew.',
    safer: 'Add a column of the new type, fill it in batches, keep it equal by a trigger, then switch.',
    url: NOTES,
    lock: 'ACCESS EXCLUSIVE',
    rewrites: true,
    find: onTable('alter type', (action, { tables, facts }) => {
      const { name, columns } = tables.busy(action.table) ?? {};
      return (
        name !== undefined && (typeRewrites(action, columns?.get(action.column)?.type) ?? facts.rewritten.has(name))
      );
    }),
  },
  {
    code: 'volatile_default',
    what: '`ADD COLUMN` with a volatile default',
    text: 'Reads and writes of the table wait until it is written anew.',
    safer: 'ADD COLUMN without a default; ALTER COLUMN … SET DEFAULT; fill the old rows in batches.',
    url: NOTES,
    lock: 'ACCESS EXCLUSIVE',
    rewrites: true,
    find: addedColumn(({ default: value }, table, { facts }) =>
      value === null ? false : (isVolatile(value) ?? facts.rewritten.has(table)),
    ),
  },
  {
    code: 'generated_column',
    what: '`ADD COLUMN … GENERATED … STORED`',
    text: 'Reads and writes of the table wait until it is written anew.',
    safer: 'Add a plain column with a trigger, and fill it in batches; or compute the value in a view.',
    url: NOTES,
    lock: 'ACCESS EXCLUSIVE',
    rewrites: true,
    find: addedColumn(({ isStored }) => isStored),
  },
  {
    code: 'numbered_column',
    what: '`ADD COLUMN` of type `serial` or `GENERATED … AS IDENTITY`',
    text: 'Reads and writes of the table wait until it is written anew with a number in each row.',
    safer: 'Add a bigint column, fill it in batches, then ADD GENERATED … AS IDENTITY.',
    url: NOTES,
    lock: 'ACCESS EXCLUSIVE',
    rewrites: true,
    find: addedColumn(({ type, isIdentity }) => isIdentity || SERIAL.test(type)),
  },
  {
    code: 'not_null_without_default',
    what: '`ADD COLUMN … NOT NULL` without a default',
    text: 'The statement fails: the rows of the table have no value for the column.',
    safer: 'Add the column with a default that is constant; or without NOT NULL, and fill it in batches.',
    url: addressOf('sql-altertable.html#SQL-ALTERTABLE-DESC-ADD-COLUMN'),
    lock: null,
    find: addedColumn(
      (column) =>
        (column.isNotNull || column.isPrimary) &&
        column.default === null &&
        !column.isStored &&
        !column.isIdentity &&
        !SERIAL.test(column.type),
    ),
  },
  {
    code: 'column_in_view',
    what: '`DROP COLUMN` or `ALTER COLUMN … TYPE` of a column that a view uses',
    text: 'The statement fails, or drops the view with CASCADE.',
    safer: 'Replace the view in the same transaction: DROP VIEW, the change, CREATE VIEW with its grants.',
    url: addressOf('ddl-depend.html'),
    lock: null,
    find: onTable(['drop column', 'alter type'], ({ table, column }, { tables }) => {
      const views = tables.busy(table)?.columns.get(column)?.views ?? [];
      return views.some((view) => !tables.isDroppedView(view));
    }),
  },
  {
    code: 'column_dropped',
    what: '`DROP COLUMN`',
    text: 'Running programs that name the column fail. Its values are lost.',
    safer: 'Deploy programs that do not name the column first, then drop it.',
    url: addressOf('ddl-alter.html#DDL-ALTER-REMOVING-A-COLUMN'),
    lock: 'ACCESS EXCLUSIVE',
    find: onTable('drop column'),
  },
  {
    code: 'column_renamed',
    what: '`RENAME COLUMN`',
    text: 'Running programs that use the old name fail.',
    safer: 'Add a column, write to both, fill it in batches, deploy, then drop the old one.',
    url: addressOf('ddl-alter.html#DDL-ALTER-RENAMING-COLUMN'),
    lock: 'ACCESS EXCLUSIVE',
    find: onTable('rename column'),
  },
  {
    code: 'json_column',
    what: 'a column of type `json`',
    text: 'The type has no equality: SELECT DISTINCT, GROUP BY and UNION over the column fail.',
    safer: 'Use jsonb.',
    url: addressOf('datatype-json.html'),
    lock: null,
    find: anyColumn(({ type }) => type === 'json'),
  },
  {
    code: 'char_column',
    what: 'a column of type `char(n)`',
    text: 'Values are padded with blanks; a longer length writes the table anew.',
    safer: 'Use text, with a CHECK of the length.',
    url: addressOf('datatype-character.html'),
    lock: null,
    find: anyColumn(({ type }) => normalType(type).startsWith('character(')),
  },
  {
    code: 'narrow_key',
    what: 'a primary key of 2 or 4 bytes',
    text: 'The numbers end at 2,147,483,647 or before; a wider type then writes the table anew.',
    safer: 'bigint GENERATED BY DEFAULT AS IDENTITY.',
    url: addressOf('datatype-numeric.html'),
    lock: null,
    find(action) {
      if (action.kind !== 'create table') return [];
      const keys = action.constraints.filter(({ kind }) => kind === 'primary').map(({ columns }) => columns);
      const isKey = ({ name, isPrimary }: ColumnDefinition): boolean =>
        isPrimary || keys.some((columns) => columns.length === 1 && columns[0] === name);
      const isNarrow = action.columns.some(
        (column) => isKey(column) && !column.references && NARROW.test(normalType(column.type)),
      );
      return isNarrow ? [action.table] : [];
    },
  },
];

type Find = Rule['find'];

/** Finds a column that is added to a table with rows. */
function addedColumn(isDangerous: (column: ColumnDefinition, table: string, situation: Situation) => boolean): Find {
  return onTable('add column', ({ table, column }, situation) => {
    const known = situation.tables.busy(table);
    return known !== null && isDangerous(column, known.name, situation);
  });
}

/** Finds a column, also of a new table. */
function anyColumn(isDangerous: (column: ColumnDefinition) => boolean): Find {
  return (action) => {
    if (action.kind === 'add column') return isDangerous(action.column) ? [action.table] : [];
    return action.kind === 'create table' && action.columns.some(isDangerous) ? [action.table] : [];
  };
}

function typeRewrites({ type, using, column }: ActionOf<'alter type'>, from: string | undefined): boolean | null {
  const plain = [column, `"${column}"`].flatMap((name) => [name, `${name}::${type}`]);
  if (using !== null && !plain.includes(using)) return true;
  return from === undefined ? null : rewrites(from, type);
}
