import { UserError } from '../../../runtime/errors.ts';
import { boundedList } from '../../../text/bounded-list.ts';
import type { DatabaseUrl } from '../../database-url.ts';
import type { EngineContext } from '../../engine-context.ts';
import { readTables } from '../catalog/tables.ts';
import { connect } from '../connection/connect.ts';

const MOST_NAMED = 10;

interface FailedDump {
  url: DatabaseUrl;
  /** Tables of the source when the dump began. */
  names: string[];
  error: unknown;
}

/** The error of a dump; where tables were dropped meanwhile, one that says so: the server reports what it missed first. */
export async function explainVanished(context: EngineContext, { url, names, error }: FailedDump): Promise<unknown> {
  if (names.length === 0 || url.database === null || context.signal.aborted) return error;
  const present = await tablesNow(context, url).catch(() => null);
  const gone = present === null ? [] : names.filter((name) => !present.has(name));
  if (gone.length === 0) return error;
  return new UserError(
    'source_changing',
    `Tables of ${url.display} were dropped or renamed during the build: ${boundedList(gone, MOST_NAMED)}`,
    { hint: 'Nothing was stored. Run this again when no other session creates or drops tables.', cause: error },
  );
}

async function tablesNow(context: EngineContext, url: DatabaseUrl): Promise<Set<string>> {
  await using session = await connect(context, url);
  return new Set((await readTables(session, url.database ?? '')).map(({ name }) => name));
}
