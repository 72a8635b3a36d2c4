import type { ArchiveDetails, ArchiveEntry } from './archive.ts';

/**
 * Returns a predicate for entries of an archive that are objects the snapshot leaves out, without the objects that
 * depend on them.
 */
export function isLeftOut(leftOut: ArchiveDetails['left_out']): (entry: ArchiveEntry) => boolean {
  const byOid = Map.groupBy(
    leftOut.filter(({ oid }) => oid !== 0),
    ({ oid }) => oid,
  );
  const servers = leftOut.filter(({ kind }) => kind === 'server').map(({ name }) => ` SERVER ${name} `);
  return ({ class: catalog, oid, text }) =>
    (byOid.get(oid) ?? []).some((object) => object.class === undefined || object.class === catalog) ||
    // It has no oid, and is not said to depend on its server.
    (text.startsWith('USER MAPPING ') && servers.some((server) => text.includes(server)));
}
