import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { UserError } from '../../../runtime/errors.ts';
import type { EngineContext } from '../../engine-context.ts';
import { restoreFailed } from '../../shared/restore-failed.ts';
import type { ClientTools } from '../connection/tools.ts';
import { parseArchiveList } from '../dump/archive.ts';
import { type ArchiveEntry, CONTENTS, listContents } from '../dump/archive-contents.ts';
import { failureWords } from './restore-errors.ts';

export interface ArchiveToList {
  tools: ClientTools;
  /** A folder with the archive's table of contents. */
  archive: string;
  /** The error where neither can read it. */
  unreadable?: (words: string[]) => UserError;
}

/** The entries of an archive, each with those that it depends on: read here, or by pg_restore in an unknown format. */
export async function listArchive(
  { runner, signal }: EngineContext,
  { tools, archive, unreadable = archiveUnreadable }: ArchiveToList,
): Promise<ArchiveEntry[]> {
  const known = listContents(await readFile(join(archive, CONTENTS)));
  if (known !== null) return known;
  const listing = await runner.run(
    { file: tools.pg_restore, args: ['--list', '--verbose', archive], mounts: [{ path: dirname(archive) }] },
    { signal },
  );
  if (listing.exitCode !== 0) throw unreadable(failureWords('pg_restore', listing));
  return parseArchiveList(listing.stdout);
}

function archiveUnreadable(words: string[]): UserError {
  return restoreFailed('pg_restore cannot read the archive', words);
}
