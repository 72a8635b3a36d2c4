import type { SchemaConfig } from '../../src/config/schema/settings.ts';
import type { RunEvent, WarningEvent } from '../../src/events.ts';
import { build } from '../../src/operations/build.ts';
import { load, planLoad } from '../../src/operations/load/load.ts';
import { type TestPostgres, testContext } from './postgres-server.ts';

export interface RoundTrip {
  /** Of the build and the load. */
  warnings: string[];
}

/** Builds a snapshot of a database and loads it as `NAME_copy`; the comparison is the caller's. */
export async function buildAndLoad(
  server: TestPostgres,
  {
    database,
    workingDirectory,
    schemaConfig,
  }: { database: string; workingDirectory: string; schemaConfig?: SchemaConfig },
): Promise<RoundTrip> {
  const events: RunEvent[] = [];
  const snapshot = {
    src_url: server.url(database),
    dst_url: server.url(`${database}_copy`),
    ...(schemaConfig && { schema_config: schemaConfig }),
  };
  const settings = { working_directory: workingDirectory, targets: { [database]: { snapshot } } };
  const context = testContext({ settings, events });
  await build(context, { target: database });
  const plan = await planLoad(context, { target: database, cpus: 2 });
  await load(context, plan).catch((error) => {
    // The details say which object it was.
    throw new Error([error.message, ...(error.details ?? [])].join('\n'), { cause: error });
  });
  return {
    warnings: events.filter((event): event is WarningEvent => event.event === 'warning').map(({ message }) => message),
  };
}

/** Definitions and rows as sorted statements: what two dumps have beyond order and comments. */
export function normalized(dump: string): string[] {
  return dump
    .replaceAll(/^--.*$/gm, '')
    .split(/;\n|\n\\\.\n/)
    .map((statement) => statement.trim().replaceAll(/\n{2,}/g, '\n'))
    .filter((statement) => statement !== '')
    .sort();
}
