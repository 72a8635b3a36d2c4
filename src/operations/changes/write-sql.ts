import type { ChangesToWrite, TableChanges } from '../../engines/facets/changes.ts';
import type { Database } from '../../engines/open-database.ts';
import { cannotWrite } from '../../engines/shared/rows/change-statements.ts';
import type { Manifest } from '../../repository/manifest/manifest.ts';
import type { ChangesResult } from '../../results/review/changes-results.ts';
import { createFile } from '../../runtime/write-file.ts';
import { boundedList } from '../../text/bounded-list.ts';
import { assertNewFile } from '../assert-new-file.ts';
import type { ComparedRows } from '../snapshots/diff/compare-stored.ts';

export interface SqlRequest {
  database: Database;
  /** The present state. */
  manifest: Manifest;
  rows: Map<string, ComparedRows>;
  values: ChangesToWrite['values'];
}

type Changes = Pick<ChangesResult, 'tables' | 'definitions' | 'large_objects'>;

type WrittenSql = NonNullable<ChangesResult['sql']>;

export type MadeSql = WrittenSql | { text: string; statements: number };

/** The statements that make the changes again, as text; in the file where that has more bytes than `most`. */
export async function makeSql(
  changes: Changes,
  request: SqlRequest,
  { file, most }: { file: string; most: number },
): Promise<MadeSql> {
  const parts: string[] = [];
  let bytes = 0;
  for (const statement of await statementsOf(changes, request)) {
    const part = `${statement};\n`;
    bytes += Buffer.byteLength(part);
    if (bytes > most) return writeSql(changes, request, file);
    parts.push(part);
  }
  return { text: parts.join(''), statements: parts.length };
}

/** Writes the statements that make the changes again; the file is private, complete or absent, and never replaced. */
export async function writeSql(changes: Changes, request: SqlRequest, file: string): Promise<WrittenSql> {
  const statements = await statementsOf(changes, request);
  let count = 0;
  function* texts(): Generator<string> {
    let waiting: string[] = [];
    for (const statement of statements) {
      count += 1;
      waiting.push(`${statement};\n`);
      if (waiting.length < STATEMENTS_AT_ONCE) continue;
      yield waiting.join('');
      waiting = [];
    }
    yield waiting.join('');
  }
  await createFile(file, texts(), { mode: 0o600 }).catch(async (error) => {
    // Another program may have created it meanwhile.
    if (error.code === 'EEXIST') await assertNewFile(file);
    throw error;
  });
  return { file, statements: count };
}

async function statementsOf(changes: Changes, { database, manifest, rows, values }: SqlRequest) {
  assertRowsOnly(changes, rows);
  const tables = manifest.tables.flatMap((table): TableChanges[] => {
    const changed = rows.get(table.name);
    return changed ? [{ ...changed, table }] : [];
  });
  return await database.restore.changeStatements({ manifest, tables, values });
}

const STATEMENTS_AT_ONCE = 1000;
const MOST_NAMED = 5;

function assertRowsOnly({ tables, definitions, large_objects }: Changes, rows: Map<string, ComparedRows>): void {
  if (definitions.length > 0) {
    throw cannotWrite(
      `definitions differ (${boundedList(
        definitions.map(({ name }) => name),
        MOST_NAMED,
      )})`,
    );
  }
  const large = tables.find(({ table }) => !rows.get(table)?.isWhole);
  if (large) throw cannotWrite(`too many rows of ${large.table} differ`);
  if (large_objects > 0) throw cannotWrite('large objects differ');
}
