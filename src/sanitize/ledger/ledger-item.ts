/** A column of the catalog, with the parts of its type that a ledger classifies. */
export interface CatalogColumn {
  /** `null` on engines without schemas: the name of a database differs between machines. */
  schema: string | null;
  table: string;
  column: string;
  /** In the engine's notation, for people. */
  type: string;
  shape: Shape;
}

/** The structure of a type, through domains. */
export type Shape =
  | { kind: 'plain' | 'document' }
  | { kind: 'enum'; values: string[] }
  | { kind: 'array'; of: Shape }
  | { kind: 'record'; fields: { name: string; shape: Shape }[] };

export interface CatalogContents {
  columns: CatalogColumn[];
  largeObjects: boolean;
}

/** The subject of one line of a ledger: a column, a field of its type, a path in its documents, or the large objects. */
export interface LedgerItem {
  name: string;
  type: string;
  /** The values of an enumeration, in the order of the type. */
  values?: string[];
}

/** The name in the comments of a query. */
export const LARGE_OBJECTS_ITEM = 'pg_catalog.pg_largeobject.data';

/** Stands for all keys of a level. */
export const ANY_KEY = null;

export type PathKey = string | typeof ANY_KEY;

const PLAIN_PART = /^[\p{L}\p{M}\p{N}_$]+$/u;

/** Quotes all but plain words, so that no two columns have the same name. */
function partOf(part: string): string {
  return PLAIN_PART.test(part) ? part : `"${part.replaceAll('"', '""')}"`;
}

/** Returns `public.person.email`, `person.email` on engines without schemas, `public.event.payload->user->email`. */
export function itemName(
  { schema, table, column }: Pick<CatalogColumn, 'schema' | 'table' | 'column'>,
  path: readonly PathKey[] = [],
): string {
  const parts = [...(schema === null ? [] : [schema]), table, column].map(partOf);
  return [parts.join('.'), ...path.map((key) => (key === ANY_KEY ? '*' : partOf(key)))].join('->');
}

export function itemsOf({ columns, largeObjects }: CatalogContents): LedgerItem[] {
  const items = columns.flatMap((column) => itemsIn(column, column.shape, []));
  if (largeObjects) items.push({ name: LARGE_OBJECTS_ITEM, type: 'large objects' });
  return items;
}

function itemsIn(column: CatalogColumn, shape: Shape, path: string[]): LedgerItem[] {
  const inner = elementOf(shape);
  const type = path.length === 0 ? column.type : 'field';
  const item = {
    name: itemName(column, path),
    type,
    ...(inner.kind === 'enum' && { values: inner.values }),
  };
  if (inner.kind !== 'record') return [item];
  return [item, ...inner.fields.flatMap(({ name, shape: own }) => itemsIn(column, own, [...path, name]))];
}

function elementOf(shape: Shape): Exclude<Shape, { kind: 'array' }> {
  return shape.kind === 'array' ? elementOf(shape.of) : shape;
}

export function hasDocument(shape: Shape): boolean {
  const inner = elementOf(shape);
  return (
    inner.kind === 'document' || (inner.kind === 'record' && inner.fields.some(({ shape: own }) => hasDocument(own)))
  );
}
