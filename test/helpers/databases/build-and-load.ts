import type { SchemaConfig } from '../../../src/config/schema/settings.ts';
import { build } from '../../../src/operations/build/build.ts';
import { applyLoad, planLoad } from '../../../src/operations/load/load.ts';
import type { RunEvent, WarningEvent } from '../../../src/results/events.ts';
import { type TestPostgres, testContext } from '../postgres/postgres-server.ts';

export interface RoundTrip {
  /** Of the build and the load. */
  /** But for those that name tables without rows of their own. */
  warnings: string[];
}

const WITHOUT_ROWS = new Set(['definitions_only', 'remote_tables_created']);

/** Builds a snapshot of a database and loads it with all that is in it as `NAME_copy`; the comparison is the caller's. */
export async function buildAndLoad(
  server: TestPostgres,
  {
    database,
    workingDirectory,
    schemaConfig,
    includeNeededSchemas = false,
  }: {
    database: string;
    workingDirectory: string;
    schemaConfig?: SchemaConfig;
    includeNeededSchemas?: boolean;
  },
): Promise<RoundTrip> {
  const events: RunEvent[] = [];
  const snapshot = {
    src_url: server.url(database),
    dst_url: server.url(`${database}_copy`),
    ...(schemaConfig && { schema_config: schemaConfig }),
  };
  const settings = { working_directory: workingDirectory, targets: { [database]: { snapshot } } };
  const context = testContext({ settings, events });
  await build(context, { target: database, includeNeededSchemas });
  const plan = await planLoad(context, { target: database, cpus: 2, remoteTables: true });
  await withDetails(applyLoad(context, plan));
  return {
    warnings: events
      .filter((event): event is WarningEvent => event.event === 'warning' && !WITHOUT_ROWS.has(event.code))
      .map(({ message }) => message),
  };
}

/** The statements of a dump in order of the alphabet, and each table's rows likewise: what remains is what it means. */
export function normalized(dump: string): string[] {
  const rows = new Map<string, string[]>();
  const definitions = dump.replaceAll(
    /^(COPY .* FROM stdin;)\n([\s\S]*?)^\\\.$/gm,
    (_match, copy: string, text: string) => {
      rows.set(copy, [...(rows.get(copy) ?? []), ...text.split('\n').slice(0, -1)]);
      return '';
    },
  );
  const statements = definitions
    .replaceAll(/^--.*$/gm, '')
    .split(/;\n/)
    .map((statement) => statement.trim().replaceAll(/\n{2,}/g, '\n'))
    .filter((statement) => statement !== '');
  const copies = [...rows].map(([copy, of]) => [copy, ...of.sort()].join('\n'));
  return [...statements, ...copies].sort();
}

/** The error's details in its message, where a failed test shows them. */
export function withDetails<T>(work: Promise<T>): Promise<T> {
  return work.catch((error) => {
    throw new Error([error.message, ...(error.details ?? [])].join('\n'), { cause: error });
  });
}
