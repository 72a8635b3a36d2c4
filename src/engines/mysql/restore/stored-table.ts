import { splitName } from '../../../text/table-names.ts';
import type { DatabaseUrl } from '../../database-url.ts';
import type { EngineContext } from '../../engine-context.ts';
import type { StoredTable, TableRequest } from '../../facets/restore.ts';
import { checkDefinitions } from '../catalog/definitions/check-definitions.ts';
import type { Definitions, TableDefinition } from '../catalog/definitions/definitions.ts';
import { withDanglingApart } from '../catalog/definitions/foreign-keys.ts';
import { withSequencesOwn } from '../catalog/definitions/sequence-defaults.ts';
import { showTables } from '../catalog/definitions/show-tables.ts';
import { splitTable } from '../catalog/definitions/statement-text.ts';
import { entriesOf, namesIn, withoutTexts } from '../catalog/definitions/table-entries.ts';
import { readTableList } from '../catalog/tables.ts';
import { connect } from '../connection/connect.ts';
import { SqlError } from '../connection/session-errors.ts';
import { readDefinitionsFile } from './rows/fill.ts';

export async function readTable({ manifest, table, read }: TableRequest): Promise<StoredTable | null> {
  const { definitions } = await readDefinitionsFile(manifest, read, { remoteTables: true });
  const { rest } = splitName(table);
  const own = definitions.tables.find(({ name }) => name === rest);
  if (!own) return null;
  const text = textOf(own);
  return { text, structure: textOf({ ...own, create: withoutCounter(own.create) }), key: keyIn(own.create) };
}

function textOf({ create, indexes, foreignKeys }: TableDefinition): string {
  const clauses = [...indexes.flat(), ...foreignKeys];
  return [create, ...clauses.map((clause) => clause.trim())].join('\n').concat('\n');
}

/** Matches the options behind the columns. */
const COUNTER = /( ENGINE ?= ?\w+) AUTO_INCREMENT ?= ?(\d+)/;

export function withoutCounter(create: string): string {
  const { tail } = entriesOf(create);
  return create.slice(0, create.length - tail.length) + tail.replace(COUNTER, '$1');
}

/** The next value of AUTO_INCREMENT in a definition; `1` where it has none. */
export function counterOf(create: string): string {
  return COUNTER.exec(entriesOf(create).tail)?.[2] ?? '1';
}

export interface PresentTablesRequest {
  url: DatabaseUrl;
  /** `schema.table`, of the snapshot. */
  tables: string[];
}

/** The tables of a database as a snapshot would have them; all are read, since foreign keys name others. */
export async function readPresentTables(context: EngineContext, { url, tables }: PresentTablesRequest) {
  const database = url.database ?? '';
  await using session = await connect(context, url);
  const listed = (await readTableList(session, database)).filter(({ type }) => type === 'BASE TABLE');
  const shown = await showTables(
    session,
    database,
    listed.map(({ name }) => name),
  );
  const read = listed.flatMap(({ name }, at) => {
    const create = shown[at] ?? '';
    return create instanceof SqlError ? [] : [splitTable(name, create)];
  });
  const wanted = new Set(tables.map((table) => splitName(table).rest));
  const apart = withDanglingApart({ ...NO_CODE, tables: read });
  const own = { ...apart, tables: apart.tables.filter(({ name }) => wanted.has(name)) };
  const checked = withSequencesOwn(checkDefinitions(own, database, new Set()), database);
  const found = new Map(checked.tables.map((table) => [table.name, table]));
  return new Map(
    tables.map((table) => {
      const present = found.get(splitName(table).rest);
      return [table, present ? textOf({ ...present, create: withoutCounter(present.create) }) : null];
    }),
  );
}

const NO_CODE: Omit<Definitions, 'tables'> = {
  ...{ charset: 'utf8mb4', collation: 'utf8mb4_general_ci' },
  ...{ routines: [], views: [], triggers: [], events: [], sequences: [] },
};

function keyIn(create: string): string[] {
  return namesIn(withoutTexts(entriesOf(create).entries.find((entry) => entry.startsWith('PRIMARY KEY ')) ?? ''));
}
