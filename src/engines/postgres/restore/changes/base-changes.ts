import { startStep } from '../../../../runtime/events.ts';
import { formatNumberOf } from '../../../../text/format.ts';
import { tableName } from '../../../../text/table-names.ts';
import type { EngineContext } from '../../../engine-context.ts';
import type { BaseChanges, BaseChangesRequest, DifferingRows } from '../../../facets/changes.ts';
import { groupsOf } from '../../../shared/groups.ts';
import { findBaseCopies, hasRowsOf } from '../../branches/base-copies.ts';
import { readSequenceValues, type SequenceState } from '../../branches/in-place/base-evidence.ts';
import type { ChangedVersions, FoundChanges } from '../../branches/in-place/changed-versions.ts';
import { findFewChanges, MOST_BYTES, orReason, TOO_LARGE } from '../../branches/in-place/few-changes.ts';
import { readPages } from '../../branches/in-place/missing-versions.ts';
import { NOT_ALONE, type OpenedBase, SETTINGS, withOpenBase } from '../../branches/in-place/open-base.ts';
import { isCopyOfBase } from '../../branches/in-place/reset-branch-in-place.ts';
import { pathOf, quoteIds } from '../../branches/in-place/row-places.ts';
import { readVersions } from '../../branches/in-place/row-versions.ts';
import { findBranches } from '../../branches/list.ts';
import { connectToServer } from '../../connection/connect.ts';
import { quoteName, quoteNumber, quoteText } from '../../connection/quote.ts';
import type { PostgresSession } from '../../connection/session.ts';
import { withDatabase } from '../../connection/url.ts';
import { archiveDetails } from '../../dump/archive.ts';
import { mayHaveWritten } from '../../dump/unchanged/loaded-evidence.ts';
import { openReaders } from '../../dump/unchanged/readers.ts';
import { findAuxiliaryDatabases } from '../../server/server.ts';
import { dataOf } from '../rows/copy-commands.ts';

/**
 * Finds what differs from the base copy as a reset in place does, and reads these rows alone; `null` where there is no base
 * copy with the rows of the snapshot, the branch is no copy of it, or the reset would be refused.
 */
export async function readBaseChanges(
  context: EngineContext,
  { url, manifest, destination: origin }: BaseChangesRequest,
): Promise<BaseChanges | null> {
  const destination = origin ?? url.database ?? '';
  await using server = await connectToServer(context, url);
  const copies = await findBaseCopies(server, destination);
  const { base } = await findAuxiliaryDatabases(server, destination);
  if (!copies.base || !base || !hasRowsOf(base.mark, manifest)) return null;
  const branch =
    origin === null ? null : (await findBranches(server, origin)).find((one) => one.database === url.database);
  if (branch === undefined || !(branch ? copies.base.closed : copies.base.outdated === null)) return null;
  const compared = startStep(context.report, 'dump', `Compare ${url.display} with its base copy`);
  // As a dump reads rows, which keeps the format of money.
  const { lc_monetary: _, ...settings } = SETTINGS;
  await using readers = await openReaders(context, { url, settings });
  const { session } = readers;
  await session.execute('BEGIN ISOLATION LEVEL REPEATABLE READ');
  const { base: copy } = copies;
  const changes = await orReason(async () => {
    if (branch && !(await isCopyOfBase(session, { branch, base: copy }))) return 'it is a copy of another one';
    const found = await findFewChanges(readers, { evidence: base.mark.evidence });
    if (typeof found === 'string') return found;
    // The base copy has those rows as well.
    if (await mayHaveWritten(session)) return 'code of the snapshot may have changed rows during the load';
    const tables = await readRows(context, {
      server,
      url: withDatabase(url, destination),
      base,
      session,
      found,
      manifest,
    });
    return typeof tables === 'string'
      ? tables
      : { tables, sequences: await describeSequences(session, found.sequences) };
  });
  if (typeof changes !== 'string') {
    compared(`Compared ${url.display} with its base copy: ${formatNumberOf(changes.tables.length, 'table')} changed`);
    return changes;
  }
  compared(`${url.display} cannot be compared with its base copy: ${changes}`);
  return null;
}

interface RowsToRead extends OpenedBase, Pick<BaseChangesRequest, 'manifest'> {
  server: PostgresSession;
  session: PostgresSession;
  found: FoundChanges;
}

async function readRows(
  context: EngineContext,
  { server, url, base, session, found: { tables, border }, manifest }: RowsToRead,
): Promise<DifferingRows[] | string> {
  if (tables.length === 0) return [];
  const details = archiveDetails(manifest);
  const stored = new Map(manifest.tables.map((table) => [table.name, dataOf(table, details).columns]));
  const read = await withOpenBase(context, server, {
    ...{ url, base },
    async work(from) {
      const [money] = await session.query<{ locale: string }>(`SELECT current_setting('lc_monetary') AS locale`);
      await from.execute(`SET lc_monetary = ${quoteText(money?.locale ?? 'C')}`);
      const pages = await readPages(from, tables);
      const rows: DifferingRows[] = [];
      for (const [at, table] of tables.entries()) {
        const name = tableName(table.schema, table.name);
        const columns = stored.get(name);
        if (!columns) return `${name} is not in the snapshot`;
        const base = { session: from, pages: pages[at] ?? 0 };
        const versions = await readVersions({ table, border, database: session, base, mostBytes: MOST_BYTES });
        if (!versions) return TOO_LARGE;
        const lost = versions.inserted.map(({ id }) => id);
        const [removed, added] = await Promise.all([
          copyRows(from, { table, columns, ids: lost }),
          copyRows(session, { table, columns, ids: versions.deleted }),
        ]);
        rows.push({ table: name, removed, added });
      }
      return rows;
    },
  });
  return read ?? NOT_ALONE;
}

/** Rows in a statement. */
const BATCH = 1000;

async function copyRows(
  session: PostgresSession,
  { table, columns, ids }: { table: ChangedVersions; columns: string[]; ids: string[] },
): Promise<Buffer> {
  const parts: Buffer[] = [];
  const list = columns.map(quoteName).join(', ');
  for (const some of groupsOf(ids, BATCH)) {
    const rows = `SELECT ${list} FROM ONLY ${pathOf(table)} WHERE ctid = ANY (${quoteIds(some)})`;
    await session.lines(`COPY (${rows}) TO STDOUT`, (lines) => parts.push(Buffer.from(lines)));
  }
  return Buffer.concat(parts);
}

/** The sequences as a dump writes their values. */
async function describeSequences(session: PostgresSession, before: SequenceState[]): Promise<BaseChanges['sequences']> {
  if (before.length === 0) return [];
  const values = new Map(before.map(({ oid, value }) => [oid, value]));
  return (await readSequenceValues(session)).flatMap(({ oid, schema, name, value, called }) => {
    const from = values.get(oid);
    if (from === undefined) return [];
    const path = quoteText(pathOf({ schema, name }));
    const text = `SELECT pg_catalog.setval(${path}, ${quoteNumber(BigInt(value))}, ${called ? 'true' : 'false'});\n`;
    return [{ name: `${tableName(schema, name)} (sequence set)`, from, to: value, text }];
  });
}
