import { chown, open, readFile, realpath, rename, rm, stat } from 'node:fs/promises';
import { isDeepStrictEqual } from 'node:util';
import { EXIT, UserError } from '../../errors.ts';
import { removeValue, setValue } from '../tree.ts';
import { parseYaml } from '../yaml-source.ts';
import { type Edit, editText } from './edit-text.ts';
import { lockFile } from './lock-file.ts';

/**
 * Changes values of a configuration file. One writer at a time; what others have written meanwhile is kept, since the
 * edits are made on what the file says now. The file is replaced whole, and keeps its mode and owner.
 */
export async function editFile(file: string, edits: (text: string) => Edit[]): Promise<void> {
  // A link to a file elsewhere stays a link.
  const path = await realpath(file);
  await using _locked = await lockFile(path);
  const text = await readFile(path, 'utf8');
  const changes = edits(text);
  if (changes.length === 0) return;
  const edited = editText(text, changes);
  checkEdited(path, { text, edited, changes });
  await replaceFile(path, edited);
}

/** An edit that changed more than was asked for is not written. */
function checkEdited(path: string, { text, edited, changes }: { text: string; edited: string; changes: Edit[] }): void {
  const expected = structuredClone(parseYaml(text).tree);
  for (const { path: key, value } of changes) {
    if (value === undefined) removeValue(expected, key);
    else setValue(expected, key, value);
  }
  const { tree, flaws } = parseYaml(edited);
  if (flaws.length === 0 && isDeepStrictEqual(plain(tree), plain(expected))) return;
  throw new UserError(`${path} is written in a way that cannot be changed safely`, {
    code: 'configuration_not_written',
    exit: EXIT.failed,
    hint: 'Nothing was changed. Write the value yourself, or put it on a line of its own.',
  });
}

function plain(tree: unknown): unknown {
  return JSON.parse(JSON.stringify(tree));
}

async function replaceFile(path: string, text: string): Promise<void> {
  const { mode, uid, gid } = await stat(path);
  const unfinished = `${path}.${process.pid}.tmp`;
  try {
    const handle = await open(unfinished, 'wx', mode & 0o777);
    try {
      await handle.chmod(mode & 0o777);
      await handle.writeFile(text);
      await handle.sync();
    } finally {
      await handle.close();
    }
    // Only root may give a file away; whoever else writes it becomes its owner.
    await chown(unfinished, uid, gid).catch(() => {});
    await rename(unfinished, path);
  } catch (error) {
    await rm(unfinished, { force: true });
    throw new UserError(`${path} cannot be written: ${(error as Error).message}`, {
      code: 'configuration_not_written',
      exit: EXIT.failed,
      hint: 'Nothing was changed.',
      cause: error,
    });
  }
}
