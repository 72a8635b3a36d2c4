import type { ExcludedRows } from '../results/excluded-rows.ts';
import type { HiddenObjects } from '../results/manifest/hidden-objects.ts';
import { boundedList } from './bounded-list.ts';
import { formatBytes, formatNumberOf } from './format.ts';

/** `orders (FEDERATED), all_logs (MRG_MyISAM)` */
export function definitionsOnlyText(tables: { table: string; engine: string }[]): string {
  return tables.map(({ table, engine }) => `${table} (${engine})`).join(', ');
}

/** `public.audit_log and 3 more; references are NULL: public.page (event_id), 12 rows` */
export function excludedRowsText({ tables, nullified }: ExcludedRows): string {
  const keys = nullified.map(
    ({ table, columns, rows }) => `${table} (${columns.join(', ')}), ${formatNumberOf(rows, 'row')}`,
  );
  const without = keys.length === 0 ? '' : `; references are NULL: ${boundedList(keys, MOST_NAMED)}`;
  return `${boundedList(tables, MOST_NAMED)}${without}`;
}

interface LeftOut {
  schema: string;
  tables: number;
  bytes?: number | undefined;
}

/** The schemas with data that are missing without anybody having chosen so. */
export function lostSchemas<Schema extends LeftOut>(leftOut: Schema[]): Schema[] {
  return leftOut.filter(({ bytes }) => bytes !== undefined);
}

/** `audit (3 tables, 580 MB), sales (1 table)` */
export function leftOutText(schemas: LeftOut[]): string {
  return schemas
    .map(({ schema, tables, bytes }) => {
      const size = bytes === undefined ? '' : `, ${formatBytes(bytes)}`;
      return `${schema} (${formatNumberOf(tables, 'table')}${size})`;
    })
    .join(', ');
}

/** `views v, w (SHOW VIEW); any triggers of orders (TRIGGER)` */
export function hiddenText(hidden: HiddenObjects[]): string {
  return hidden
    .map((objects) => `${whatIsHidden(objects)}${objects.right === undefined ? '' : ` (${objects.right})`}`)
    .join('; ');
}

/** `view v`, `views v, w`, `any triggers of orders` */
export function whatIsHidden({ kind, names, tables }: HiddenObjects): string {
  if (names.length > 0) return `${kind}${names.length === 1 ? '' : 's'} ${shortList(names, 'more')}`;
  return `any ${kind}s${tables === undefined ? '' : ` of ${shortList(tables, 'table')}`}`;
}

const MOST_NAMED = 10;

function shortList(names: string[], rest: 'more' | 'table'): string {
  const more = names.length - MOST_NAMED;
  if (more <= 0) return names.join(', ');
  const amount = rest === 'more' ? `${more} more` : formatNumberOf(more, 'more table');
  return `${names.slice(0, MOST_NAMED).join(', ')} and ${amount}`;
}
