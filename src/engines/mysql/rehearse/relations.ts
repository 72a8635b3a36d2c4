import { tableName } from '../../../text/table-names.ts';
import type { Rewrite } from '../../facets/rehearse.ts';
import type { LockedRelation } from '../../shared/rehearse/lock-record.ts';
import type { Flavour } from '../catalog/introspect.ts';
import { readTableSizes } from '../catalog/tables.ts';
import { asTable, quotePath } from '../connection/quote.ts';
import type { MysqlSession } from '../connection/session.ts';
import { SqlError, unless } from '../connection/session-errors.ts';

export interface DatabaseFacts {
  flavour: Flavour;
  database: string;
  tables: Map<string, Relation>;
  sizeBytes: number;
  /** Position in the redo log, in bytes; `null` where it cannot be read. */
  redo: number | null;
  /** `false` without the right PROCESS: files are not known. */
  seesFiles: boolean;
}

interface Relation {
  bytes: number;
  /** Counted up to `MOST_COUNTED`. */
  rows: number;
  /** Numbers of its files, one a partition; none where they are not known. */
  files: string[];
}

/** Rows that are counted of a table. */
const MOST_COUNTED = 10_000;

/** Reads tables with their files. Waits for exclusive locks of others. */
export async function readFacts(session: MysqlSession, { flavour, database }: { flavour: Flavour; database: string }) {
  const sizes = await readTableSizes(session, database);
  const names = [...sizes.keys()];
  const counts = await session.queryEach<{ counted: number }>(names.map((name) => countOf(database, name)));
  const files = await readFiles(session, { flavour, database, names });
  const tables = new Map(
    names.map((name, at): [string, Relation] => {
      const counted = counts[at];
      const rows = counted && !(counted instanceof SqlError) ? Number(counted[0]?.counted ?? 0) : 0;
      const of = files?.get(name);
      return [name, { bytes: of?.bytes ?? sizes.get(name) ?? 0, rows, files: of?.numbers ?? [] }];
    }),
  );
  const sizeBytes = [...tables.values()].reduce((sum, { bytes }) => sum + bytes, 0);
  return { flavour, database, tables, sizeBytes, redo: await readRedo(session), seesFiles: files !== null };
}

function countOf(database: string, name: string): string {
  return `SELECT COUNT(*) AS counted FROM (SELECT 1 FROM ${asTable(quotePath(database, name))} LIMIT ${MOST_COUNTED}) counted`;
}

interface Files {
  /** Numbers of tables and files of the server. */
  numbers: string[];
  /** On disk: the sizes of the catalog are estimates. */
  bytes: number;
}

/** `null` without the right PROCESS. */
async function readFiles(
  session: MysqlSession,
  { flavour, database, names }: { flavour: Flavour; database: string; names: string[] },
): Promise<Map<string, Files> | null> {
  const rows = await session
    .query<{ name: string; number: string; bytes: number | null }>(FILES[flavour])
    .catch(unless([SPECIAL_RIGHT_MISSING], null));
  if (!rows) return null;
  const folder = skeletonOf(database);
  const own = rows.filter(({ name }) => skeletonOfFile(name.split('/')[0] ?? '') === folder);
  const files = Map.groupBy(own, ({ name }) => skeletonOfFile((name.split('/')[1] ?? '').replace(/#p#.*$/i, '')));
  const skeletons = Map.groupBy(names, skeletonOf);
  return new Map(
    names.flatMap((name): [string, Files][] => {
      const found = files.get(skeletonOf(name));
      // Two names that differ in letters beyond ASCII only are not told apart.
      if (!found || skeletons.get(skeletonOf(name))?.length !== 1) return [];
      const bytes = found.reduce((sum, file) => sum + Number(file.bytes ?? 0), 0);
      return [[name, { numbers: found.map(({ number }) => number), bytes }]];
    }),
  );
}

/** `ER_SPECIFIC_ACCESS_DENIED_ERROR` */
const SPECIAL_RIGHT_MISSING = 1227;

const FILES: Record<Flavour, string> = {
  mysql: `SELECT t.NAME AS name, CONCAT(t.TABLE_ID, ' ', t.SPACE) AS number, s.FILE_SIZE AS bytes
    FROM information_schema.INNODB_TABLES t LEFT JOIN information_schema.INNODB_TABLESPACES s ON s.SPACE = t.SPACE`,
  mariadb: `SELECT t.NAME AS name, CONCAT(t.TABLE_ID, ' ', t.SPACE) AS number, s.FILE_SIZE AS bytes
    FROM information_schema.INNODB_SYS_TABLES t
    LEFT JOIN information_schema.INNODB_SYS_TABLESPACES s ON s.SPACE = t.SPACE`,
};

/** Letters beyond ASCII are all the same. https://dev.mysql.com/doc/refman/en/identifier-mapping.html */
function skeletonOf(name: string): string {
  return name.replaceAll(/[^\0-\x7f]/gu, '?').toLowerCase();
}

function skeletonOfFile(name: string): string {
  return name
    .replaceAll(/@([0-9a-f]{4})|@../gi, (_, code: string | undefined) => {
      const number = Number.parseInt(code ?? 'ff', 16);
      return number < 0x80 ? String.fromCharCode(number) : '?';
    })
    .toLowerCase();
}

const REDO = "SHOW GLOBAL STATUS WHERE Variable_name IN ('Innodb_redo_log_current_lsn', 'Innodb_lsn_current')";

async function readRedo(session: MysqlSession): Promise<number | null> {
  const [row] = await session.query<{ Value: string }>(REDO);
  return row ? Number(row.Value) : null;
}

/** Tables with rows, as locks name them. */
export function lockedRelations({ database, tables }: DatabaseFacts): Map<string, LockedRelation> {
  const busy = [...tables].filter(([, { rows }]) => rows > 0);
  return new Map(busy.map(([name]) => [name, { table: tableName(database, name), index: null }]));
}

/** A table with rows that has a new file in place of an old one; a file has its indexes, too, and moves with a rename. */
export function rewritesBetween(before: DatabaseFacts, { database, tables }: DatabaseFacts): Rewrite[] {
  const [old, now] = [before.tables, tables].map(numbersOf);
  return [...tables].flatMap(([name, { bytes, rows, files }]): Rewrite[] => {
    const oldFiles = before.tables.get(name)?.files ?? [];
    const isNew = files.some((file) => !old?.has(file)) && oldFiles.some((file) => !now?.has(file));
    if (!isNew || rows === 0) return [];
    const table = tableName(database, name);
    return [{ kind: 'table', name: table, table, bytes }];
  });
}

function numbersOf(tables: Map<string, Relation>): Set<string> {
  return new Set([...tables.values()].flatMap(({ files }) => files));
}
