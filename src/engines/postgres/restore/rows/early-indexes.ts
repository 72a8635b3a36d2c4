import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { bytesOfTable, type ManifestTable } from '../../../../repository/manifest/manifest.ts';
import { type ArchiveEntry, parseArchiveList } from '../../dump/archive.ts';
import { CONTENTS, listContents, readContents } from '../../dump/archive-contents.ts';
import { ALTERS_TABLE, writeList } from '../lists-in-turn.ts';
import { dataOf } from './copy-commands.ts';
import type { Archive, FillRun } from './filling.ts';

/** Indexes for a session that has no rows to load while others still do. */
export interface EarlyIndexes {
  /**
   * Builds an index of a table that has all of its rows, and that is no larger than the rows to come: nobody should wait
   * for it. Resolves with `false` where there is none.
   */
  buildOne(state: RowsSoFar, build: (archive: Archive) => Promise<void>): Promise<boolean>;
  /** A list of the entries that are left to restore. */
  rest(): Promise<string>;
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

export async function earlyIndexes(
  archive: Archive,
  { plan, details }: Pick<FillRun, 'plan' | 'details'>,
): Promise<EarlyIndexes> {
  const listed = parseArchiveList(await readFile(archive.list, 'utf8'));
  const waiting = await plainIndexes(archive, listed, { plan, details });
  const busy = new Set<ManifestTable>();
  const built = new Set<number>();
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
      const list = `${archive.list}.index-${entry.dumpId}`;
      await writeList(list, [entry]);
      built.add(entry.dumpId);
      await build({ ...archive, list });
      busy.delete(table);
      return true;
    },
    async rest() {
      if (built.size === 0) return archive.list;
      const list = `${archive.list}.rest`;
      await writeList(
        list,
        listed.filter(({ dumpId }) => !built.has(dumpId)),
      );
      return list;
    },
  };
}

interface IndexOfTable {
  table: ManifestTable;
  entry: ArchiveEntry;
}

/** Returns the plain indexes, those of the largest tables first; none when the format of the archive is unknown. */
async function plainIndexes(
  { directory }: Archive,
  listed: ArchiveEntry[],
  { plan, details }: Pick<FillRun, 'plan' | 'details'>,
): Promise<IndexOfTable[]> {
  const toc = await readFile(join(directory, CONTENTS));
  const contents = readContents(toc);
  const all = listContents(toc);
  if (contents === null || all === null) return [];
  const tables = tablesByEntry(contents, { plan, details });
  const wanted = new Set(listed.map(({ dumpId }) => dumpId));
  return parseArchiveList(all)
    .flatMap((entry) => {
      if (!wanted.has(entry.dumpId) || !isPlain(contents.get(entry.dumpId)?.definition ?? '')) return [];
      const table = entry.needs.map((id) => tables.get(id)).find((one) => one !== undefined);
      return table ? [{ table, entry }] : [];
    })
    .sort((one, other) => bytesOfTable(other.table) - bytesOfTable(one.table));
}

/** Large tables by the number of their entry; not those whose rows come by another one. */
function tablesByEntry(
  contents: NonNullable<ReturnType<typeof readContents>>,
  { plan, details }: Pick<FillRun, 'plan' | 'details'>,
): Map<number, ManifestTable> {
  const numbers = new Map(
    [...contents.values()]
      .filter(({ kind }) => kind === 'TABLE')
      .map(({ dumpId, schema, tag }) => [JSON.stringify([schema, tag]), dumpId]),
  );
  return new Map(
    plan.tables.flatMap((table) => {
      const { schema, table: name, root, of_extension } = dataOf(table, details);
      const dumpId = numbers.get(JSON.stringify([schema, name]));
      const fits = bytesOfTable(table) >= LEAST_BYTES && !root && !of_extension;
      return fits && dumpId !== undefined ? [[dumpId, table] as const] : [];
    }),
  );
}
