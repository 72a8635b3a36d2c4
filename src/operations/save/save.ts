import { isDeepStrictEqual } from 'node:util';
import * as v from 'valibot';
import type { Branch } from '../../engines/facets/copies.ts';
import type { Database } from '../../engines/open-database.ts';
import type { LocalRepository } from '../../repository/local-repository.ts';
import { filesOfTable, type Manifest } from '../../repository/manifest/manifest.ts';
import { snapshotId } from '../../repository/manifest/values.ts';
import type { SavePlan, SaveResult } from '../../results/saves/save-results.ts';
import type { SaveBefore } from '../../results/saves/saves-before.ts';
import type { Context } from '../../runtime/context.ts';
import { UserError } from '../../runtime/errors.ts';
import { withStep } from '../../runtime/events.ts';
import { shell } from '../../text/shell-word.ts';
import { isVisibleName, LONGEST_VISIBLE_NAME } from '../../text/visible-name.ts';
import { openSeparateBranch } from '../branch/open-branch.ts';
import { type LastEvidence, readEvidence, rowReading, writeEvidence } from '../build/evidence.ts';
import { cpusFor } from '../cpus-for.ts';
import { recorded } from '../history/recorded.ts';
import { chooseDestination, openDestination } from '../load/destination.ts';
import { type Planned, planOutdated } from '../planned.ts';
import { removeFrom } from '../remove/remove.ts';
import { localRepository } from '../snapshots/local-repository.ts';
import { assertNoOriginalData } from '../snapshots/sanitized-only.ts';
import { signed } from '../snapshots/signatures.ts';
import { manifestOf, storeDump } from '../snapshots/store-dump.ts';
import { withTargetUrls } from '../targets/with-target-urls.ts';
import { savesBeyondRules } from './prune-saves.ts';
import { isOf, isReservedName, makerOf, type SavesOf, saveRow, WHOLE_DATABASE } from './saves.ts';

export interface SaveRequest extends SavesOf {
  /** Default: the time. */
  name?: string;
  note?: string;
}

export type PlannedSave = Planned<SaveRequest, SavePlan>;

/** Plans a save; connects to nothing for one of the destination. Throws where the name cannot be used. */
export async function planSave(given: Context, request: SaveRequest): Promise<PlannedSave> {
  const { target, note = null, branch } = request;
  const { context, database } = await openSaved(given, request);
  const planned_at = context.clock().toISOString();
  const name = request.name ?? planned_at;
  await assertUsableName(localRepository(context), request, name);
  const all_read = branch === undefined ? (await readEvidence(context, { target, save: true })).why : 'first';
  const of = branch === undefined ? {} : { branch };
  return { request, plan: { target, ...of, name, note, destination: database.url.display, all_read }, planned_at };
}

interface SaveSource {
  context: Context;
  database: Database;
  branch?: SavedBranch;
}

/** The destination, to which nothing is connected yet, or a branch. */
async function openSaved(given: Context, request: SaveRequest): Promise<SaveSource> {
  const { target, branch: name, owner } = request;
  if (name === undefined) {
    const context = await withTargetUrls(given, target, { source: false });
    return { context, database: openDestination(context, chooseDestination(context, { target })) };
  }
  const { context, database, branch } = await openSeparateBranch(given, { target, branch: name, owner });
  await assertNoOriginalData(context, target, branch.snapshot);
  return { context, database, branch: savedBranch(branch, owner) };
}

/** Stores the present state of the destination or a branch, then removes the saves that the rules do not keep. Steps: `connect`, `dump`, `store`. */
export function applySave(given: Context, { request, plan }: PlannedSave): Promise<SaveResult> {
  const { target, name: save, destination: from } = plan;
  const work = async (): Promise<SaveResult> => {
    const { context, database, branch } = await openSaved(given, request);
    if (database.url.display !== from) {
      throw planOutdated(`The database is ${database.url.display}, no longer ${from},`);
    }
    return storeSave(context, { target, name: save, note: plan.note, database, branch });
  };
  const facts = ({ save: { id, size_bytes } }: SaveResult) => ({ snapshot: id, size_bytes });
  const known = {
    operation: 'save' as const,
    target,
    save,
    from,
    ...(plan.branch !== undefined && { branches: [plan.branch] }),
  };
  return recorded(given, known, { work, facts });
}

export type SavedBranch = NonNullable<Manifest['branch']>;

/** Returns what a save keeps of a branch; the mark on the server may name a snapshot of any form. */
export function savedBranch(
  { name, snapshot }: Pick<Branch, 'name' | 'snapshot'>,
  owner: string | undefined,
): SavedBranch {
  return { name, owner: owner ?? null, snapshot: v.is(snapshotId, snapshot) ? snapshot : null };
}

interface SaveWork {
  target: string;
  name: string;
  note: string | null;
  database: Database;
  /** It is a branch. */
  branch?: SavedBranch | undefined;
  /** The operation that makes it. Absent: a person does. */
  automatic?: SaveBefore;
  /** Time of the state. Default: now. */
  at?: string;
  /** The database remains: the next save of it need not read the same rows. Default `true`. */
  remains?: boolean;
}

/** Resolves with `null` where an automatic save would equal another one. */
export async function storeSave(
  context: Context,
  work: SaveWork & { automatic: SaveBefore },
): Promise<SaveResult | null>;
export async function storeSave(context: Context, work: SaveWork): Promise<SaveResult>;
export async function storeSave(
  context: Context,
  { target, name, note, database, branch, automatic, at, remains = true }: SaveWork,
): Promise<SaveResult | null> {
  const { engine } = database;
  const repository = localRepository(context);
  const of = { target, ...(branch && { branch: branch.name, owner: branch.owner ?? undefined }) };
  await assertUsableName(repository, of, name);
  const earlier = (await repository.listSaves(target)).filter((manifest) => isOf(manifest, of));
  // The first save has most content of the snapshot that was loaded.
  const [previous = (await repository.list(target))[0]] = earlier;
  // The evidence is about the destination.
  const last: LastEvidence = branch
    ? { evidence: null, fullAt: null, why: 'first' }
    : await readEvidence(context, { target, save: true });
  const created = at ?? context.clock().toISOString();
  const done = await repository.withoutLeftovers(async () => {
    const stored = await storeDump({
      ...{ database, repository, previous, schemaConfig: WHOLE_DATABASE, evidence: last.evidence },
      keepsStatistics: true,
      isDestination: true,
      cpus: cpusFor(context, target),
    });
    const content: Manifest = {
      ...manifestOf(engine.id, stored),
      ...{ target, created_at: created, sanitized: false, note, save: name },
      ...(automatic && { automatic }),
      ...(branch && { branch }),
    };
    if (automatic && earlier.some((other) => hasContentOf(other, content))) return null;
    const step = { step: 'store', label: 'Store the save', done: `Stored save ${name}` };
    return withStep(context.report, step, async () => {
      context.signal.throwIfAborted();
      // Another process may have used it meanwhile.
      await assertUsableName(repository, of, name);
      const written = await signed(context, content);
      await repository.write(written);
      const reading = stored.reading && rowReading(stored.reading, last.why);
      const { evidence } = stored;
      if (evidence !== undefined && remains && !branch) {
        const fullAt = (reading?.all_read === null && last.fullAt) || created;
        const about = { target, save: true, engine: engine.id, snapshot: content.id };
        await writeEvidence(context, { ...about, fullAt, evidence });
      }
      return { manifest: written, reading };
    });
  });
  if (!done) return null;
  const { manifest, reading } = done;
  const { removed, kept } = await removeBeyondRules(context, {
    repository,
    target,
    maker: makerOf(manifest),
    except: manifest.id,
  });
  const index = kept.filter((save) => isOf(save, of)).findIndex(({ id }) => id === manifest.id);
  const row = { ...saveRow(context, manifest, index), ...(reading && { reading }) };
  return { target, ...(branch && { branch: branch.name }), save: row, removed };
}

interface RuledSaves {
  /** Default: one that has read nothing yet. */
  repository?: LocalRepository;
  target: string;
  /** By `makerOf`. */
  maker: string;
  /** Id of a save that was just made: not the newest where a clock was set back. */
  except?: string;
}

/** Removes the saves of one maker that the rules do not keep; resolves with their names, and all others of the target. */
export async function removeBeyondRules(
  context: Context,
  { repository = localRepository(context), target, maker, except }: RuledSaves,
): Promise<{ removed: string[]; kept: Manifest[] }> {
  const saves = await repository.listSaves(target);
  const ofMaker = saves.filter((save) => makerOf(save) === maker);
  const removed = (await savesBeyondRules(context, ofMaker)).filter(({ id }) => id !== except);
  if (removed.length > 0) await removeFrom(context, { from: ['local'], remote: null, manifests: removed });
  return { removed: removed.map(({ save }) => save ?? ''), kept: saves.filter((save) => !removed.includes(save)) };
}

/** The same rows and definitions. */
function hasContentOf(one: Manifest, other: Manifest): boolean {
  const contents = ({ tables, files }: Manifest): string[] => [
    ...tables.map((table) => [table.name, ...filesOfTable(table).map(({ sha256 }) => sha256)].join(' ')),
    ...files.map(({ name, sha256 }) => `${name} ${sha256}`),
  ];
  return isDeepStrictEqual(contents(one), contents(other));
}

async function assertUsableName(repository: LocalRepository, of: SavesOf, name: string): Promise<void> {
  if (!isVisibleName(name) || isReservedName(name)) {
    const shown = JSON.stringify(name.slice(0, LONGEST_VISIBLE_NAME));
    throw new UserError('invalid_value', `${shown} is not a name for a save`, {
      hint: `Use at most ${LONGEST_VISIBLE_NAME} visible characters, but not load, previous or a number alone.`,
    });
  }
  const saves = await repository.listSaves(of.target);
  if (!saves.some((manifest) => isOf(manifest, of) && manifest.save === name)) return;
  const { target, branch, owner } = of;
  const [whose, flag] =
    branch === undefined
      ? [`Target "${target}"`, '']
      : [`Branch "${branch}" of "${target}"`, shell` --branch ${branch}`];
  const orRemove =
    owner === undefined ? `, or remove that save: ${shell`tool save ${target} NAME`}${flag} --remove` : '';
  throw new UserError('save_exists', `${whose} has a save ${JSON.stringify(name)} already`, {
    hint: `Choose another name${orRemove}`,
  });
}
