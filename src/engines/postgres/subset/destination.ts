import { UserError } from '../../../runtime/errors.ts';
import { splitName } from '../../../text/table-names.ts';
import type { DatabaseUrl } from '../../database-url.ts';
import type { EngineContext } from '../../engine-context.ts';
import { quoteName } from '../connection/quote.ts';
import { inspectDestination } from '../restore/inspect-destination.ts';

export async function checkDestination(context: EngineContext, url: DatabaseUrl): Promise<void> {
  const { maySwap, whyNot } = await inspectDestination(context, url);
  if (maySwap) return;
  throw new UserError('may_not_create', `Cannot create a database beside ${url.display}: ${whyNot}`, {
    hint: `A subset is created in a shadow database and swapped. As an administrator: ALTER ROLE ${quoteName(url.user ?? 'NAME')} CREATEDB`,
  });
}

export function createIndex(table: string, columns: string[]): string {
  const { schema, rest } = splitName(table);
  const path = `${nameInSql(schema)}.${rest.startsWith('"') ? rest : nameInSql(rest)}`;
  return `CREATE INDEX ON ${path} (${columns.map(nameInSql).join(', ')});`;
}

function nameInSql(name: string): string {
  return /^[a-z_][a-z0-9_]*$/.test(name) ? name : quoteName(name);
}
