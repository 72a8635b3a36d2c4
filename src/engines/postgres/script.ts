import { resolve } from 'node:path';
import { withStep } from '../../runtime/events.ts';
import type { DatabaseUrl } from '../database-url.ts';
import type { EngineContext } from '../engine-context.ts';
import type { Replaced, ScriptRun } from '../facets/restore.ts';
import { refuseLeaving, scriptFailed } from '../shared/script.ts';
import { PSQL_FLAGS } from './connection/session.ts';
import { connectionOf, withDatabase } from './connection/url.ts';
import { besideDestination } from './restore/restore.ts';
import { anyClientTools } from './tools.ts';

export async function runScript(context: EngineContext, run: ScriptRun): Promise<Replaced> {
  const { url, file, asItIs, undo, role } = run;
  await refuseOtherDatabases(file);
  if (asItIs) {
    await runFile(context, url, file);
    return { swapMs: null, undoDatabase: null };
  }
  return besideDestination(context, { url, undo, role, locale: null }, ({ fresh }) =>
    runFile(context, withDatabase(url, fresh), file),
  );
}

/** In one transaction: a failed script has no effect. */
async function runFile(context: EngineContext, url: DatabaseUrl, file: string): Promise<void> {
  const { report, runner, signal } = context;
  const tools = await anyClientTools(context);
  const step = { step: 'restore', label: `Run ${file}`, done: `Ran ${file}` };
  await withStep(report, step, async () => {
    const { args, env, mounts } = connectionOf(url, { client_min_messages: 'warning' });
    const flags = [...PSQL_FLAGS, '--set=ON_ERROR_STOP=1', '--single-transaction', `--file=${resolve(file)}`];
    const { exitCode, stderr } = await runner.run(
      { file: tools.psql, args: [...flags, ...args], env, mounts: [...mounts, { path: resolve(file) }] },
      { signal },
    );
    if (exitCode !== 0) throw scriptFailed(file, { stderr, hint: FAILED_HINT });
  });
}

const FAILED_HINT =
  'It ran in one transaction: the database is unchanged. Statements that refuse one (VACUUM, CREATE DATABASE) cannot be in it.';

/** `\connect` would leave the database. */
async function refuseOtherDatabases(file: string): Promise<void> {
  let inCopy = false;
  await refuseLeaving(file, {
    what: 'connects to another database',
    origin: 'pg_dump writes it with --create.',
    leaves(line) {
      if (inCopy) inCopy = line !== '\\.';
      else if (/^\s*\\(c|connect)\b/.test(line)) return true;
      else inCopy = /^copy\s.*\sfrom\s+stdin\b/i.test(line);
      return false;
    },
  });
}
