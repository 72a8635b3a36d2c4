import type { CatalogContents, Shape } from '../../../sanitize/ledger/ledger-item.ts';
import type { DatabaseUrl } from '../../database-url.ts';
import type { EngineContext } from '../../engine-context.ts';
import { connect } from '../connection/connect.ts';
import { type CatalogRow, familyOf, readCatalog } from './columns.ts';

/** Reads the catalog only. */
export async function readContents(context: EngineContext, url: DatabaseUrl): Promise<CatalogContents> {
  await using session = await connect(context, url);
  const rows = await readCatalog(session, url.database ?? '');
  const columns = rows.map((row) => ({
    ...{ schema: null, table: row.table, column: row.name, type: row.full_type },
    shape: shapeOf(row),
  }));
  return { columns, largeObjects: false };
}

function shapeOf(row: CatalogRow): Shape {
  if (familyOf(row) === 'document') return { kind: 'document' };
  if (row.type !== 'enum' && row.type !== 'set') return { kind: 'plain' };
  const quoted = row.full_type.slice(row.type.length).match(/'(?:[^']|'')*'/g) ?? [];
  return { kind: 'enum', values: quoted.map((value) => value.slice(1, -1).replaceAll("''", "'")) };
}
