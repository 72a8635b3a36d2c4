import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { splitName } from '../../../../text/table-names.ts';
import type { DatabaseUrl } from '../../../database-url.ts';
import type { EngineContext } from '../../../engine-context.ts';
import { restoreFailed } from '../../../shared/restore-failed.ts';
import { connect } from '../../connection/connect.ts';
import { quoteText } from '../../connection/quote.ts';
import { findClientTools, toolsForServer } from '../../connection/tools.ts';
import { CONTENTS } from '../../dump/archive-contents.ts';
import { runPgDump, tablePatterns } from '../../dump/run-pg-dump.ts';
import { failureWords } from '../restore-errors.ts';
import { tableIn } from '../stored-table.ts';

export interface PresentTablesRequest {
  url: DatabaseUrl;
  /** `schema.table` */
  tables: string[];
  directory: string;
}

/** The definitions of tables in the destination as pg_dump writes them, as it wrote those of the snapshot. */
export async function readPresentTables(context: EngineContext, { url, tables, directory }: PresentTablesRequest) {
  const wanted = tables.map((table) => ({ table, ...splitName(table) }));
  const given = JSON.stringify(wanted.map(({ schema, rest }) => ({ schema, name: rest })));
  const { version, present } = await facts(context, { url, given });
  const existing = wanted.filter((one) =>
    present.some(({ schema, name }) => schema === one.schema && name === one.rest),
  );
  const definitions = new Map<string, string | null>(tables.map((table) => [table, null]));
  if (existing.length === 0) return definitions;
  const patterns = tablePatterns(existing.map(({ schema, rest }) => ({ schema, name: rest })));
  const archive = join(directory, 'present');
  await mkdir(directory, { recursive: true });
  const result = await runPgDump(context, {
    ...{ url, archive, settings: {}, tools: toolsForServer(await findClientTools(context), version) },
    flags: ['--schema-only', ...patterns.map((pattern) => `--table=${pattern}`)],
  });
  if (result.exitCode !== 0) {
    throw restoreFailed(`pg_dump failed on ${url.display}`, failureWords('pg_dump', result).slice(0, 20));
  }
  const contents = await readFile(join(archive, CONTENTS));
  for (const { table } of existing) definitions.set(table, tableIn(contents, table)?.structure ?? null);
  return definitions;
}

async function facts(context: EngineContext, { url, given }: { url: DatabaseUrl; given: string }) {
  await using session = await connect(context, url);
  const [server] = await session.query<{ version: string }>(`SELECT current_setting('server_version') AS version`);
  const present = await session.query<{ schema: string; name: string }>(`
    SELECT n.nspname AS schema, c.relname AS name FROM json_to_recordset(${quoteText(given)}) AS j (schema text, name text)
      JOIN pg_namespace n ON n.nspname = j.schema JOIN pg_class c ON c.relnamespace = n.oid AND c.relname = j.name
    WHERE c.relkind IN ('r', 'p')`);
  return { version: server?.version ?? '', present };
}
