import { resolve } from 'node:path';
import { withStep } from '../../runtime/events.ts';
import type { DatabaseUrl } from '../database-url.ts';
import type { EngineContext } from '../engine-context.ts';
import type { Replaced, ScriptRun } from '../facets/restore.ts';
import { refuseLeaving, scriptFailed } from '../shared/script.ts';
import { connectionOf } from './connection/client-options.ts';
import { connectToServer } from './connection/connect.ts';
import { withDatabase } from './connection/url.ts';
import { withEventsDisabled } from './definitions/events.ts';
import { readBelongings } from './definitions/foreign-keys.ts';
import { readCollations, readServer } from './introspect.ts';
import { besideDestination } from './restore/restore.ts';
import { clientFor } from './tools.ts';

export async function runScript(
  context: EngineContext,
  { url, file, asItIs, undo, directory, events }: ScriptRun,
): Promise<Replaced> {
  await refuseOtherDatabases(file);
  if (asItIs) {
    await runFile(context, { url, file, directory });
    return { swapMs: null, undoDatabase: null };
  }
  const collations = await collationsFor(context, url);
  return besideDestination(context, { url, undo, collations }, async ({ fresh, server, context: running }) => {
    await runFile(running, { url: withDatabase(url, fresh), file, directory });
    const code = await readBelongings(server, fresh, () => {});
    return { code: events ? code : withEventsDisabled(code), definers: 'theirs' };
  });
}

async function collationsFor(context: EngineContext, url: DatabaseUrl) {
  await using server = await connectToServer(context, url);
  const [own] = await server.query<{ charset: string; collation: string }>(
    'SELECT @@character_set_server AS charset, @@collation_server AS collation',
  );
  const old = await readCollations(server, url.database ?? '');
  return old ?? own ?? { charset: 'utf8mb4', collation: 'utf8mb4_general_ci' };
}

/** The client opens the file itself: streaming through Node or Docker's client is slow. */
const FROM_FILE = 'exec "$@" < "$0" > /dev/null';

/** Some versions drop comments of routines by default. */
const CLIENT_FLAGS = ['--batch', '--comments'];

async function runFile(
  context: EngineContext,
  { url, file, directory }: Pick<ScriptRun, 'url' | 'file' | 'directory'>,
): Promise<void> {
  const { report, runner, signal } = context;
  const step = { step: 'restore', label: `Run ${file}`, done: `Ran ${file}` };
  await withStep(report, step, async () => {
    await using server = await connectToServer(context, url);
    const tool = await clientFor(context, (await readServer(server)).flavour);
    const { args, env, mounts } = await connectionOf(url, { flavour: tool.flavour, directory });
    const path = resolve(file);
    const { exitCode, stderr } = await runner.run(
      {
        file: '/bin/sh',
        args: ['-c', FROM_FILE, path, tool.path, ...args, ...CLIENT_FLAGS, url.database ?? ''],
        env,
        mounts: [...mounts, { path }],
      },
      { signal },
    );
    if (exitCode !== 0) throw scriptFailed(file, { stderr, hint: FAILED_HINT });
  });
}

const FAILED_HINT =
  'In a new database nothing of it is seen. With --no-drop or --source what ran before the failure has been done: MySQL and MariaDB cannot roll back CREATE and ALTER TABLE.';

/** `USE` and `CREATE DATABASE` would leave the database. */
function refuseOtherDatabases(file: string): Promise<void> {
  return refuseLeaving(file, {
    what: 'leaves the database',
    origin: 'mysqldump writes it with --databases.',
    leaves: (line) => /^\s*(?:\/\*!\d*\s*)?(?:use\s+[`\w]|\\u\s|(?:create|drop)\s+(?:database|schema)\b)/i.test(line),
  });
}
