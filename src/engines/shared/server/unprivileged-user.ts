import { chown, cp, lchown, readdir, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import type { Command } from '../../../process/runner.ts';
import { UserError } from '../../../runtime/errors.ts';
import type { EngineContext } from '../../engine-context.ts';

type User = NonNullable<Command['user']> & { name: string };

/** Servers refuse to run as root: the account of the database server, or `nobody`. */
export async function unprivilegedUser(own: string): Promise<User | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  const accounts = (await readFile('/etc/passwd', 'utf8')).split('\n').map((line) => line.split(':'));
  const account = [own, 'nobody'].map((name) => accounts.find(([found]) => found === name)).find(Boolean);
  if (account) return { name: String(account[0]), uid: Number(account[2]), gid: Number(account[3]) };
  throw new UserError(
    'server_not_started',
    `Database servers refuse to run as root, and there is neither a user "${own}" nor "nobody"`,
    { hint: 'Run as another user than root.' },
  );
}

/** Root's own temporary folder may be private (pam_tmpdir). */
export async function temporaryFolderFor(context: EngineContext, user: User | undefined): Promise<string> {
  if (!user) return tmpdir();
  for (const folder of [tmpdir(), '/tmp']) {
    if (await isSo(context, { user, condition: 'test -x "$0" && test -w "$0"', path: folder })) return folder;
  }
  throw new UserError(
    'server_not_started',
    `The user "${user.name}" cannot write to ${tmpdir()}, and root may not run a database server`,
    { hint: 'Set TMPDIR to a folder that everybody may write to, such as /tmp.' },
  );
}

/** A copy in `directory` if the user cannot access the folder, such as below root's home. */
export async function programsFor(
  context: EngineContext,
  { bin, directory, user }: { bin: string; directory: string; user: Command['user'] },
): Promise<string> {
  if (!user || (await isSo(context, { user, condition: 'test -x "$0"', path: join(bin, 'postgres') }))) return bin;
  const copy = join(directory, 'programs');
  // Programs find libraries and files relative to their folder.
  await cp(dirname(bin), copy, { recursive: true, verbatimSymlinks: true });
  await giveTo(user, copy);
  return join(copy, basename(bin));
}

/** The owner of a folder can remove its content. */
async function giveTo({ uid, gid }: NonNullable<Command['user']>, directory: string): Promise<void> {
  await chown(directory, uid, gid);
  for (const entry of await readdir(directory, { recursive: true, withFileTypes: true })) {
    await lchown(join(entry.parentPath, entry.name), uid, gid);
  }
}

/** Tested as the user: parent folders, ACLs and read-only mounts matter too. */
async function isSo(
  { runner, signal }: EngineContext,
  { user: { uid, gid }, condition, path }: { user: NonNullable<Command['user']>; condition: string; path: string },
): Promise<boolean> {
  const result = await runner.run({ file: '/bin/sh', args: ['-c', condition, path], user: { uid, gid } }, { signal });
  return result.exitCode === 0;
}
