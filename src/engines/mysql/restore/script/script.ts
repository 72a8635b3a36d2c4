import { UserError } from '../../../../runtime/errors.ts';
import type { DatabaseUrl } from '../../../database-url.ts';
import type { EngineContext } from '../../../engine-context.ts';
import type { ScriptFacts, ScriptResult, ScriptRun } from '../../../facets/restore.ts';
import { withFileStep } from '../../../shared/script/run-file-step.ts';
import { withEventsDisabled } from '../../catalog/definitions/events.ts';
import { readDependents } from '../../catalog/definitions/foreign-keys.ts';
import { readCollations } from '../../catalog/introspect.ts';
import { connectToServer } from '../../connection/connect.ts';
import { withDatabase } from '../../connection/url.ts';
import { loadThroughShadow } from '../restore.ts';
import { acceptedStatements, UNSAFE_CHARSETS } from './accept-statement.ts';
import { currentDatabase, runFile } from './run-file.ts';

const REACH = {
  code: 'script_reach',
  message: 'The file runs with all rights of the user: statements that name another database change it',
};

/** Reads a file without running it, and refuses what is not SQL for the confirmed database. */
export async function checkScript(context: EngineContext, { url, file }: Pick<ScriptRun, 'url' | 'file'>) {
  const { charset = '' } = url.parameters;
  if (UNSAFE_CHARSETS.test(charset)) {
    throw new UserError(
      'script_refused',
      `An SQL file in the character set ${charset} cannot be split into statements`,
      { hint: 'Write the file in utf8mb4, and remove charset from the URL.' },
    );
  }
  const facts: ScriptFacts = { statements: 0, rollsBack: false, warnings: [REACH] };
  const sqlMode = await readMode(context, url);
  for await (const part of acceptedStatements(file, sqlMode)) {
    if (part.kind === 'statement') facts.statements = part.number;
  }
  return facts;
}

export async function readMode(context: EngineContext, url: DatabaseUrl): Promise<string> {
  await using server = await connectToServer(context, url, { settings: [] });
  return (await currentDatabase(server)).mode;
}

export async function runScript(context: EngineContext, run: ScriptRun): Promise<ScriptResult> {
  const { url, file, asItIs, undo, events } = run;
  await checkScript(context, run);
  const runIn = (running: EngineContext, database: DatabaseUrl): Promise<number> =>
    withFileStep(running, file, () => runFile(running, { url: database, file }));
  if (asItIs) return { swapMs: null, undoDatabase: null, statements: await runIn(context, url) };
  let statements = 0;
  const collations = await collationsFor(context, url);
  const replaced = await loadThroughShadow(
    context,
    { url, undo, collations },
    async ({ shadow, server, context: running }) => {
      statements = await runIn(running, withDatabase(url, shadow));
      const code = await readDependents(server, shadow, () => {});
      return { code: events ? code : withEventsDisabled(code), definers: 'theirs' };
    },
  );
  return { ...replaced, statements };
}

async function collationsFor(context: EngineContext, url: DatabaseUrl) {
  await using server = await connectToServer(context, url);
  const [own] = await server.query<{ charset: string; collation: string }>(
    'SELECT @@character_set_server AS charset, @@collation_server AS collation',
  );
  const old = await readCollations(server, url.database ?? '');
  return old ?? own ?? { charset: 'utf8mb4', collation: 'utf8mb4_general_ci' };
}
