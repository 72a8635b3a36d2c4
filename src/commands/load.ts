import { resolve } from 'node:path';
import type { Invocation, Outcome } from '../cli/command.ts';
import { EXIT, UserError } from '../errors.ts';
import { load, planLoad } from '../operations/load/load.ts';
import type { LoadRequest } from '../operations/load/planned-load.ts';
import { loadedText, loadPlanLines, loadQuestion } from '../report/load.ts';
import { toSelector } from './selector.ts';

interface Arguments {
  target: string;
  /** Index, id, or path of an SQL file. */
  snapshot?: string;
}

interface Options {
  destdb?: string;
  tables?: string[];
  dryRun?: boolean;
  undo: boolean;
  inPlace?: boolean;
  keepGoing?: boolean;
  acceptMissing?: boolean;
  dropForeignReferences?: boolean;
  original?: boolean;
  drop: boolean;
  source?: boolean;
  cpus?: number;
  unverifiedSources?: boolean;
  remoteTables?: boolean;
  events?: boolean;
  allowUntrusted?: boolean;
}

export async function run(invocation: Invocation<Arguments, Options>): Promise<Outcome> {
  const context = await invocation.context();
  const planned = await planLoad(context, toRequest(invocation));
  const { plan } = planned;
  if (invocation.options.dryRun) return { data: { dry_run: true, plan }, text: loadPlanLines(plan).join('\n') };
  await invocation.confirm(loadQuestion(plan));
  const result = await load(context, planned);
  return { data: result, text: loadedText(plan, result) };
}

function toRequest({ arguments: { target, snapshot }, options, cwd }: Invocation<Arguments, Options>): LoadRequest {
  const { destdb, tables, undo, inPlace, original, drop, source, cpus, unverifiedSources, allowUntrusted } = options;
  const { keepGoing, acceptMissing, dropForeignReferences, remoteTables, events } = options;
  const file = snapshot !== undefined && /\.sql$/i.test(snapshot) ? resolve(cwd, snapshot) : undefined;
  if (file === undefined && (source || !drop)) throw needsFile(source ? '--source' : '--no-drop');
  if (file !== undefined && tables) throw needsSnapshot('--tables', snapshot ?? '');
  if (file !== undefined && keepGoing) throw needsSnapshot('--keep-going', snapshot ?? '');
  if (file !== undefined && remoteTables) throw needsSnapshot('--remote-tables', snapshot ?? '');
  if (acceptMissing && !keepGoing) throw needsKeepGoing();
  return {
    target,
    ...(file !== undefined && { file, noDrop: !drop }),
    ...(file === undefined && snapshot !== undefined && { snapshot: toSelector(snapshot) }),
    ...(tables && { tables }),
    ...(destdb !== undefined && { destdb }),
    ...(inPlace && { inPlace }),
    ...(keepGoing && { keepGoing: acceptMissing ? 'swap' : 'inspect' }),
    ...(dropForeignReferences && { dropForeignReferences }),
    ...(original && { original }),
    ...(source && { source }),
    ...(unverifiedSources && { unverifiedSources }),
    ...(remoteTables && { remoteTables }),
    ...(events && { events }),
    ...(cpus !== undefined && { cpus }),
    ...(allowUntrusted && { allowUntrusted }),
    undo,
  };
}

function needsFile(flag: string): UserError {
  return new UserError(`${flag} is for SQL files, and no file was named`, {
    code: 'flag_needs_file',
    exit: EXIT.usage,
    hint: `tool load TARGET FILE.sql ${flag}`,
  });
}

function needsKeepGoing(): UserError {
  return new UserError('--accept-missing requires --keep-going', {
    code: 'flag_needs_flag',
    exit: EXIT.usage,
    hint: 'tool load TARGET --keep-going --accept-missing',
  });
}

function needsSnapshot(flag: string, file: string): UserError {
  return new UserError(`${flag} is for snapshots, and ${file} is an SQL file`, {
    code: 'flag_needs_snapshot',
    exit: EXIT.usage,
    hint: 'What a file holds cannot be known before it has run.',
  });
}
