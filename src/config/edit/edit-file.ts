import { isUtf8 } from 'node:buffer';
import { open, readFile, realpath, rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { EXIT, UserError } from '../../runtime/errors.ts';
import { renewTrust } from '../trust/trust-store.ts';
import type { Edit } from './edit.ts';
import { editText } from './edit-text.ts';
import { lockFile } from './lock-file.ts';
import { writeBeside } from './write-beside.ts';

/** How often a file is read anew that somebody changes again and again. */
const MOST_ATTEMPTS = 10;

/**
 * Changes values of a configuration file. One writer at a time; what others have written meanwhile is kept, since the
 * edits are made on what the file says now, and asked for again when that changes. The file is replaced whole, and
 * keeps its mode and owner.
 */
export async function editFile({
  edits,
  ...request
}: EditRequest & { edits: (text: string) => Edit[] }): Promise<void> {
  await rewriteFile({
    ...request,
    rewrite: (text) => {
      const changes = edits(text);
      return changes.length === 0 ? text : editText(text, changes);
    },
  });
}

interface EditRequest {
  file: string;
  /** Says where it is kept that the file is trusted: an edit of ours does not change that. */
  environment: NodeJS.ProcessEnv;
}

/** The same with whatever becomes of the text. */
export async function rewriteFile({
  file,
  environment,
  rewrite,
}: EditRequest & { rewrite: (text: string) => string }): Promise<void> {
  try {
    // A link to a file elsewhere stays a link.
    const path = await realpath(file);
    await using _locked = await lockFile(path);
    for (let attempt = 0; attempt < MOST_ATTEMPTS; attempt += 1) {
      const texts = await replaceRewritten(path, rewrite);
      if (texts) return await renewTrust({ file: path, ...texts }, environment);
    }
    throw new Error('somebody else keeps changing it');
  } catch (error) {
    if (error instanceof UserError) throw error;
    throw new UserError(`${file} cannot be written: ${(error as Error).message}`, {
      code: 'configuration_not_written',
      exit: EXIT.failed,
      hint: 'Nothing was changed.',
      cause: error,
    });
  }
}

/** What it said and says; `null` when the file has changed in the meantime: an editor knows of no lock. */
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
  const unfinished = await writeBeside(path, rewritten, await ownershipOf(path));
  try {
    if (!before.equals(await readFile(path))) return null;
    await rename(unfinished, path);
  } finally {
    await rm(unfinished, { force: true });
  }
  await syncFolder(dirname(path));
  return texts;
}

async function ownershipOf(path: string) {
  const { mode, uid, gid } = await stat(path);
  return { mode: mode & 0o777, uid, gid };
}

/** So that the new name outlives a power cut; where folders cannot be opened, the system sees to that. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r').catch(() => null);
  await handle?.sync().catch(() => {});
  await handle?.close();
}
