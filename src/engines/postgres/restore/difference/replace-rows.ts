import type { Writable } from 'node:stream';
import type { EngineContext } from '../../../engine-context.ts';
import { restoreFailed } from '../../../shared/restore-failed.ts';
import { runTogether } from '../../../shared/run-together.ts';
import { quoteName, quotePath } from '../../connection/quote.ts';
import { connectionEnvironment } from '../../connection/url.ts';
import { type ArchiveDetails, END_OF_COPY } from '../../dump/archive.ts';
import { COPY_FLAGS, COPY_SETTINGS, dataOf } from '../rows/copy-commands.ts';
import { assertFed, copyCounts, textOf, write } from '../rows/feed-tables.ts';
import type { FillRun } from '../rows/filling.ts';
import type { Replacement } from './replaceable.ts';

/** Replaces rows with all indexes in place; a table waits for those that it refers to. */
export async function replaceRows(context: EngineContext, fill: FillRun, replacements: Replacement[]): Promise<void> {
  const turns = [...new Set(replacements.map(({ turn }) => turn))].sort((a, b) => a - b);
  for (const turn of turns) {
    const queue = replacements.filter((one) => one.turn === turn && one.bytes > 0).sort((a, b) => b.bytes - a.bytes);
    const worker = async (signal: AbortSignal): Promise<void> => {
      for (let next = queue.shift(); next && !signal.aborted; next = queue.shift()) {
        await replaceRowsOf({ ...context, signal }, fill, next);
      }
    };
    await runTogether(context.signal, Array<typeof worker>(Math.min(fill.cpus, queue.length)).fill(worker));
  }
}

/**
 * One transaction: the rows that only the base copy has are deleted before others are inserted, since two keys of
 * different text can be equal. As many rows as were found must be deleted, and exactly the keys of the snapshot be there
 * afterwards.
 */
async function replaceRowsOf(context: EngineContext, fill: FillRun, replacement: Replacement): Promise<void> {
  const { url, tools, details, settings } = fill;
  const { table, removed, added } = replacement;
  const connection = connectionEnvironment(url, { ...settings, ...COPY_SETTINGS });
  const commands = statementsOf(replacement, details).map((statement) => `--command=${statement}`);
  const args = [...COPY_FLAGS, '--single-transaction', ...commands, ...connection.args];
  const child = context.runner.start({ file: tools.psql, ...connection, args }, { signal: context.signal });
  const said = textOf(child.stdout);
  const [fed, ended] = await Promise.allSettled([feed(child.stdin, contentOf(replacement, details)), child.ended]);
  assertFed({ fed, ended, details, what: `The rows of ${table.name} could not be replaced` });
  const [, deleted = '0'] = /^DELETE (\d+)$/m.exec(said()) ?? [];
  const [, inserted = 0] = copyCounts(said());
  const [, present] = /^(\d+)$/m.exec(said()) ?? [];
  const lines = [
    ...(Number(deleted) === removed.length ? [] : [`${deleted} rows deleted, ${removed.length} differ`]),
    ...(inserted === added.length ? [] : [`${inserted} rows inserted, ${added.length} differ`]),
    ...(Number(present) === added.length ? [] : [`${present} of ${added.length} keys found`]),
  ];
  if (lines.length === 0) return;
  const hint = 'The base copy is not what its snapshot says. To load all tables, add --full.';
  throw restoreFailed(`The rows of ${table.name} could not be replaced`, lines, hint);
}

const TOUCHED = 'pg_temp.tool_touched';

function statementsOf({ table, key, removed, added }: Replacement, details: ArchiveDetails): string[] {
  const data = dataOf(table, details);
  const path = quotePath(data.schema, data.table);
  const columns = key.columns.map((name, index) => `${quoteName(name)} AS k${index}`);
  const keys = key.columns.map((_, index) => `k${index}`).join(', ');
  const isSame = key.columns
    .map((name, index) => `t.${quoteName(name)} ${key.operators[index]} s.k${index}`)
    .join(' AND ');
  return [
    `CREATE TEMPORARY TABLE tool_touched ON COMMIT DROP AS SELECT ${columns.join(', ')}, false AS is_old FROM ONLY ${path} WITH NO DATA`,
    `COPY ${TOUCHED} FROM STDIN`,
    `ANALYZE ${TOUCHED}`,
    ...(removed.length > 0 ? [`DELETE FROM ONLY ${path} AS t USING ${TOUCHED} AS s WHERE s.is_old AND ${isSame}`] : []),
    ...(added.length > 0 ? [`COPY ${path} (${data.columns.map(quoteName).join(', ')}) FROM STDIN`] : []),
    `SELECT count(*) FROM (SELECT DISTINCT ${keys} FROM ${TOUCHED}) AS s JOIN ONLY ${path} AS t ON ${isSame}`,
  ];
}

/** Yields the content of each COPY. */
function* contentOf({ table, key, removed, added }: Replacement, details: ArchiveDetails): Generator<string> {
  const { columns } = dataOf(table, details);
  const places = key.columns.map((name) => columns.indexOf(name));
  const keyOf = (row: string): string => {
    const values = row.split('\t');
    return places.map((place) => values[place]).join('\t');
  };
  for (const row of removed) yield `${keyOf(row)}\tt\n`;
  for (const row of added) yield `${keyOf(row)}\tf\n`;
  yield END_OF_COPY;
  if (added.length === 0) return;
  for (const row of added) yield `${row}\n`;
  yield END_OF_COPY;
}

const CHUNK_CHARACTERS = 256 * 1024;

async function feed(input: Writable, content: Iterable<string>): Promise<void> {
  input.on('error', () => {});
  let lines: string[] = [];
  let length = 0;
  const flush = async (): Promise<void> => {
    await write(input, Buffer.from(lines.join(''), 'latin1'));
    lines = [];
    length = 0;
  };
  for (const line of content) {
    lines.push(line);
    length += line.length;
    if (length > CHUNK_CHARACTERS) await flush();
  }
  await flush();
  input.end();
}
