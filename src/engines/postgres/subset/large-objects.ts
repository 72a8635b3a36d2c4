import { startStep } from '../../../runtime/events.ts';
import { createRowSet, type RowSet } from '../../../subset/row-set.ts';
import type { SourceTable } from '../../../subset/source-schema.ts';
import { formatNumberOf } from '../../../text/format.ts';
import type { EngineContext } from '../../engine-context.ts';
import { groupsOf } from '../../shared/groups.ts';
import { INV_READ } from '../catalog/introspect.ts';
import { connect } from '../connection/connect.ts';
import { quoteName, quoteText } from '../connection/quote.ts';
import type { SubsetCopyOptions } from './copy.ts';
import { forEachLine } from './line-numbers.ts';
import type { OpenSource } from './open-source.ts';
import { type Part, pipeRows } from './pipe.ts';

const BATCH_OBJECTS = 1000;
const LINE_BYTES = 256 * 1024;

/** No foreign key references large objects. */
export function largeObjectsWarning(count: number, tables: SourceTable[]): { code: string; message: string }[] {
  if (count === 0) return [];
  const columns = tables.flatMap((table) => oidColumns(table).map((column) => `${table.name}.${column}`));
  const message =
    columns.length === 0
      ? 'no column of type oid references one, so none is included'
      : `included are those that selected rows reference by columns of type oid: ${columns.join(', ')}`;
  return [{ code: 'large_objects', message: `The source has ${formatNumberOf(count, 'large object')}: ${message}` }];
}

/**
 * Copies the large objects that the new rows name; an oid may also be of anything else. By functions, since
 * pg_largeobject is for superusers.
 */
export async function copyLargeObjects(context: EngineContext, copying: SubsetCopyOptions): Promise<void> {
  const { source, run, settings } = copying;
  if (source.largeObjects === 0) return;
  const named = await namedObjects(context, copying);
  if (named.size === 0) return;
  const { report } = context;
  const copied = startStep(report, 'large_objects', 'Copy the large objects');
  let characters = 0;
  const counts = await pipeRows(context, {
    ...{ source, settings, url: run.url, what: 'The large objects of the subset' },
    prepare: WRITE_BY_ROWS,
    parts: [...partsOf(named)],
    onMoved(_part, { bytes }) {
      characters += bytes;
      const done = Math.floor(characters / 2);
      report({ event: 'progress', step: 'large_objects', done, total: null, unit: 'bytes' });
    },
  });
  // Even parts are the objects, odd parts their bytes.
  const created = counts.filter((_, index) => index % 2 === 0).reduce((sum, count) => sum + count, 0);
  copied(`Copied ${formatNumberOf(created, 'large object')}`);
}

function oidColumns({ columns }: SourceTable): string[] {
  return columns.filter(({ family, generated }) => family === 'oid_ops' && !generated).map(({ name }) => name);
}

async function namedObjects(context: EngineContext, { source, run, settings }: SubsetCopyOptions): Promise<RowSet> {
  const { facts, tables }: OpenSource['catalog'] = source.catalog;
  const named = createRowSet();
  await using session = await connect(context, run.url, { tools: source.tools, settings });
  for (const table of facts.tables) {
    for (const column of oidColumns(table)) {
      const value = quoteName(column);
      const query = `SELECT DISTINCT ${value}::oid FROM ${tables.get(table.name)?.fromNamed} WHERE ${value} IS NOT NULL`;
      await session.lines(`COPY (${query}) TO STDOUT`, (lines) =>
        forEachLine(lines, ([oid = 0]) => void named.add(oid)),
      );
    }
  }
  return named;
}

/** A row creates a large object or writes to one: data of the source never become statements. */
const WRITE_BY_ROWS = [
  'CREATE TEMPORARY TABLE large_objects (object oid, at int8, bytes bytea) ON COMMIT DROP',
  `CREATE FUNCTION pg_temp.write_large_object() RETURNS trigger LANGUAGE plpgsql AS ${quoteText(`BEGIN
    IF NEW.at IS NULL THEN PERFORM lo_create(NEW.object); ELSE PERFORM lo_put(NEW.object, NEW.at, NEW.bytes); END IF;
    NEW.bytes := NULL;
    RETURN NEW;
  END`)}`,
  `CREATE TRIGGER write_large_object BEFORE INSERT ON pg_temp.large_objects
    FOR EACH ROW EXECUTE FUNCTION pg_temp.write_large_object()`,
];

/** Two parts a batch: the objects, then their bytes in any order. */
function* partsOf(named: RowSet): Generator<Part> {
  const write = 'COPY pg_temp.large_objects FROM STDIN';
  for (const some of groupsOf([...named], BATCH_OBJECTS)) {
    const isOne = `m.oid = ANY ('{${some.join(',')}}'::oid[])`;
    const objects = `COPY (SELECT m.oid, NULL, NULL FROM pg_largeobject_metadata m WHERE ${isOne}) TO STDOUT;\n`;
    yield { name: 'the large objects', read: () => [objects], write };
    const bytes = `COPY (
      WITH opened AS MATERIALIZED (SELECT m.oid, lo_open(m.oid, ${INV_READ}) AS fd FROM pg_largeobject_metadata m WHERE ${isOne}),
      sized AS MATERIALIZED (SELECT oid, fd, lo_lseek64(fd, 0, 2) AS bytes FROM opened),
      closed AS MATERIALIZED (SELECT oid, bytes, lo_close(fd) FROM sized)
      SELECT oid, at, lo_get(oid, at, ${LINE_BYTES})
      FROM closed, generate_series(0, bytes - 1, ${LINE_BYTES}) at) TO STDOUT;\n`;
    yield { name: 'the bytes of the large objects', read: () => [bytes], write };
  }
}
