import type { ArchiveDetails, ArchiveEntry } from './archive.ts';

/** Tells which entries of an archive are objects that a snapshot leaves out; what depends on them follows. */
export function isLeftOut(
  leftOut: ArchiveDetails['left_out'],
  entries: ArchiveEntry[],
): (entry: ArchiveEntry) => boolean {
  const byOid = Map.groupBy(
    leftOut.filter(({ oid }) => oid !== 0),
    ({ oid }) => oid,
  );
  const tables = new Set(entries.filter(({ text }) => /^(FOREIGN )?TABLE /.test(text)).map(({ dumpId }) => dumpId));
  const servers = leftOut.filter(({ kind }) => kind === 'server').map(({ name }) => ` SERVER ${name} `);
  return (entry) => {
    const same = byOid.get(entry.oid) ?? [];
    if (same.some((object) => object.class === undefined || object.class === entry.class)) return true;
    // Entries without an oid and, in what they depend on, without what is not in the archive.
    if (entry.text.startsWith('TABLE ATTACH ')) return entry.needs.filter((id) => tables.has(id)).length < 2;
    return entry.text.startsWith('USER MAPPING ') && servers.some((server) => entry.text.includes(server));
  };
}
