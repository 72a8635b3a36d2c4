import type { DefinitionOnly } from '../../../results/manifest/definitions-only.ts';
import { definitionsOnlyText } from '../../../text/format-objects.ts';
import type { EngineContext } from '../../engine-context.ts';
import type { DumpRequest } from '../../facets/dump.ts';
import type { Definitions } from '../catalog/definitions/definitions.ts';
import { isEnabled, namersOf } from '../catalog/definitions/events.ts';
import { invalidViewsFound, invalidViewsOf } from '../catalog/definitions/view-needs.ts';
import { presentHistograms } from '../catalog/histograms.ts';
import { readTablesWithoutRows } from '../catalog/tables.ts';
import { tablesIn } from '../connection/quote.ts';
import type { MysqlSession } from '../connection/session.ts';
import { type Details, detailsOf } from '../details.ts';
import { namesDatabaseWarnings } from '../restore/event-warnings.ts';
import { definitionsOnlyIn } from '../restore/left-out.ts';

export interface DumpedDatabase {
  definitions: Definitions;
  database: string;
  /** The name that the snapshot gives it. */
  schema: string;
  copyOf: DumpRequest['copyOf'];
}

/** Warns of what a load creates in another way or not at all, and hands it over for the manifest. */
export async function recordTreatedApart(
  { report }: Pick<EngineContext, 'report'>,
  session: MysqlSession,
  { definitions, database, schema, copyOf }: DumpedDatabase,
): Promise<Pick<Details, 'definitions_only' | 'enabled_events' | 'names_database' | 'invalid_views' | 'histograms'>> {
  const definitionsOnly = await readDefinitionsOnly(session, { database, definitions });
  const enabledEvents = definitions.events.filter(isEnabled).map(({ name }) => name);
  const namers = namersOf(definitions, database);
  const invalidViews = invalidViewsOf(definitions);
  // The statistics of a copy in a throw-away database were not gathered, and a sanitization may have dropped columns.
  const histograms = await presentHistograms(session, database, copyOf ? (detailsOf(copyOf).histograms ?? []) : []);
  if (definitionsOnly.length > 0) {
    const message = `Definitions only, because the rows are those of other tables or are kept nowhere: ${definitionsOnlyText(definitionsOnly)}`;
    report({ event: 'warning', code: 'definitions_only', message });
  }
  for (const warning of namesDatabaseWarnings(namers, schema)) report(warning);
  for (const warning of invalidViewsFound(invalidViews)) report(warning);
  return {
    ...(definitionsOnly.length > 0 && { definitions_only: definitionsOnly }),
    ...(enabledEvents.length > 0 && { enabled_events: enabledEvents }),
    ...(namers.length > 0 && { names_database: namers }),
    ...(invalidViews.length > 0 && { invalid_views: invalidViews }),
    ...(histograms.length > 0 && { histograms }),
  };
}

/** Tables of which the rows are not stored, MERGE tables that the server cannot open included. */
async function readDefinitionsOnly(
  session: MysqlSession,
  { database, definitions }: { database: string; definitions: Definitions },
): Promise<DefinitionOnly[]> {
  const readable = new Set(definitions.tables.map(({ name }) => name));
  const unreadable = (await readTablesWithoutRows(session, tablesIn(database)))
    .filter(({ name }) => !readable.has(name))
    .map(({ name, engine }) => ({ table: name, engine, remote: true }));
  return [...definitionsOnlyIn(definitions), ...unreadable].sort((a, b) => (a.table < b.table ? -1 : 1));
}
