import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ManifestFile } from '../../../repository/manifest/manifest.ts';
import type { DumpRequest } from '../../facets/dump.ts';
import type { Definitions } from '../catalog/definitions/definitions.ts';
import { withEventsEnabled } from '../catalog/definitions/events.ts';
import { withoutDatabaseOfSequences } from '../catalog/definitions/sequence-defaults.ts';
import { DEFINITIONS_FILE, detailsOf } from '../details.ts';

/** Definitions as a snapshot has them. The events of a copy are disabled, so that they do not run in it. */
export function definitionsToStore(
  read: Definitions,
  { database, copyOf }: { database: string; copyOf: DumpRequest['copyOf'] },
): Definitions {
  const tables = read.tables.map((table) => withoutDatabaseOfSequences(table, database));
  const found = { ...read, tables };
  return copyOf ? withEventsEnabled(found, detailsOf(copyOf).enabled_events ?? []) : found;
}

export async function packDefinitions(request: DumpRequest, definitions: Definitions): Promise<ManifestFile> {
  await writeFile(join(request.directory, DEFINITIONS_FILE), JSON.stringify(definitions, null, 1), { mode: 0o600 });
  return (await request.write(DEFINITIONS_FILE, { terminator: null })).file;
}
