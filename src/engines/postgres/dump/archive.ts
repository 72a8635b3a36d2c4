import { buffer } from 'node:stream/consumers';
import * as v from 'valibot';
import type { Manifest } from '../../../repository/manifest/manifest.ts';
import type { TableRequest } from '../../facets/restore.ts';
import { parseDetails } from '../../shared/manifest-details.ts';
import { type PostgresDetails, postgresDetails } from '../details-schema.ts';
import { type ArchiveEntry, CONTENTS } from './archive-contents.ts';

/** End of every table's file in an archive of pg_dump's directory format: the end of COPY, and two empty lines. */
export const DATA_TERMINATOR = '\\.\n\n\n';
/** Line feeds in it, which are not rows. */
export const TERMINATOR_LINES = 3;
/** The part of it that COPY reads. */
export const END_OF_COPY = '\\.\n';

export type ArchiveDetails = PostgresDetails;

export const archiveDetailsSchema = postgresDetails(v.string());

/** Reads the archive's details from the manifest; throws a UserError when some are missing. */
export function archiveDetails(manifest: Manifest): ArchiveDetails {
  return parseDetails(archiveDetailsSchema, manifest);
}

/** Reads the table of contents of a snapshot's archive; `null` where there is none. */
export async function readStoredContents({ manifest, read }: Pick<TableRequest, 'manifest' | 'read'>) {
  const file = manifest.files.find(({ name }) => name === CONTENTS);
  return file ? await buffer(read(file)) : null;
}

/** The lines of `pg_restore --list --verbose`. https://www.postgresql.org/docs/current/app-pgrestore.html */
export function parseArchiveList(listing: string): ArchiveEntry[] {
  const entries: ArchiveEntry[] = [];
  for (const line of listing.split('\n')) {
    const match = /^(\d+); (\d+) (\d+) (.*)$/.exec(line);
    const needs = /^;\tdepends on:((?: \d+)+)$/.exec(line)?.[1];
    if (match) {
      const [dumpId = 0, catalog = 0, oid = 0] = match.slice(1, 4).map(Number);
      entries.push({ ...UNKNOWN, dumpId, class: catalog, oid, line, text: match[4] ?? '', needs: [] });
    }
    if (needs) entries.at(-1)?.needs.push(...needs.trim().split(' ').map(Number));
  }
  return entries;
}

const UNKNOWN = { kind: '', tag: '', schema: '', definition: '', accessMethod: '' };

/** Without some entries, and without all that depends on them: a view takes its comments and rules with it. */
export function withoutDependents(entries: ArchiveEntry[], isLeftOut: (entry: ArchiveEntry) => boolean) {
  const leftOut = new Set(entries.filter(isLeftOut).map(({ dumpId }) => dumpId));
  for (let known = 0; known < leftOut.size; ) {
    known = leftOut.size;
    for (const { dumpId, needs } of entries) if (needs.some((id) => leftOut.has(id))) leftOut.add(dumpId);
  }
  return entries.filter(({ dumpId }) => !leftOut.has(dumpId));
}

export function isTableData(entry: ArchiveEntry): boolean {
  return entry.text.startsWith('TABLE DATA ');
}

const MAGIC = 'PGDMP';
const VERSION_OF_ONE_BYTE_COMPRESSION = 15;
/** 1 January 2000 at 0:00:00, as `struct tm`: seconds, minutes, hours, day, month, years since 1900, summer time. */
const FIXED_DATE = [0, 0, 0, 1, 0, 100, 0];

/**
 * The table of contents with a fixed date in place of the dump's, so that equal contents are equal bytes. Its head, as
 * `ReadHead` of pg_backup_archiver.c takes it: magic, version of three bytes, sizes of an integer and of an offset,
 * format, compression, date. What does not look like that is given back as it is.
 */
export function withoutDate(toc: Buffer): Buffer {
  const [, minor = 0, , integerBytes = 0] = toc.subarray(MAGIC.length);
  if (toc.subarray(0, MAGIC.length).toString('latin1') !== MAGIC || integerBytes !== 4) return toc;
  const signedBytes = 1 + integerBytes;
  const date = MAGIC.length + 6 + (minor < VERSION_OF_ONE_BYTE_COMPRESSION ? signedBytes : 1);
  if (toc.length < date + FIXED_DATE.length * signedBytes) return toc;
  const dated = Buffer.from(toc);
  for (const [index, value] of FIXED_DATE.entries()) {
    dated.writeUInt8(0, date + index * signedBytes);
    dated.writeUInt32LE(value, date + index * signedBytes + 1);
  }
  return dated;
}
