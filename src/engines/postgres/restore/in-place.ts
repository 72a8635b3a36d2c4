import { open, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { formatNumberOf } from '../../../amounts.ts';
import type { Mount } from '../../../process/runner.ts';
import { tablesText } from '../../divide-tables.ts';
import type { EngineContext, Replaced, RestoreRun } from '../../engine.ts';
import { readSchemas } from '../catalogue.ts';
import { connect } from '../connection/connect.ts';
import { PSQL_FLAGS, quoteName, quoteText } from '../connection/session.ts';
import { connectionOf } from '../connection/url.ts';
import { archiveDetails } from '../dump/archive.ts';
import { findClientTools, majorOf, toolsForArchive } from '../tools.ts';
import { dropsWithoutSchema } from './drops-without-schema.ts';
import { failureHint } from './failure-hint.ts';
import { materialize, sectionArgs } from './fill.ts';
import { COPY_FLAGS, feedTables } from './load-tables.ts';
import { restoreFailed } from './restore-failed.ts';
import { countedRows } from './rows-by-root.ts';

/**
 * Restores into the destination itself, in one transaction of one session: until its commit everybody else sees the
 * old database, and nothing of it is there after a failure.
 */
export async function restoreInPlace(context: EngineContext, run: RestoreRun): Promise<Replaced> {
  const { report, runner, signal } = context;
  const { url, plan, manifest, directory } = run;
  const details = archiveDetails(manifest);
  const tools = toolsForArchive(await findClientTools(context), manifest.tool_version);
  report({ event: 'step', step: 'prepare', state: 'started', label: `Prepare one transaction in ${url.display}` });
  const archive = await materialize(context, { ...run, tools, details });
  const folder: Mount = { path: directory, writable: true };
  const script = async (name: string, text: string): Promise<string> => {
    await writeFile(join(directory, name), text, { mode: 0o600 });
    return `--file=${join(directory, name)}`;
  };
  const section = async (name: 'pre-data' | 'data' | 'post-data', list = archive.list): Promise<string> => {
    const file = `${join(directory, name)}-${basename(list)}.sql`;
    const args = [
      ...sectionArgs({ fill: { details, plan }, archive: { ...archive, list }, section: name }),
      `--file=${file}`,
      archive.directory,
    ];
    const written = await runner.run({ file: tools.pg_restore, args, mounts: [folder] }, { signal });
    if (written.exitCode !== 0)
      throw restoreFailed('pg_restore cannot read the archive', written.stderr.trim().split('\n'));
    await silenceUnknownSettings(file, majorOf(plan.destination.server_version));
    return `--file=${file}`;
  };
  const tables = plan.tables.filter((table) => table.rows > 0);
  const scripts = [
    await script('clear.sql', await clearScript(context, run)),
    await section('pre-data'),
    ...COPY_FLAGS,
    await section('data'),
    await section('post-data'),
    await script('check.sql', checkScript(run)),
    ...(archive.eventTriggers ? [await section('post-data', archive.eventTriggers)] : []),
  ];
  report({ event: 'step', step: 'prepare', state: 'done', label: 'Prepared' });

  report({
    event: 'step',
    step: 'restore',
    state: 'started',
    label: `Restore ${formatNumberOf(plan.tables.length, 'table')} in one transaction`,
  });
  const total = tables.reduce((sum, table) => sum + table.file.bytes, 0);
  let done = 0;
  const { args, env, mounts } = connectionOf(url, {
    statement_timeout: '0',
    lock_timeout: '0',
    client_min_messages: 'warning',
  });
  const flags = [...PSQL_FLAGS, '--single-transaction', ...scripts];
  const child = runner.start(
    { file: tools.psql, args: [...flags, ...args], env, mounts: [...mounts, folder] },
    { signal },
  );
  child.stdout.resume();
  const feeding = feedTables({
    read: run.read,
    batch: tables,
    details,
    child,
    onBytes(current, bytes) {
      done += bytes;
      report({ event: 'progress', step: 'restore', done, total, unit: 'bytes', current });
    },
  });
  const [fed, ended] = await Promise.allSettled([feeding, child.ended]);
  signal.throwIfAborted();
  if (ended.status === 'rejected') throw ended.reason;
  if (ended.value.exitCode !== 0 && ended.value.exitCode !== null) {
    const words = ended.value.stderr.trim().split('\n').slice(0, 20);
    throw restoreFailed('The restore in one transaction failed', words, failureHint(words, details));
  }
  if (fed.status === 'rejected') throw fed.reason;
  report({
    event: 'step',
    step: 'restore',
    state: 'done',
    label: `Restored and checked ${tablesText(plan)}`,
  });
  return { swapMs: null, undoDatabase: null };
}

/** Settings that a script of pg_restore begins with, and the first server that knows them. */
const YOUNG_SETTINGS = [{ statement: 'SET transaction_timeout = 0;', since: 17 }];
const SCRIPT_HEAD_BYTES = 4096;

/** What an older server does not know would end the transaction; made a comment where it stands. */
async function silenceUnknownSettings(file: string, serverMajor: number): Promise<void> {
  await using script = await open(file, 'r+');
  const { buffer, bytesRead } = await script.read({ buffer: Buffer.alloc(SCRIPT_HEAD_BYTES) });
  const head = buffer.toString('latin1', 0, bytesRead);
  for (const { statement, since } of YOUNG_SETTINGS) {
    const at = head.indexOf(`\n${statement}`);
    if (at !== -1 && serverMajor < since) await script.write('-- ', at + 1, 'latin1');
  }
}

/** Everything of the user's goes, as it does when the whole database is replaced; `public` stays whose it was. */
async function clearScript(context: EngineContext, { url }: RestoreRun): Promise<string> {
  await using session = await connect(context, url);
  const present = await readSchemas(session);
  const [owned] = await session.query<{ owner: string; grants: { role: string | null; privilege: string }[] }>(`
    SELECT pg_get_userbyid(nspowner) AS owner, (SELECT coalesce(json_agg(json_build_object(
        'role', CASE WHEN a.grantee <> 0 THEN pg_get_userbyid(a.grantee) END, 'privilege', a.privilege_type)), '[]')
      FROM aclexplode(nspacl) a) AS grants
    FROM pg_namespace WHERE nspname = 'public'`);
  const grants = owned?.grants.map(
    ({ role, privilege }) => `GRANT ${privilege} ON SCHEMA public TO ${role === null ? 'PUBLIC' : quoteName(role)};`,
  );
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

/** The manifest's row counts, inside the transaction: a difference ends it. */
function checkScript({ plan, manifest }: RestoreRun): string {
  const checks = countedRows(plan, archiveDetails(manifest)).map(({ name, from, rows, words }) => {
    const message = quoteText(`${name} has other rows than it should: ${words}`);
    return `DO $check$ BEGIN IF (SELECT count(*) FROM ${from}) <> ${rows} THEN RAISE EXCEPTION USING MESSAGE = ${message}; END IF; END $check$;`;
  });
  return `${checks.join('\n')}\n`;
}
