import { createHash } from 'node:crypto';
import type { PackedFile, ReadSummary } from '../../../src/engines/facets/dump.ts';
import { type CatalogTable, readTables } from '../../../src/engines/postgres/catalog/introspect.ts';
import { connect } from '../../../src/engines/postgres/connection/connect.ts';
import { readServerIdentity } from '../../../src/engines/postgres/connection/identity.ts';
import type { PostgresSession } from '../../../src/engines/postgres/connection/session.ts';
import { majorOf } from '../../../src/engines/postgres/connection/tools.ts';
import { TERMINATOR_LINES } from '../../../src/engines/postgres/dump/archive.ts';
import { beginInstant } from '../../../src/engines/postgres/dump/instant.ts';
import { copyOut, type Range, rangesOf } from '../../../src/engines/postgres/dump/ranges.ts';
import { inSnapshot, prepareReading } from '../../../src/engines/postgres/dump/read-tables.ts';
import { proveUnchanged } from '../../../src/engines/postgres/dump/unchanged/find-unchanged.ts';
import { readState } from '../../../src/engines/postgres/dump/unchanged/read-state.ts';
import { recordEvidence } from '../../../src/engines/postgres/dump/unchanged/record-evidence.ts';
import { withinSavepoint } from '../../../src/engines/postgres/dump/unchanged/savepoint.ts';
import { readTableMaps } from '../../../src/engines/postgres/dump/unchanged/table-maps.ts';
import { parseUrl } from '../../../src/engines/registry.ts';
import { testContext } from './postgres-server.ts';

export interface ProvedBuild {
  /** For the next one; `null` when nothing could be recorded. */
  evidence: unknown;
  reading: ReadSummary;
  /** Ranges of large tables. */
  ranges: number;
  unchanged: number;
}

export interface ProvedBuildOptions {
  /** Of the build before. */
  evidence?: unknown;
  /** Blocks of a range. */
  width?: number;
  /** Runs when the snapshot is taken, before any row is read. */
  meanwhile?: (() => Promise<unknown>) | undefined;
}

/**
 * The part of a build that proves rows unchanged, with small ranges and without storing anything; then reads every
 * range in the same snapshot, and throws where a proved one is different.
 */
export async function provedBuild(
  url: string,
  { evidence = null, width = 4, meanwhile }: ProvedBuildOptions = {},
): Promise<ProvedBuild> {
  const context = testContext({ settings: {} });
  await using session = await connect(context, parseUrl(url));
  const signs = await readServerIdentity(session);
  const maps = await readTableMaps(session);
  const snapshot = await beginInstant(session, ['public']);
  const tables = (await readTables(session)).filter(({ schema }) => schema === 'public');
  const ranges = rangesOf(tables, { serverMajor: majorOf(signs.version), width });
  const state = await withinSavepoint(session, () => readState(session, { signs, tables }));
  await meanwhile?.();
  await prepareReading(session);
  const last = { evidence, isStored: async () => true };
  const { files, reading } = await proveUnchanged(session, {
    ...{ last, state, ranges },
    async readMaps() {
      await using later = await connect(context, parseUrl(url));
      return await readTableMaps(later);
    },
    async openSecond() {
      const second = await connect(context, parseUrl(url));
      for (const statement of inSnapshot({ snapshot, started: signs.started })) await second.execute(statement);
      return second;
    },
  });
  const packed = new Map<CatalogTable, PackedFile[]>();
  let unchanged = 0;
  for (const [table, parts] of ranges) {
    const read: PackedFile[] = [];
    for (const [at, range] of parts.entries()) {
      const file = await readRange(session, table, range);
      const proved = files.get(table)?.[at];
      if (proved && (proved.file.sha256 !== file.file.sha256 || proved.lines !== file.lines)) {
        throw new Error(`${table.name}, blocks ${range.start} to ${range.end}: proved unchanged, and differs`);
      }
      if (proved) unchanged += 1;
      read.push(file);
    }
    packed.set(table, read);
  }
  const recorded = state && recordEvidence({ state, tables: packed, ranges, maps });
  await session.execute('COMMIT');
  const large = [...ranges].filter(([{ oid }]) => state?.tables.has(oid));
  // As it is read from the file.
  const stored = recorded && JSON.parse(JSON.stringify(recorded));
  return { evidence: stored, reading, ranges: large.reduce((sum, [, parts]) => sum + parts.length, 0), unchanged };
}

const LINE_FEED = 0x0a;

async function readRange(session: PostgresSession, table: CatalogTable, range: Range): Promise<PackedFile> {
  const hash = createHash('sha256');
  let [bytes, rows] = [0, 0];
  await session.lines(copyOut(table, range), (lines) => {
    hash.update(lines);
    bytes += lines.length;
    for (const byte of lines) if (byte === LINE_FEED) rows += 1;
  });
  const sha256 = hash.digest('hex');
  const file = { name: `${table.oid}.rows`, sha256, bytes, stored_bytes: bytes, stored_sha256: sha256 };
  return { file, lines: rows + TERMINATOR_LINES, terminated: true };
}
