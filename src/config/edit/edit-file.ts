import { isUtf8 } from 'node:buffer';
import { readFile, realpath, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { UserError } from '../../runtime/errors.ts';
import { ownershipOf, syncPath, writeTemporary } from '../../runtime/write-file.ts';
import { renewTrust } from '../trust/trust-store.ts';
import type { Edit } from './change.ts';
import { editConfigurationText } from './edit-text.ts';
import { lockFile } from './lock-file.ts';

const MOST_ATTEMPTS = 10;

/**
 * Changes values of a configuration file under a lock. Concurrent changes are kept: edits apply to the current text and
 * are computed again when it changes. The file is replaced as a whole and keeps its mode and owner.
 */
export async function editFile({
  edits,
  ...request
}: EditRequest & { edits: (text: string) => Edit[] }): Promise<void> {
  await rewriteFile({
    ...request,
    rewrite: (text) => {
      const changes = edits(text);
      return changes.length === 0 ? text : editConfigurationText(text, changes);
    },
  });
}

interface EditRequest {
  file: string;
  /** Locates the record of trusted files: an edit by the program keeps a file trusted. */
  environment: NodeJS.ProcessEnv;
}

export async function rewriteFile({
  file,
  environment,
  rewrite,
}: EditRequest & { rewrite: (text: string) => string }): Promise<void> {
  try {
    const path = await realpath(file);
    await using _locked = await lockFile(path);
    for (let attempt = 0; attempt < MOST_ATTEMPTS; attempt += 1) {
      const texts = await replaceRewritten(path, rewrite);
      if (texts) return await renewTrust({ file: path, ...texts }, environment);
    }
    throw new Error('another program keeps changing it');
  } catch (error) {
    if (error instanceof UserError) throw error;
    throw new UserError('file_not_written', `${file} cannot be written: ${(error as Error).message}`, {
      hint: 'Nothing was changed.',
      cause: error,
    });
  }
}

/** The text before and after; `null` when the file has changed meanwhile: editors know no lock. */
async function replaceRewritten(
  path: string,
  rewrite: (text: string) => string,
): Promise<{ before: string; after: string } | null> {
  const before = await readFile(path);
  if (!isUtf8(before)) throw new Error('it is not UTF-8');
  const text = before.toString('utf8');
  const rewritten = rewrite(text);
  const texts = { before: text, after: rewritten };
  if (rewritten === text) return texts;
  const unfinished = await writeTemporary(path, rewritten, await ownershipOf(path, 0o600));
  try {
    if (!before.equals(await readFile(path))) return null;
    await rename(unfinished, path);
  } finally {
    await rm(unfinished, { force: true });
  }
  // Not every system can open folders.
  await syncPath(dirname(path)).catch(() => {});
  return texts;
}
