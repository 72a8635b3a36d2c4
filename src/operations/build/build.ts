import type { TargetSettings } from '../../config/schema/settings.ts';
import type { Engine } from '../../engines/engine.ts';
import type { DumpRequest } from '../../engines/facets/dump.ts';
import { profileOf } from '../../engines/list.ts';
import { type Database, openDatabase } from '../../engines/open-database.ts';
import { parseUrl } from '../../engines/registry.ts';
import type { Manifest } from '../../repository/manifest/manifest.ts';
import type { WarningEvent } from '../../results/events.ts';
import { definitionsOnlyOf } from '../../results/manifest/definitions-only.ts';
import type { DumpOrigin } from '../../results/manifest/dump-origin.ts';
import { leftOutSchemasOf } from '../../results/manifest/left-out-schemas.ts';
import type { SnapshotRow } from '../../results/results.ts';
import type { Context } from '../../runtime/context.ts';
import { EXIT, UserError } from '../../runtime/errors.ts';
import { withStep } from '../../runtime/events.ts';
import { definitionsOnlyText, leftOutText } from '../../text/format-objects.ts';
import { shell } from '../../text/shell-word.ts';
import { cpusFor } from '../cpus-for.ts';
import { contentOf } from '../expected-steps.ts';
import { readGitState } from '../git.ts';
import { recorded } from '../history/recorded.ts';
import { rememberIdentities, type SeenSource } from '../identities.ts';
import { sourceOf } from '../sanitize/source-of.ts';
import { keepTargetImage } from '../servers/target-image.ts';
import { localRepository } from '../snapshots/local-repository.ts';
import { assertUsableProfiles, locationFor } from '../snapshots/remote-repositories.ts';
import { signed } from '../snapshots/signatures.ts';
import { snapshotRow } from '../snapshots/snapshots.ts';
import { manifestOf, storeDump } from '../snapshots/store-dump.ts';
import { pushStored } from '../snapshots/transfer/push.ts';
import { checkDatabase } from '../targets/check-databases.ts';
import { findTarget } from '../targets/find-target.ts';
import { withTargetUrls } from '../targets/with-target-urls.ts';
import { readEvidence, rowReading, writeEvidence } from './evidence.ts';
import { buildExpectedSteps } from './expected-steps.ts';

export interface BuildRequest {
  target: string;
  note?: string;
  /** Tables dumped at the same time. Default: the target's `cpus`, `defaults.cpus`, half the cores. */
  cpus?: number;
  /** `false` leaves the snapshot on this machine only. Default: pushed when the target has a storage profile. */
  push?: boolean;
  /** Connection URL of another database than the target's source: of its subset. */
  source?: string;
  /** Also takes the schemas that tables of the chosen ones cannot be without; without it such a build is refused. */
  includeNeededSchemas?: boolean;
  /** The dump that the other database was made from. */
  dump?: DumpOrigin;
  /** Reads all rows, also those that are proved to be unchanged. */
  full?: boolean;
  /** Patterns of tables whose rows are never read. Default: `snapshot.exclude_rows` of the target. */
  excludeRows?: string[];
  /** Makes references to them NULL. Default: `snapshot.nullify` of the target. */
  nullify?: boolean;
}

/** Takes a snapshot of the target's source and pushes it to its remote repository. Steps: `connect`, `dump`, `store`, `push`. */
export async function build(given: Context, request: BuildRequest): Promise<SnapshotRow> {
  const { target: name, source } = request;
  const context = await withTargetUrls(given, name, { source: source === undefined });
  const url = parseUrl(source ?? sourceOf(context, name));
  return recorded(
    context,
    { operation: 'build', target: name, from: url.display, sanitized: false },
    {
      work: (timed) => buildFrom(timed, request, openDatabase(timed, url)),
      facts: ({ id, size_bytes }) => ({ snapshot: id, size_bytes }),
      steps: (snapshot) => buildExpectedSteps(name, contentOf(snapshot)),
    },
  );
}

/** The same from an open database, without an entry in the history. */
export async function buildFrom(context: Context, request: BuildRequest, database: Database): Promise<SnapshotRow> {
  const { target: name, note, cpus: given, push = true, source, dump, includeNeededSchemas, full } = request;
  const { configuration, report, clock } = context;
  const { engine, url } = database;
  const target = findTarget(configuration, name);
  if (push) await assertUsableProfiles(context, name);
  // Looked for while the repository is read; what fails is said when they are used.
  if (!url.inContainer) engine.reportTools(context).catch(() => {});
  const repository = localRepository(context);
  const [previous] = await repository.list(name);
  // A subset is another database each time, and so is a dump.
  const isSource = source === undefined && dump === undefined;
  const last = isSource ? await readEvidence(context, { target: name, full }) : null;
  const created = clock().toISOString();

  // While the dump connects: the state at the beginning.
  const readingGit = dump ? Promise.resolve(null) : readGitState(context);
  readingGit.catch(() => {});
  const cpus = given ?? cpusFor(context, name);
  const byProgram = target.program ?? false;
  if (byProgram && engine.capabilities.onlyProgram)
    report(programWithoutEffect(engine, engine.capabilities.onlyProgram));
  const { manifest, reading } = await repository.withoutLeftovers(async () => {
    const stored = await storeDump({
      database,
      repository,
      previous,
      cpus,
      schemaConfig: target.snapshot?.schema_config,
      includeNeededSchemas,
      excludeRows: source === undefined ? excludedRowsFor(target, request) : undefined,
      keepsStatistics: isSource,
      program: byProgram && engine.capabilities.onlyProgram === null,
      ...(last && { evidence: last.evidence }),
    });
    const { identity, evidence } = stored;
    if (isSource) await rememberSource(context, { key: `targets.${name}.snapshot.src_url`, url, identity });
    const git = await readingGit;
    const content: Manifest = {
      ...manifestOf(engine.id, stored),
      target: name,
      created_at: created,
      sanitized: false,
      note: note ?? null,
      ...(git && { git }),
      ...(dump && { dump }),
    };
    const step = { step: 'store', label: 'Store the snapshot', done: storedText(content) };
    return await withStep(report, step, async () => {
      context.signal.throwIfAborted();
      const written = await signed(context, content);
      await repository.write(written);
      const reading = stored.reading && rowReading(stored.reading, last?.why ?? null);
      if (evidence !== undefined) {
        const fullAt = (reading?.all_read === null && last?.fullAt) || created;
        await writeEvidence(context, { target: name, engine: engine.id, snapshot: content.id, fullAt, evidence });
      }
      return { manifest: written, reading };
    });
  });
  const row = { ...snapshotRow(context, manifest, 0), ...(reading && { reading }) };
  const location = push ? locationFor(context, name, manifest) : null;
  if (location !== null) await pushStored(context, manifest, location);
  await keepTargetImage(context, { manifest, sanitized: row.sanitized, location });
  return location === null ? row : { ...row, where: ['local', 'remote'] };
}

/** A subset has left them out already. */
function excludedRowsFor({ snapshot = {} }: TargetSettings, request: BuildRequest): DumpRequest['excludeRows'] {
  const { excludeRows: patterns = snapshot.exclude_rows ?? [], nullify = snapshot.nullify ?? false } = request;
  return patterns.length === 0 ? undefined : { patterns, nullify };
}

/** Refuses to make references NULL when no rows are excluded. */
export function assertExcludes({ configuration }: Context, request: BuildRequest): void {
  const { target } = request;
  if (excludedRowsFor(findTarget(configuration, target), request)) return;
  throw new UserError('flag_needs_flag', '--nullify requires --exclude-rows', {
    exit: EXIT.usage,
    hint: `${shell`tool build ${target} --exclude-rows TABLES --nullify`}, or list the tables in targets.${target}.snapshot.exclude_rows.`,
  });
}

function programWithoutEffect({ id }: Engine, program: string): WarningEvent {
  const message = `program has no effect on ${profileOf(id).products[0]}: its snapshots are always built with ${program}`;
  return { event: 'warning', code: 'program_without_effect', message };
}

/** Stores the identity of the source for the guard; a source that is gone by now costs no snapshot. */
async function rememberSource(
  context: Context,
  { key, url, identity: known }: Omit<SeenSource, 'identity'> & { identity: SeenSource['identity'] | undefined },
): Promise<void> {
  const identity = known ?? (await checkDatabase(context, url, { sizes: false })).identity;
  if (identity) await rememberIdentities(context, [{ key, url, identity }]);
}

function storedText(manifest: Manifest): string {
  const leftOut = leftOutSchemasOf(manifest) ?? [];
  const without = leftOut.length === 0 ? '' : ` without schemas ${leftOutText(leftOut)}`;
  const definitionsOnly = definitionsOnlyOf(manifest);
  const only = definitionsOnly.length === 0 ? '' : `, definitions only of ${definitionsOnlyText(definitionsOnly)}`;
  return `Stored snapshot ${manifest.id}${without}${only}`;
}
