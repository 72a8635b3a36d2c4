import { rm } from 'node:fs/promises';
import { connectionUrl } from '../config/urls/connection-url.ts';
import type { DumpRequest, Engine } from '../engines/engine.ts';
import { engineForUrl } from '../engines/registry.ts';
import { bytesOfTable, type Manifest } from '../repository/manifest.ts';
import { createObjectPool } from '../repository/objects/object-pool.ts';
import { newSnapshotId, type Repository } from '../repository/repository.ts';
import { definitionsOnlyOf } from '../results/definitions-only.ts';
import { leftOutSchemasOf } from '../results/left-out-schemas.ts';
import type { SnapshotRow } from '../results/results.ts';
import type { Context } from '../runtime/context.ts';
import { EXIT, UserError } from '../runtime/errors.ts';
import { type WarningEvent, withStep } from '../runtime/events.ts';
import { definitionsOnlyText, leftOutText } from '../text/format-objects.ts';
import { checkDatabase } from './check-databases.ts';
import { findTarget } from './find-target.ts';
import { rememberIdentities, type SeenSource } from './identities.ts';
import { jobsFor } from './jobs.ts';
import { repositoryOf } from './snapshots/local-repository.ts';
import { pushStored } from './snapshots/push.ts';
import { profileFor } from './snapshots/shelves.ts';
import { signed } from './snapshots/signatures.ts';
import { snapshotRow } from './snapshots/snapshots.ts';

export interface BuildRequest {
  target: string;
  note?: string;
  /** How many tables are dumped at the same moment. Default: the target's `cpus`, `defaults.cpus`, half the cores. */
  cpus?: number;
  /** `false` leaves the snapshot on this machine only. Default: pushed when the target has a storage profile. */
  push?: boolean;
  /** By the vendor's own dump program. Default: the target's `program`. */
  program?: boolean;
  /** Connection URL of another database than the target's source: of its subset. */
  source?: string;
  /** Also takes the schemas that tables of the chosen ones cannot be without; without it such a build is refused. */
  includeNeededSchemas?: boolean;
}

/** Takes a snapshot of the target's source and pushes it to its shelf. Steps: `connect`, `dump`, `store`, `push`. */
export async function build(
  context: Context,
  { target: name, note, cpus, push = true, source, includeNeededSchemas, program }: BuildRequest,
): Promise<SnapshotRow> {
  const { configuration, report, clock } = context;
  const target = findTarget(configuration, name);
  const text = source ?? connectionUrl(configuration, `targets.${name}.snapshot.src_url`);
  if (text === undefined) throw noSource(name);
  const engine = engineForUrl(text);
  const url = engine.connect.parseUrl(text);
  const repository = repositoryOf(context);
  const [previous] = await repository.list(name);
  const created = clock().toISOString();

  const jobs = cpus ?? jobsFor(context, name);
  const byProgram = program ?? target.program ?? false;
  if (byProgram && engine.capabilities.alwaysProgram) report(ALWAYS_PROGRAM);
  const stored = await store(context, {
    engine,
    repository,
    previous,
    jobs,
    url,
    schemaConfig: target.snapshot?.schema_config,
    includeNeededSchemas,
    program: byProgram && !engine.capabilities.alwaysProgram,
  });
  if (source === undefined) await rememberSource(context, { key: `targets.${name}.snapshot.src_url`, url });
  const { serverVersion, toolVersion, ...dumped } = stored.dump;
  const content: Manifest = {
    format: 1,
    id: newSnapshotId(),
    target: name,
    created_at: created,
    engine: engine.id,
    server_version: serverVersion,
    tool_version: toolVersion,
    sanitized: false,
    note: note ?? null,
    added_bytes: stored.addedBytes,
    ...dumped,
  };
  const step = { step: 'store', label: 'Store the snapshot', done: storedText(content) };
  const manifest = await withStep(report, step, async () => {
    context.signal.throwIfAborted();
    const written = await signed(context, content);
    await repository.write(written);
    return written;
  });
  const row = snapshotRow(context, manifest, 0);
  const profile = push ? profileFor(context, name, manifest) : undefined;
  if (profile === undefined) return row;
  await pushStored(context, manifest, profile);
  return { ...row, where: ['local', 'remote'] };
}

const ALWAYS_PROGRAM: WarningEvent = {
  event: 'warning',
  code: 'program_without_effect',
  message: 'program has no effect on PostgreSQL: its snapshots are always built with pg_dump',
};

/** What the source says of itself is remembered for the guard; a source that is gone by now costs no snapshot. */
async function rememberSource(context: Context, { key, url }: Omit<SeenSource, 'identity'>): Promise<void> {
  const { identity } = await checkDatabase(context, url, { sizes: false });
  if (identity) await rememberIdentities(context, [{ key, url, identity }]);
}

function storedText(manifest: Manifest): string {
  const leftOut = leftOutSchemasOf(manifest) ?? [];
  const without = leftOut.length === 0 ? '' : ` without schemas ${leftOutText(leftOut)}`;
  const definitionsOnly = definitionsOnlyOf(manifest);
  const only = definitionsOnly.length === 0 ? '' : `, definitions only of ${definitionsOnlyText(definitionsOnly)}`;
  return `Stored snapshot ${manifest.id}${without}${only}`;
}

export interface Storing
  extends Pick<DumpRequest, 'url' | 'schemaConfig' | 'includeNeededSchemas' | 'jobs' | 'copyOf' | 'program'> {
  engine: Engine;
  repository: Repository;
  previous: Manifest | undefined;
}

/** Dumps into a staging folder and moves each file into the objects as soon as it is packed. */
export async function store(context: Context, { engine, repository, previous, ...request }: Storing) {
  await using staging = await repository.stage();
  const directory = await staging.folder('dump');
  const pool = createObjectPool(request.jobs);
  await using _closing = { [Symbol.asyncDispose]: () => pool.close() };
  const sizes = new Map(previous?.tables.map((table) => [table.name, bytesOfTable(table)]));
  let addedBytes = 0;
  const dump = await engine.dump.run(context, {
    ...request,
    directory,
    expectedBytes: (table) => sizes.get(table),
    finish: () => pool.finish(),
    async pack({ name, terminator, onBytes }) {
      const source = `${directory}/${name}`;
      const destination = staging.path(`${name}.object`);
      const { sha256, bytes, storedBytes, storedSha256, ...facts } = await pool.pack({
        source,
        destination,
        terminator,
        onBytes,
      });
      if (await repository.store(destination, { sha256 })) addedBytes += storedBytes;
      await rm(source);
      const file = { name, sha256, bytes, stored_bytes: storedBytes, stored_sha256: storedSha256 };
      return { file, ...facts };
    },
  });
  return { dump, addedBytes };
}

function noSource(target: string): UserError {
  return new UserError(`Target "${target}" has no source to take a snapshot of`, {
    code: 'source_missing',
    exit: EXIT.configuration,
    hint: `Set targets.${target}.snapshot.src_url in the configuration.`,
  });
}
