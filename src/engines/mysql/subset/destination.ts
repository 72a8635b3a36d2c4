import type { DatabaseUrl } from '../../database-url.ts';
import type { EngineContext } from '../../engine-context.ts';
import { quoteName } from '../connection/quote.ts';
import { inspectDestination } from '../restore/inspect-destination.ts';

export async function checkDestination(context: EngineContext, url: DatabaseUrl): Promise<void> {
  await inspectDestination(context, url);
}

export function createIndex(table: string, columns: string[]): string {
  const name = table.slice(table.indexOf('.') + 1);
  return `CREATE INDEX ${quoteName(`${name}_${columns.join('_')}`)} ON ${quoteName(name)} (${columns.map(quoteName).join(', ')});`;
}
