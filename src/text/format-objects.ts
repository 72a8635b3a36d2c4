import type { HiddenObjects } from '../results/manifest/hidden-objects.ts';
import { formatNumberOf } from './format.ts';

/** `orders (FEDERATED), all_logs (MRG_MyISAM)` */
export function definitionsOnlyText(tables: { table: string; engine: string }[]): string {
  return tables.map(({ table, engine }) => `${table} (${engine})`).join(', ');
}

/** `audit (3 tables), sales (1 table)` */
export function leftOutText(schemas: { schema: string; tables: number }[]): string {
  return schemas.map(({ schema, tables }) => `${schema} (${formatNumberOf(tables, 'table')})`).join(', ');
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
