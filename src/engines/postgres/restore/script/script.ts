import type { DatabaseUrl } from '../../../database-url.ts';
import type { EngineContext } from '../../../engine-context.ts';
import type { ScriptFacts, ScriptResult, ScriptRun } from '../../../facets/restore.ts';
import { withFileStep } from '../../../shared/script/run-file-step.ts';
import { readScript } from '../../../shared/script/split-script.ts';
import { withDatabase } from '../../connection/url.ts';
import { reachesServer } from '../../server/rights.ts';
import { loadThroughShadow } from '../shadow-load.ts';
import { endsTransaction } from './file-settings.ts';
import { runFile } from './run-file.ts';
import { createSplitter } from './split.ts';

const REACH = {
  code: 'script_reach',
  message: 'The file runs with all rights of the user, who may read and write files of the server and run its programs',
};

/** Reads a file without running it, and refuses what is not SQL for the confirmed database. */
export async function checkScript(context: EngineContext, { url, file }: Pick<ScriptRun, 'url' | 'file'>) {
  const facts = await readFacts(file);
  return { ...facts, warnings: (await reachesServer(context, url)) ? [REACH] : [] };
}

async function readFacts(file: string): Promise<Omit<ScriptFacts, 'warnings'>> {
  const facts = { statements: 0, rollsBack: true };
  for await (const part of readScript(file, createSplitter({ asFile: true }))) {
    if (part.kind === 'rows') continue;
    facts.statements = part.number;
    if (endsTransaction(part)) facts.rollsBack = false;
  }
  return facts;
}

export async function runScript(context: EngineContext, run: ScriptRun): Promise<ScriptResult> {
  const { url, file, asItIs, undo, role } = run;
  await readFacts(file);
  const runIn = (database: DatabaseUrl): Promise<number> =>
    withFileStep(context, file, () => runFile(context, { url: database, file }));
  if (asItIs) return { swapMs: null, undoDatabase: null, statements: await runIn(url) };
  let statements = 0;
  const replaced = await loadThroughShadow(context, { url, undo, role, locale: null }, async ({ shadow }) => {
    statements = await runIn(withDatabase(url, shadow));
  });
  return { ...replaced, statements };
}
