import type { Database } from '../../engines/open-database.ts';
import type { Manifest } from '../../repository/manifest/manifest.ts';
import type { SavePlan, SaveResult } from '../../results/save-results.ts';
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
import { snapshotRow } from '../snapshots/snapshots.ts';
import { manifestOf, storeDump } from '../snapshots/store-dump.ts';
import { withTargetUrls } from '../targets/with-target-urls.ts';
import { isReservedName, listSaves, savesBeyondRules, WHOLE_DATABASE } from './saves.ts';

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
    return store(context, { request, plan, database });
  };
  const facts = ({ save: { id, size_bytes } }: SaveResult) => ({ snapshot: id, size_bytes });
  return recorded(given, { operation: 'save', target, save, from }, { work, facts });
}

interface SaveWork extends Pick<PlannedSave, 'request' | 'plan'> {
  database: Database;
}

async function store(context: Context, { request, plan, database }: SaveWork): Promise<SaveResult> {
  const { target, name, note } = plan;
  const { engine } = database;
  const repository = localRepository(context);
  // The first save has most content of the snapshot that was loaded.
  const [previous = (await repository.list(target))[0]] = await repository.listSaves(target);
  const last = await readEvidence(context, { target, save: true, full: request.full });
  const created = context.clock().toISOString();
  const { manifest, reading } = await repository.withoutLeftovers(async () => {
    const stored = await storeDump({
      ...{ database, repository, previous, schemaConfig: WHOLE_DATABASE, evidence: last.evidence },
      keepsStatistics: true,
      cpus: request.cpus ?? cpusFor(context, target),
    });
    const content: Manifest = {
      ...manifestOf(engine.id, stored),
      ...{ target, created_at: created, sanitized: false, note, save: name },
    };
    const step = { step: 'store', label: 'Store the save', done: `Stored save ${name}` };
    return withStep(context.report, step, async () => {
      context.signal.throwIfAborted();
      // Another process may have used it meanwhile.
      await assertUsableName(context, { target, name });
      const written = await signed(context, content);
      await repository.write(written);
      const reading = stored.reading && rowReading(stored.reading, last.why);
      const { evidence } = stored;
      if (evidence !== undefined) {
        const fullAt = (reading?.all_read === null && last.fullAt) || created;
        const about = { target, save: true, engine: engine.id, snapshot: content.id };
        await writeEvidence(context, { ...about, fullAt, evidence });
      }
      return { manifest: written, reading };
    });
  });
  const saves = await repository.listSaves(target);
  // It is not the newest where a clock was set back.
  const removed = (await savesBeyondRules(context, saves)).filter(({ id }) => id !== manifest.id);
  if (removed.length > 0) await removeFrom(context, { from: ['local'], remote: null, manifests: removed });
  const stays = saves.filter((save) => !removed.includes(save));
  const index = stays.findIndex(({ id }) => id === manifest.id);
  const row = { name, ...snapshotRow(context, manifest, index), ...(reading && { reading }) };
  return { target, save: row, removed: removed.map(({ save }) => save ?? '') };
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
