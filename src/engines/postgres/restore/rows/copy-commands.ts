import { randomBytes } from 'node:crypto';
import { bytesOfTable, type ManifestFile, type ManifestTable } from '../../../../repository/manifest/manifest.ts';
import { quoteName, quotePath } from '../../connection/quote.ts';
import { PLAIN_MEANING, PSQL_FLAGS } from '../../connection/session.ts';
import { type ClientTools, knowsRestrict } from '../../connection/tools.ts';
import type { ArchiveDetails } from '../../dump/archive.ts';

/** Rows that one COPY loads: all of a table, or those of some of its parts. */
export interface RowsToLoad {
  table: ManifestTable;
  files: ManifestFile[];
  isWhole: boolean;
}

/**
 * Commands are arguments, and standard input holds rows alone: whatever the rows are, psql never reads a command from
 * them. It ends at the first error. `--quiet` would hide the count of each COPY.
 */
export const COPY_FLAGS = [...PSQL_FLAGS.filter((flag) => flag !== '--quiet'), '--set=ON_ERROR_STOP=1'];

export const COPY_SETTINGS = {
  search_path: 'pg_catalog',
  row_security: 'off',
  xmloption: 'content',
  ...PLAIN_MEANING,
  client_min_messages: 'warning',
};

export interface CopyCommands {
  args: string[];
  /** Returns the text before the rows of a table in the stream; `null` when the commands are arguments. */
  before: ((index: number) => string) | null;
  /** Text after all rows. */
  after: string;
}

/** A system takes no longer argument than 128 kB (Linux), and in all, with the environment, 1 MB (macOS). */
const MOST_BYTES_OF_ONE = 100 * 1024;

export const MOST_BYTES_OF_ALL = 256 * 1024;

/**
 * Returns the COPY commands for psql. If they are too long for arguments, they stand in the stream before their rows,
 * of which a RowGuard lets none pass that could end its COPY; a psql that knows `\restrict` runs nothing but SQL there.
 */
export function copyCommands(commands: string[], tools: ClientTools): CopyCommands {
  const sizes = commands.map((command) => Buffer.byteLength(command));
  const all = sizes.reduce((sum, size) => sum + size, 0);
  if (all <= MOST_BYTES_OF_ALL && sizes.every((size) => size <= MOST_BYTES_OF_ONE)) {
    return { args: commands.map((command) => `--command=${command}`), before: null, after: '' };
  }
  const key = randomBytes(24).toString('hex');
  const [restrict, after] = knowsRestrict(tools) ? [`\\restrict ${key}\n`, `\\unrestrict ${key}\n`] : ['', ''];
  return { args: ['--file=-'], before: (index) => `${index === 0 ? restrict : ''}${commands[index]};\n`, after };
}

/** For fewer bytes, new files of table, TOAST and indexes cost the server several times what the rows do. */
const FREEZE_FROM_BYTES = 256 * 1024;

/**
 * FREEZE writes the rows as the vacuum would leave them, so that they are not rewritten later; it requires the table
 * emptied in the same transaction. Small tables, which are empty already, are left to the vacuum. A table of an
 * extension keeps the rows that the extension put there, and a partitioned table those of its other partitions. Several
 * sessions cannot freeze the rows of one table.
 */
export function copyStatement({ table, isWhole }: RowsToLoad, details: ArchiveDetails): string {
  const data = dataOf(table, details);
  const name = pathOf(data);
  const columns = data.columns.length > 0 ? ` (${data.columns.map(quoteName).join(', ')})` : '';
  const copy = `COPY ${name}${columns} FROM STDIN`;
  const canFreeze = isWhole && !data.of_extension && !data.root;
  return canFreeze && bytesOfTable(table) >= FREEZE_FROM_BYTES ? `TRUNCATE ONLY ${name}; ${copy} WITH (FREEZE)` : copy;
}

type TableData = ArchiveDetails['data'][string];

export function dataOf({ name, file }: ManifestTable, { data }: ArchiveDetails): TableData {
  const found = data[file.name];
  if (!found) throw new Error(`the manifest has no columns for ${name}`);
  return found;
}

export function pathOf(data: Pick<TableData, 'schema' | 'table' | 'root'>): string {
  const { schema, table } = data.root ?? data;
  return quotePath(schema, table);
}
