import { type Database, openDatabase } from '../../engines/open-database.ts';
import type { Manifest } from '../../repository/manifest/manifest.ts';
import { createObjectPool } from '../../repository/objects/object-pool.ts';
import type { RehearsalResult } from '../../results/review/rehearsal-results.ts';
import type { Context } from '../../runtime/context.ts';
import { type NamedDefinitions, readByName, textChanges } from '../changes/compare-definitions.ts';
import { cpusFor } from '../cpus-for.ts';
import { WHOLE_DATABASE } from '../save/saves.ts';
import { localRepository } from '../snapshots/local-repository.ts';
import { manifestOf, storeDump } from '../snapshots/store-dump.ts';

export interface SchemaState {
  definitions: NamedDefinitions;
  rows: Map<string, number>;
}

/** Reads the definitions of a database and counts the rows; nothing is kept. */
export async function readSchema(
  given: Context,
  { url, engine, connect }: Database,
  target: string,
): Promise<SchemaState> {
  // The steps of a dump would say that something is stored.
  const context = { ...given, report: () => {} };
  const { dump } = openDatabase(context, url);
  const repository = localRepository(context);
  return repository.withScratch(async () => {
    const stored = await storeDump({
      ...{ database: { dump }, repository, previous: undefined, schemaConfig: WHOLE_DATABASE, scratch: true },
      excludeRows: { patterns: ['*'], nullify: true },
      cpus: cpusFor(context, target),
    });
    const manifest: Manifest = {
      ...manifestOf(engine.id, stored),
      ...{ target, created_at: context.clock().toISOString(), sanitized: false, note: null },
    };
    await using pool = createObjectPool(1);
    const definitions = await readByName(context, { manifest, pool });
    return { definitions, rows: await connect.countRows(manifest) };
  });
}

export function compareSchemas(before: SchemaState, after: SchemaState): Pick<RehearsalResult, 'definitions' | 'rows'> {
  const names = [...new Set([...before.rows.keys(), ...after.rows.keys()])].sort();
  const rows = names.flatMap((table) => {
    const [old = null, now = null] = [before.rows.get(table), after.rows.get(table)];
    return old === now ? [] : [{ table, before: old, after: now }];
  });
  return { definitions: textChanges(before.definitions, after.definitions).definitions, rows };
}
