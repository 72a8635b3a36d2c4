import { rm } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { connectionUrl } from '../config/connection-url.ts';
import type { Context } from '../context.ts';
import type { DumpRequest, Engine } from '../engines/engine.ts';
import { engineForUrl } from '../engines/registry.ts';
import { EXIT, UserError } from '../errors.ts';
import type { SnapshotRow } from '../results.ts';
import type { Manifest } from '../snapshots/manifest.ts';
import { createObjectPool } from '../snapshots/object-pool.ts';
import { newSnapshotId, type Repository } from '../snapshots/repository.ts';
import { findTarget } from './find-target.ts';
import { repositoryOf, snapshotRow } from './snapshots.ts';

export interface BuildRequest {
  target: string;
  note?: string;
  /** How many tables are dumped at the same moment. Default: the target's `cpus`, `defaults.cpus`, half the cores. */
  cpus?: number;
}

/** Takes a snapshot of the target's source. Steps: `connect`, `dump`, `store`. */
export async function build(context: Context, { target: name, note, cpus }: BuildRequest): Promise<SnapshotRow> {
  const { configuration, report, clock } = context;
  const target = findTarget(configuration, name);
  const text = connectionUrl(configuration, `targets.${name}.snapshot.src_url`);
  if (text === undefined) throw noSource(name);
  const engine = engineForUrl(text);
  const url = engine.parseUrl(text);
  const repository = repositoryOf(context);
  const [previous] = await repository.list(name);
  const created = clock().toISOString();

  const jobs = cpus ?? jobsFor(context, name);
  const stored = await store(context, {
    engine,
    repository,
    previous,
    jobs,
    url,
    schemaConfig: target.snapshot?.schema_config,
  });
  report({ event: 'step', step: 'store', state: 'started', label: 'Store the snapshot' });
  const { serverVersion, toolVersion, ...dumped } = stored.dump;
  const manifest: Manifest = {
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
  context.signal.throwIfAborted();
  await repository.write(manifest);
  report({ event: 'step', step: 'store', state: 'done', label: `Stored snapshot ${manifest.id}` });
  return snapshotRow(manifest, 0);
}

/** How many workers an operation of the target uses. */
export function jobsFor({ configuration: { settings } }: Context, target: string): number {
  const half = Math.max(1, Math.floor(availableParallelism() / 2));
  return settings.targets[target]?.cpus ?? settings.defaults.cpus ?? half;
}

export interface Storing extends Pick<DumpRequest, 'url' | 'schemaConfig' | 'jobs'> {
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
  const sizes = new Map(previous?.tables.map((table) => [table.name, table.file.bytes]));
  let addedBytes = 0;
  const dump = await engine.dump(context, {
    ...request,
    directory,
    expectedBytes: (table) => sizes.get(table),
    finish: () => pool.finish(),
    async pack({ name, terminator, onBytes }) {
      const source = `${directory}/${name}`;
      const destination = staging.path(`${name}.object`);
      const { sha256, bytes, storedBytes, ...facts } = await pool.pack({ source, destination, terminator, onBytes });
      if (await repository.store(destination, { sha256 })) addedBytes += storedBytes;
      await rm(source);
      return { file: { name, sha256, bytes, stored_bytes: storedBytes }, ...facts };
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
