import { isDeepStrictEqual } from 'node:util';
import type { Database } from '../../engines/open-database.ts';
import { filesOfTable, type Manifest } from '../../repository/manifest/manifest.ts';
import type { SavePlan, SaveResult } from '../../results/save-results.ts';
import type { SaveBefore } from '../../results/saves-before.ts';
import type { Context } from '../../runtime/context.ts';
import { UserError } from '../../runtime/errors.ts';
import { withStep } from '../../runtime/events.ts';
import { isVisibleName, LONGEST_VISIBLE_NAME } from '../../text/visible-name.ts';
import { readEvidence, rowReading, writeEvidence } from '../build/evidence.ts';
import { cpusFor } from '../cpus-for.ts';
import { recorded } from '../history/recorded.ts';
import { chooseDestination, openDestination } from '../load/destination.ts';
import { type Planned, planOutdated } from '../planned.ts';
import { removeFrom } from '../remove/remove.ts';
import { localRepository } from '../snapshots/local-repository.ts';
import { signed } from '../snapshots/signatures.ts';
import { manifestOf, storeDump } from '../snapshots/store-dump.ts';
import { withTargetUrls } from '../targets/with-target-urls.ts';
import { savesBeyondRules } from './prune-saves.ts';
import { isReservedName, listSaves, saveRow, WHOLE_DATABASE } from './saves.ts';

export interface SaveRequest {
  target: string;
  /** Default: the time. */
  name?: string;
  note?: string;
  cpus?: number;
  /** Reads all rows, also those that are proved to be unchanged since the last save. */
  full?: boolean;
}

export type PlannedSave = Planned<SaveRequest, SavePlan>;

/** Plans a save of the destination; connects to nothing. Throws where the name cannot be used. */
export async function planSave(given: Context, request: SaveRequest): Promise<PlannedSave> {
  const { target, note = null, full } = request;
  const context = await withTargetUrls(given, target, { source: false });
  const { url } = openDestination(context, chooseDestination(context, request));
  const planned_at = context.clock().toISOString();
  const name = request.name ?? planned_at;
  await assertUsableName(context, { target, name });
  const { why: all_read } = await readEvidence(context, { target, save: true, full });
  return { request, plan: { target, name, note, destination: url.display, all_read }, planned_at };
}

/** Stores the present state of the destination, then removes the saves that the rules do not keep. Steps: `connect`, `dump`, `store`. */
export function applySave(given: Context, { request, plan }: PlannedSave): Promise<SaveResult> {
  const { target, name: save, destination: from } = plan;
  const work = async (): Promise<SaveResult> => {
    const context = await withTargetUrls(given, target, { source: false });
    const database = openDestination(context, chooseDestination({ ...context, report: () => {} }, request));
    if (database.url.display !== from) {
      throw planOutdated(`The destination is ${database.url.display}, no longer ${from},`);
    }
    await assertUsableName(context, { target, name: save });
    const { cpus, full } = request;
    return storeSave(context, { target, name: save, note: plan.note, database, ...{ cpus, full } });
  };
  const facts = ({ save: { id, size_bytes } }: SaveResult) => ({ snapshot: id, size_bytes });
  return recorded(given, { operation: 'save', target, save, from }, { work, facts });
}

interface SaveWork {
  target: string;
  name: string;
  note: string | null;
  database: Database;
  /** The operation that makes it. Absent: a person does. */
  automatic?: SaveBefore;
  /** Time of the state. Default: now. */
  at?: string;
  /** The database remains: the next save of it need not read the same rows. Default `true`. */
  remains?: boolean;
  cpus?: number | undefined;
  full?: boolean | undefined;
}

/** Resolves with `null` where an automatic save would equal another one. */
export async function storeSave(
  context: Context,
  work: SaveWork & { automatic: SaveBefore },
): Promise<SaveResult | null>;
export async function storeSave(context: Context, work: SaveWork): Promise<SaveResult>;
export async function storeSave(
  context: Context,
  { target, name, note, database, automatic, at, remains = true, cpus, full }: SaveWork,
): Promise<SaveResult | null> {
  const { engine } = database;
  const repository = localRepository(context);
  const earlier = await repository.listSaves(target);
  // The first save has most content of the snapshot that was loaded.
  const [previous = (await repository.list(target))[0]] = earlier;
  const last = await readEvidence(context, { target, save: true, full });
  const created = at ?? context.clock().toISOString();
  const done = await repository.withoutLeftovers(async () => {
    const stored = await storeDump({
      ...{ database, repository, previous, schemaConfig: WHOLE_DATABASE, evidence: last.evidence },
      keepsStatistics: true,
      cpus: cpus ?? cpusFor(context, target),
    });
    const content: Manifest = {
      ...manifestOf(engine.id, stored),
      ...{ target, created_at: created, sanitized: false, note, save: name, ...(automatic && { automatic }) },
    };
    if (automatic && earlier.some((other) => hasContentOf(other, content))) return null;
    const step = { step: 'store', label: 'Store the save', done: `Stored save ${name}` };
    return withStep(context.report, step, async () => {
      context.signal.throwIfAborted();
      // Another process may have used it meanwhile.
      await assertUsableName(context, { target, name });
      const written = await signed(context, content);
      await repository.write(written);
      const reading = stored.reading && rowReading(stored.reading, last.why);
      const { evidence } = stored;
      if (evidence !== undefined && remains) {
        const fullAt = (reading?.all_read === null && last.fullAt) || created;
        const about = { target, save: true, engine: engine.id, snapshot: content.id };
        await writeEvidence(context, { ...about, fullAt, evidence });
      }
      return { manifest: written, reading };
    });
  });
  if (!done) return null;
  const { manifest, reading } = done;
  const saves = await repository.listSaves(target);
  // It is not the newest where a clock was set back.
  const removed = (await savesBeyondRules(context, saves)).filter(({ id }) => id !== manifest.id);
  if (removed.length > 0) await removeFrom(context, { from: ['local'], remote: null, manifests: removed });
  const stays = saves.filter((save) => !removed.includes(save));
  const index = stays.findIndex(({ id }) => id === manifest.id);
  const row = { ...saveRow(context, manifest, index), ...(reading && { reading }) };
  return { target, save: row, removed: removed.map(({ save }) => save ?? '') };
}

/** The same rows and definitions. */
function hasContentOf(one: Manifest, other: Manifest): boolean {
  const contents = ({ tables, files }: Manifest): string[] => [
    ...tables.map((table) => [table.name, ...filesOfTable(table).map(({ sha256 }) => sha256)].join(' ')),
    ...files.map(({ name, sha256 }) => `${name} ${sha256}`),
  ];
  return isDeepStrictEqual(contents(one), contents(other));
}

async function assertUsableName(context: Context, { target, name }: { target: string; name: string }): Promise<void> {
  if (!isVisibleName(name) || isReservedName(name)) {
    const shown = JSON.stringify(name.slice(0, LONGEST_VISIBLE_NAME));
    throw new UserError('invalid_value', `${shown} is not a name for a save`, {
      hint: `Use at most ${LONGEST_VISIBLE_NAME} visible characters, but not load, previous or a number alone.`,
    });
  }
  const saves = await listSaves(context, target);
  if (!saves.some(({ row }) => row.name === name)) return;
  throw new UserError('save_exists', `Target "${target}" has a save ${JSON.stringify(name)} already`, {
    hint: `Choose another name, or remove that save: tool save ${target} NAME --remove`,
  });
}
