import { type Database, openDatabase } from '../../engines/open-database.ts';
import type { AutomaticSave } from '../../results/load-results.ts';
import { SAVES_BEFORE, type SaveBefore } from '../../results/saves/saves-before.ts';
import type { Context } from '../../runtime/context.ts';
import { toUserError, UserError } from '../../runtime/errors.ts';
import { startStep } from '../../runtime/events.ts';
import { recorded } from '../history/recorded.ts';
import { readFingerprints } from './fingerprints.ts';
import { removeBeyondRules, type SavedBranch, storeSave } from './save.ts';
import { makerOf } from './saves.ts';
import { automaticSaveSteps, skippedText } from './text.ts';

export interface LosingOperation {
  target: string;
  /** The destination, which exists. */
  database: Database;
  sizeBytes: number | null;
  before: SaveBefore;
  /** The present state becomes the undo copy. */
  keeps: boolean;
  /** The present undo copy is dropped. */
  dropsUndoCopy: boolean;
  /** The database is a branch. */
  branch?: SavedBranch | undefined;
}

/** Bytes of a database that are read, compared and compressed in a second on two cores. */
const BYTES_PER_SECOND = 60_000_000;

/** Reports whether this kind of operation makes automatic saves. Default: all kinds, in CI none. */
export function savesBefore({ configuration, environment }: Context, before: SaveBefore): boolean {
  const { saves } = configuration.settings;
  const isCi = !['', '0', 'false'].includes(environment.CI ?? '');
  return (saves.before ?? (isCi ? [] : SAVES_BEFORE)).includes(before);
}

interface LosingPlan {
  automatic_saves?: AutomaticSave[] | undefined;
  steps: string[];
  warnings?: { code: string; message: string }[] | undefined;
}

/** Adds the saves of the states that the operation would lose to its plan. */
export async function withAutomaticSaves<Plan extends LosingPlan>(
  context: Context,
  operation: LosingOperation,
  plan: Plan,
): Promise<Plan> {
  const states = await findLostStates(context, operation);
  if (states.length === 0) return plan;
  const saves = states.map((state) => planOf(context, operation, state));
  const { max_duration } = context.configuration.settings.saves;
  const skipped = saves
    .filter((save) => save.skipped)
    .map((save) => ({ code: 'save_skipped', message: skippedText(operation.target, save, max_duration) }));
  return {
    ...plan,
    automatic_saves: saves,
    steps: [...automaticSaveSteps(saves), ...plan.steps],
    ...(skipped.length > 0 && { warnings: [...(plan.warnings ?? []), ...skipped] }),
  };
}

interface LostState {
  database: Database;
  name: string;
  sizeBytes: number;
  /** Time of the state, of an undo copy. */
  at?: string;
}

function planOf(
  { configuration }: Context,
  { before }: LosingOperation,
  { name, sizeBytes }: LostState,
): AutomaticSave {
  const { max_duration } = configuration.settings.saves;
  const duration_ms = Math.ceil((sizeBytes / BYTES_PER_SECOND) * 1000);
  const skipped = duration_ms > max_duration * 1000;
  return { database: name, before, size_bytes: sizeBytes, duration_ms, ...(skipped && { skipped }) };
}

/** The undo copy, if it goes, and the present state, unless that becomes the undo copy and can be saved when it goes. */
async function findLostStates(context: Context, operation: LosingOperation): Promise<LostState[]> {
  const { database, sizeBytes, before, keeps, dropsUndoCopy } = operation;
  if (!savesBefore(context, before)) return [];
  const { engine, url } = database;
  const isReadable = engine.capabilities.undoCopyIsDatabase;
  const undoCopy = isReadable && dropsUndoCopy ? await findRetired(context, database) : null;
  const present = { database, name: url.database ?? url.display, sizeBytes: sizeBytes ?? 0 };
  return [...(undoCopy ? [undoCopy] : []), ...(isReadable && keeps ? [] : [present])];
}

async function findRetired(context: Context, { engine, url, restore }: Database): Promise<LostState | null> {
  try {
    const { retires } = await restore.findUndoCopy();
    if (!retires) return null;
    const { undoDatabase: name, sizeBytes, replacedAt: at } = retires;
    return { database: openDatabase(context, engine.withDatabase(url, name)), name, sizeBytes, at };
  } catch (error) {
    if (error instanceof UserError && error.code === 'nothing_to_undo') return null;
    throw error;
  }
}

/**
 * Saves the states that the operation would lose, but those that are proved to be as they were loaded, or equal a save.
 * Throws where that fails, before anything is changed. Steps: `save`.
 */
export async function applyAutomaticSaves(context: Context, operation: LosingOperation): Promise<void> {
  for (const state of await findLostStates(context, operation)) {
    if (!planOf(context, operation, state).skipped) await saveState(context, operation, state);
  }
}

async function saveState(
  given: Context,
  { target, before, database: destination, branch }: LosingOperation,
  { database, name, at }: LostState,
): Promise<void> {
  const done = startStep(given.report, 'save', `Save ${name}`);
  const context: Context = { ...given, report: (event) => event.event === 'warning' && given.report(event) };
  const save = `auto-${at ?? given.clock().toISOString()}`;
  const work = () =>
    storeSave(context, {
      ...{ target, name: save, note: null, database, branch, automatic: before, remains: database === destination },
      ...(at !== undefined && { at }),
    });
  // A run that was killed when it had stored its save has removed no older one.
  const settle = () =>
    removeBeyondRules(context, { target, maker: makerOf({ automatic: before, ...(branch && { branch }) }) });
  try {
    const loads = await readFingerprints(context, target);
    if (await database.dump.isUnchanged(loads.map(({ fingerprint }) => fingerprint))) {
      await settle();
      done(`${name} is as it was loaded: not saved`);
      return;
    }
    const stored = await recorded(
      context,
      { operation: 'save', target, save, from: database.url.display, ...(branch && { branches: [branch.name] }) },
      { work, facts: (result) => ({ snapshot: result?.save.id ?? null, size_bytes: result?.save.size_bytes ?? null }) },
    );
    if (!stored) await settle();
    done(stored ? `Saved ${name} as ${save}` : `${name} equals a save: not saved again`);
  } catch (cause) {
    given.signal.throwIfAborted();
    const error = toUserError(cause);
    if (error.code !== 'save_exists') throw notSaved(name, error);
    // By an operation that did not come to drop it.
    done(`${name} is saved as ${save}`);
  }
}

function notSaved(name: string, cause: UserError): UserError {
  const { message, details } = cause;
  return new UserError('automatic_save_failed', `${name} could not be saved, and the operation would lose its state`, {
    details: [message, ...details],
    hint: 'Nothing was changed. Go on without the save: --no-autosave, or set saves.before in the configuration.',
    cause,
  });
}
