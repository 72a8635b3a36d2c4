import { bytesOfTable, type ManifestTable } from '../../../../repository/manifest/manifest.ts';
import type { ArchiveEntry } from '../../dump/archive-contents.ts';
import { ALTERS_TABLE } from '../lists-in-turn.ts';
import { dataOf } from './copy-commands.ts';
import type { FillRun } from './filling.ts';

/** Indexes for a session that has no rows to load while others still do. */
export interface EarlyIndexes {
  /**
   * Builds an index of a table that has all of its rows, and that is no larger than the rows to come: nobody should wait
   * for it. Resolves with `false` where there is none.
   */
  buildOne(state: RowsSoFar, build: (index: ArchiveEntry) => Promise<void>): Promise<boolean>;
  /** Returns the entries that are left to restore. */
  rest(): ArchiveEntry[];
}

export interface RowsSoFar {
  isLoaded: (table: ManifestTable) => boolean;
  /** Returns the bytes of the rows that are still to be loaded. */
  bytesLeft: () => number;
}

/** For less, starting pg_restore costs more than it gains. */
const LEAST_BYTES = 4 * 1024 * 1024;

const INDEX =
  /^CREATE (?:UNIQUE )?INDEX .* USING \w+ \([^()]*\)(?: INCLUDE \([^()]*\))?(?: NULLS NOT DISTINCT)?(?: WITH \([^()]*\))?;\n$/s;
const KEY =
  /^ALTER TABLE ONLY .*\n +ADD CONSTRAINT .* (?:PRIMARY KEY|UNIQUE(?: NULLS NOT DISTINCT)?) \([^()]*\)[^()]*;\n$/s;

/** Without expressions and conditions: a function in one may read other tables, which have no rows yet. */
function isPlain(definition: string): boolean {
  return (INDEX.test(definition) || KEY.test(definition)) && !ALTERS_TABLE.test(definition);
}

export function earlyIndexes(
  entries: ArchiveEntry[],
  { plan, details }: Pick<FillRun, 'plan' | 'details'>,
): EarlyIndexes {
  const waiting = plainIndexes(entries, { plan, details });
  const busy = new Set<ManifestTable>();
  const built = new Set<ArchiveEntry>();
  return {
    async buildOne({ isLoaded, bytesLeft }, build) {
      const found = waiting.findIndex(
        ({ table }) => isLoaded(table) && !busy.has(table) && bytesOfTable(table) <= bytesLeft(),
      );
      const [next] = found === -1 ? [] : waiting.splice(found, 1);
      if (!next) return false;
      const { table, entry } = next;
      // An index and a key of one table would wait for each other.
      busy.add(table);
      built.add(entry);
      await build(entry);
      busy.delete(table);
      return true;
    },
    rest: () => entries.filter((entry) => !built.has(entry)),
  };
}

interface IndexOfTable {
  table: ManifestTable;
  entry: ArchiveEntry;
}

/** Returns the plain indexes, those of the largest tables first; not of tables whose rows come by another one. */
function plainIndexes(entries: ArchiveEntry[], { plan, details }: Pick<FillRun, 'plan' | 'details'>): IndexOfTable[] {
  const large = new Map(
    plan.tables.flatMap((table) => {
      const { schema, table: name, root, of_extension } = dataOf(table, details);
      const fits = bytesOfTable(table) >= LEAST_BYTES && !root && !of_extension;
      return fits ? [[JSON.stringify([schema, name]), table] as const] : [];
    }),
  );
  const tables = new Map(
    entries.flatMap(({ kind, dumpId, schema, tag }) => {
      const table = kind === 'TABLE' && large.get(JSON.stringify([schema, tag]));
      return table ? [[dumpId, table] as const] : [];
    }),
  );
  return entries
    .flatMap((entry) => {
      const table = entry.needs.map((id) => tables.get(id)).find((one) => one !== undefined);
      return table && isPlain(entry.definition) ? [{ table, entry }] : [];
    })
    .sort((one, other) => bytesOfTable(other.table) - bytesOfTable(one.table));
}
