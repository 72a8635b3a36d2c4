import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { ownershipOf } from '../../../repository/store/claim.ts';
import { createFolder } from '../../../repository/store/folder.ts';
import type { WorkingDirectoryReport } from '../../../results/configuration/configuration-results.ts';

export async function reportWorkingDirectory(path: string, configured: string[] = []): Promise<WorkingDirectoryReport> {
  try {
    if (!(await stat(path)).isDirectory()) return { path, ok: false, error: 'is not a folder' };
    await access(path, constants.R_OK | constants.W_OK | constants.X_OK);
    const isForeign = (await ownershipOf(createFolder(path), configured)) === 'foreign';
    return { path, ok: !isForeign, error: isForeign ? 'contains foreign files' : null };
  } catch (thrown) {
    const { code = '' } = thrown as NodeJS.ErrnoException;
    return { path, ok: code === 'ENOENT' ? null : false, error: REASONS[code] ?? null };
  }
}

const REASONS: Record<string, string> = {
  EACCES: 'is not writable',
  EROFS: 'is on a disk that cannot be written',
  ENOTDIR: 'has a parent that is not a folder',
};
