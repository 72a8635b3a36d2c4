import { randomBytes } from 'node:crypto';
import { open, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { DatabaseUrl } from '../../../database-url.ts';
import type { EngineContext } from '../../../engine-context.ts';
import type { RestoreRun } from '../../../facets/restore.ts';
import { restoreFailed } from '../../../shared/restore-failed.ts';
import { FIRST_OWN_OID } from '../../catalog/first-own-oid.ts';
import { LARGE_OBJECTS_QUERY, objectsQuery, readSchemas } from '../../catalog/introspect.ts';
import { connect } from '../../connection/connect.ts';
import { quoteName, quoteNumber, quoteText } from '../../connection/quote.ts';
import type { PostgresSession } from '../../connection/session.ts';
import { type ClientTools, majorOf } from '../../connection/tools.ts';
import { type ArchiveDetails, archiveDetails } from '../../dump/archive.ts';
import { findAuxiliaryDatabases } from '../../server/server.ts';
import { writeMark } from '../../swap/mark.ts';
import { within } from '../check.ts';
import { disableTrigger, loginTriggers, warnOfDisabled } from '../event-triggers.ts';
import { type PgRestoreRun, sectionArgs, unwantedSchemas, writeList } from '../pg-restore.ts';
import { divideInventory, type RemoteEntry } from '../remote-objects.ts';
import { wholeTable } from '../rows/batches.ts';
import { type CopyCommands, copyCommands, copyStatement, type RowsToLoad } from '../rows/copy-commands.ts';
import type { Archive } from '../rows/filling.ts';
import { FORCE_SCRIPT, LIFT_SCRIPT } from '../rows/forced-row-security.ts';
import { countedRows } from '../rows/rows-by-root.ts';
import { carryOverInPlace, type InPlace } from './carry-over-in-place.ts';

/** Arguments for psql that make one transaction, and the tables whose rows it reads from standard input. */
export interface Transaction {
  scripts: string[];
  commands: CopyCommands;
  tables: RowsToLoad[];
  /** Random; printed around the counts of the rows, with the transaction's id before COMMIT, and after COMMIT. */
  word: string;
  carryOver: InPlace;
}

interface TransactionOptions {
  run: RestoreRun;
  tools: ClientTools;
  details: ArchiveDetails;
  archive: Archive;
}

/** Writes the scripts of the transaction into the folder of the run. */
export async function writeTransaction(context: EngineContext, options: TransactionOptions): Promise<Transaction> {
  const { run, tools, details, archive } = options;
  const { url, plan, directory } = run;
  const script = async (name: string, text: string): Promise<string> => {
    await writeFile(join(directory, name), text, { mode: 0o600 });
    return `--file=${join(directory, name)}`;
  };
  const section = (name: PgRestoreRun['section'], entries = archive.entries): Promise<string> =>
    writeSection(context, options, { section: name, entries });
  const tables = plan.tables.filter((table) => table.rows > 0).map(wholeTable);
  const copies = tables.map((rows) => copyStatement(rows, details));
  const commands = copyCommands(copies, tools);
  const word = randomBytes(16).toString('hex');
  const sayWord = `--command=SELECT ${quoteText(word)}`;
  const disabled = loginTriggers(archive.eventTriggers);
  warnOfDisabled(context.report, disabled);
  const carryOver = await carryOverInPlace(context, url, run.role);
  const scripts = [
    '--command=BEGIN',
    await script('clear.sql', await clearScript(context, run)),
    await section('pre-data'),
    await script('lift.sql', LIFT_SCRIPT),
    ...[sayWord, ...commands.args, sayWord],
    await section('data'),
    await section('post-data'),
    await script('check-rows.sql', rowsScript(run)),
    await script('force.sql', FORCE_SCRIPT),
    await script('carry-over.sql', carryOver.script),
    await script('copies.sql', await outdateCopies(context, url)),
    // Created last, they hear neither of the definitions nor of the grants.
    ...(archive.eventTriggers.length > 0 ? [await section('post-data', archive.eventTriggers)] : []),
    ...disabled.map((name) => `--command=${disableTrigger(name)}`),
    await script('check.sql', inventoryScript(run, archive.leftOut)),
    ...[`--command=SELECT ${quoteText(`${word} `)} || pg_catalog.txid_current()`, '--command=COMMIT', sayWord],
  ];
  return { scripts, commands, tables, word, carryOver };
}

/** Writes a section of the archive as a script for the transaction. */
async function writeSection(
  { runner, signal }: EngineContext,
  { run: { plan, directory }, tools, details, archive }: TransactionOptions,
  { section, entries }: Pick<PgRestoreRun, 'section' | 'entries'>,
): Promise<string> {
  const without = unwantedSchemas(details, plan.schemas).map((schema) => schema.name);
  const list = await writeList(archive.directory, entries);
  const file = `${list}.sql`;
  const args = [
    ...sectionArgs({ section, list, without }),
    '--single-transaction',
    `--file=${file}`,
    archive.directory,
  ];
  const mounts = [{ path: directory, writable: true as const }];
  const written = await runner.run({ file: tools.pg_restore, args, mounts }, { signal });
  if (written.exitCode !== 0)
    throw restoreFailed('pg_restore cannot read the archive', written.stderr.trim().split('\n'));
  await fitIntoTransaction(file, majorOf(plan.destination.server_version));
  return `--file=${file}`;
}

/** Settings that a script of pg_restore begins with, and the first server that knows them. */
const YOUNG_SETTINGS = [{ statement: 'SET transaction_timeout = 0;', since: 17 }];
const SCRIPT_EDGE_BYTES = 4096;

/**
 * Comments out what would end the transaction around the script: settings that an older server does not know, and the
 * script's own transaction. Without `--single-transaction` pg_restore would write one around the large objects, anywhere.
 */
async function fitIntoTransaction(file: string, serverMajor: number): Promise<void> {
  await using script = await open(file, 'r+');
  const { size } = await script.stat();
  const edge = async (start: number): Promise<string> => {
    const { buffer, bytesRead } = await script.read({ buffer: Buffer.alloc(SCRIPT_EDGE_BYTES), position: start });
    return buffer.toString('latin1', 0, bytesRead);
  };
  const head = await edge(0);
  const tailStart = Math.max(0, size - SCRIPT_EDGE_BYTES);
  const begin = head.indexOf('\nBEGIN;\n');
  const commit = (await edge(tailStart)).lastIndexOf('\nCOMMIT;\n');
  if (begin === -1 || commit === -1) throw restoreFailed('pg_restore wrote a script without a transaction', [file]);
  const unknown = YOUNG_SETTINGS.filter(({ since }) => serverMajor < since)
    .map(({ statement }) => head.indexOf(`\n${statement}`))
    .filter((at) => at !== -1);
  for (const at of [begin, tailStart + commit, ...unknown]) await script.write('-- ', at + 1, 'latin1');
}

const SCHEMA_PRIVILEGES = ['USAGE', 'CREATE'] as const;

/** Everything of the user's goes, as it does when the whole database is replaced; `public` stays whose it was. */
async function clearScript(context: EngineContext, { url }: RestoreRun): Promise<string> {
  await using session = await connect(context, url);
  const present = await readSchemas(session);
  const [owned] = await session.query<{ owner: string; grants: { role: string | null; privilege: string }[] }>(`
    SELECT pg_get_userbyid(nspowner) AS owner, (SELECT coalesce(json_agg(json_build_object(
        'role', CASE WHEN a.grantee <> 0 THEN pg_get_userbyid(a.grantee) END, 'privilege', a.privilege_type)), '[]')
      FROM aclexplode(nspacl) a) AS grants
    FROM pg_namespace WHERE nspname = 'public'`);
  const grants = owned?.grants.flatMap(({ role, privilege }) => {
    const known = SCHEMA_PRIVILEGES.find((one) => one === privilege);
    return known ? [`GRANT ${known} ON SCHEMA public TO ${role === null ? 'PUBLIC' : quoteName(role)};`] : [];
  });
  return [
    ...(await dropsWithoutSchema(session)),
    ...present.map(({ name }) => `DROP SCHEMA ${quoteName(name)} CASCADE;`),
    'SELECT lo_unlink(oid) FROM pg_largeobject_metadata;',
    // pg_dump takes `public` for granted, as initdb makes it.
    'CREATE SCHEMA public;',
    "COMMENT ON SCHEMA public IS 'standard public schema';",
    ...(owned ? [`ALTER SCHEMA public OWNER TO ${quoteName(owned.owner)};`] : []),
    ...(grants ?? []),
    '',
  ].join('\n');
}

/** No database has this oid; in an undo copy of rows, none at all would be that of an earlier release. */
const OF_NO_DATABASE = 0;

/** The database keeps its oid, so the marks of its base copy and spare, and of an undo copy of rows, are made invalid. */
async function outdateCopies(context: EngineContext, url: DatabaseUrl): Promise<string> {
  await using session = await connect(context, url);
  const { base, spare, undo } = await findAuxiliaryDatabases(session, url.database ?? '');
  const statements: string[] = [];
  const rows = undo?.mark.rows ? undo : null;
  for (const copy of [base, spare, rows].filter((one) => one !== null)) {
    const owned = await session.query(
      `SELECT FROM pg_database WHERE datname = ${quoteText(copy.name)} AND pg_has_role(datdba, 'USAGE')`,
    );
    const destination_oid = copy === rows ? OF_NO_DATABASE : null;
    if (owned.length > 0)
      statements.push(`${writeMark(copy.name, { ...copy.mark, destination_oid, former_oid: null })};`);
    else {
      const message = `${copy.name} is of the replaced content, and the role may not mark it so: drop it`;
      context.report({ event: 'warning', code: 'leftover', message });
    }
  }
  return statements.join('\n');
}

/** The manifest's row counts, inside the transaction: a difference ends it. */
function rowsScript({ plan, manifest }: RestoreRun): string {
  const details = archiveDetails(manifest);
  const checks = countedRows(plan, details).map(({ name, count, rows, words }) =>
    failUnless(`(${count}) = ${quoteNumber(rows)}`, `${name} has other rows than it should: ${words}`),
  );
  return ['SET LOCAL search_path = pg_catalog;', ...checks, ''].join('\n');
}

/** The scripts before leave a search path of their own, by which the server would write types otherwise. */
function inventoryScript({ plan, manifest }: RestoreRun, leftOut: RemoteEntry[]): string {
  const checks = inventoryChecks(archiveDetails(manifest), { schemas: plan.schemas, leftOut });
  return ['SET LOCAL search_path = pg_catalog;', ...checks, ''].join('\n');
}

/** Returns statements for the comparison that a load beside the destination makes in `checkRestored`. */
function inventoryChecks(details: ArchiveDetails, { schemas, leftOut }: { schemas: string[]; leftOut: RemoteEntry[] }) {
  const { expected, optional } = divideInventory(within(details.inventory, schemas), leftOut);
  const { objects, large_objects } = expected;
  const wanted = namesAsRows(objects);
  const all = `SELECT kind, name FROM (${objectsQuery(schemas)}) f WHERE kind IN (${Object.keys(objects).map(quoteText).join(', ') || 'NULL'})`;
  const found = `(${all} EXCEPT ${namesAsRows(optional)})`;
  const differences = `
    SELECT concat_ws(' ', kind, name, 'is missing') AS text FROM (${wanted} EXCEPT ${found}) a
    UNION ALL SELECT concat_ws(' ', kind, name, 'is not in the snapshot') FROM (${found} EXCEPT ${wanted}) b LIMIT 20`;
  const compare = `DO ${quoteText(`DECLARE differences text;
    BEGIN
      SELECT string_agg(text, '; ') INTO differences FROM (${differences}) d;
      IF differences IS NOT NULL THEN
        RAISE EXCEPTION 'The restored database is not what the manifest says: %', differences;
      END IF;
    END`)};`;
  if (!large_objects) return [compare];
  const { count, bytes } = large_objects;
  const same = `(SELECT l.count = ${quoteNumber(count)} AND l.bytes = ${quoteNumber(bytes)} FROM (${LARGE_OBJECTS_QUERY}) l)`;
  return [
    compare,
    failUnless(same, `There are other large objects than the manifest says: ${count} with ${bytes} bytes`),
  ];
}

/** A query of names by the kinds of their objects. */
function namesAsRows(objects: Record<string, Iterable<string>>): string {
  const rows = Object.entries(objects).flatMap(([kind, names]) => [...names].map((name) => ({ kind, name })));
  return `SELECT kind, name FROM json_to_recordset(${quoteText(JSON.stringify(rows))}) AS e (kind text, name text)`;
}

/** A statement that ends the transaction with the message unless the condition holds. */
function failUnless(condition: string, message: string): string {
  const raise = `RAISE EXCEPTION USING MESSAGE = ${quoteText(message)}`;
  return `DO ${quoteText(`BEGIN IF NOT (${condition}) THEN ${raise}; END IF; END`)};`;
}

/**
 * Statements that drop what a database has outside of schemas and pg_dump would create anew: event triggers first, so
 * that they do not hear of the rest. What an extension or a type brought goes or stays with it.
 */
async function dropsWithoutSchema(session: PostgresSession): Promise<string[]> {
  const rows = await session.query<{ statement: string }>(`
    SELECT concat('DROP ', upper(replace(i.type, '-', ' ')), ' IF EXISTS ',
      CASE i.type WHEN 'transform' THEN regexp_replace(i.identity, '^for', 'FOR') ELSE i.identity END,
      CASE WHEN i.type <> 'event trigger' THEN ' CASCADE' END, ';') AS statement
    FROM (
      SELECT 1 AS turn, 'pg_event_trigger'::regclass AS class, oid FROM pg_event_trigger
      UNION ALL SELECT 2, 'pg_cast'::regclass, oid FROM pg_cast
      UNION ALL SELECT 3, 'pg_transform'::regclass, oid FROM pg_transform
      UNION ALL SELECT 4, 'pg_foreign_data_wrapper'::regclass, oid FROM pg_foreign_data_wrapper
      UNION ALL SELECT 5, 'pg_language'::regclass, oid FROM pg_language
      UNION ALL SELECT 6, 'pg_am'::regclass, oid FROM pg_am
    ) o, pg_identify_object(o.class, o.oid, 0) i
    WHERE o.oid >= ${FIRST_OWN_OID} AND NOT EXISTS (
      SELECT FROM pg_depend d WHERE d.classid = o.class AND d.objid = o.oid AND d.deptype IN ('e', 'i'))
    ORDER BY o.turn, i.identity`);
  return rows.map(({ statement }) => statement);
}
