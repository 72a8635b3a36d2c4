import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import { exists } from '../../config/config-file.ts';
import { localRunner } from '../../process/local.ts';
import { UserError } from '../../runtime/errors.ts';
import { isOfferedByGit } from '../git.ts';
import { readBytes } from '../link/read-bytes.ts';

/** Reports whether a file that is written there would be in the next commit: git neither ignores it nor is absent. */
export async function wouldBeCommitted(environment: NodeJS.ProcessEnv, file: string): Promise<boolean> {
  const report = (): void => {};
  const cwd = await existingFolder(dirname(file));
  const runner = localRunner({ environment, report });
  const { signal } = new AbortController();
  return isOfferedByGit({ runner, environment, cwd, signal }, relative(cwd, file));
}

/** Adds the file to `.gitignore` of its folder. */
export async function ignoreInGit(file: string): Promise<void> {
  const path = join(dirname(file), '.gitignore');
  try {
    // Git reads no link in its place.
    const text = (await readBytes(path, (message) => new Error(message))) ?? '';
    const { O_APPEND, O_CREAT, O_WRONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
    await using handle = await open(path, O_APPEND | O_CREAT | O_WRONLY | O_NOFOLLOW | O_NONBLOCK, 0o644);
    await handle.writeFile(`${text === '' || text.endsWith('\n') ? '' : '\n'}${ignoreLine(basename(file))}\n`);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new UserError('file_not_written', `Cannot write ${path}: ${reason}`, {
      hint: 'Nothing was written. Add the file to .gitignore by hand, or choose another file: --config FILE',
      cause,
    });
  }
}

/** The pattern for a file of this folder only; signs with a meaning for git are escaped. */
function ignoreLine(name: string): string {
  return `/${name.replaceAll(/[\\*?[\]]|[ \t]+$/g, '\\$&')}`;
}

async function existingFolder(folder: string): Promise<string> {
  return (await exists(folder)) || folder === dirname(folder) ? folder : existingFolder(dirname(folder));
}
