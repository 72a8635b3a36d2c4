import { chmod, chown, constants, mkdtemp, open, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { Command } from '../../../process/runner.ts';
import { UserError } from '../../../runtime/errors.ts';
import type { EngineContext } from '../../engine-context.ts';
import { temporaryFolderFor, unprivilegedUser } from './unprivileged-user.ts';

export interface ServerHome {
  directory: string;
  /** Unprivileged account, if we are root. */
  user: Command['user'];
  write(name: string, content: string): Promise<void>;
  read(name: string): Promise<string>;
  remove(): Promise<void>;
}

export function makeServerHome(context: EngineContext, account: string): Promise<ServerHome> {
  return context.runner.id === 'local' ? homeHere(context, account) : homeInContainer(context, account);
}

async function homeHere(context: EngineContext, account: string): Promise<ServerHome> {
  const owner = await unprivilegedUser(account);
  const directory = await mkdtemp(join(await temporaryFolderFor(context, owner), `tool-${account}-`));
  await chmod(directory, 0o700);
  if (owner) await chown(directory, owner.uid, owner.gid);
  return homeAt(directory, owner && { uid: owner.uid, gid: owner.gid });
}

/** The account of a server, if we are root, and a folder that it can reach: the one given, if we are not. */
export async function homeFor(context: EngineContext, { account, folder }: { account: string; folder: string }) {
  const owner = await unprivilegedUser(account);
  if (!owner) return { folder, user: undefined };
  return { folder: await temporaryFolderFor(context, owner), user: { uid: owner.uid, gid: owner.gid } };
}

const WRITE = constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC | constants.O_NOFOLLOW;

export function homeAt(directory: string, user: Command['user']): ServerHome {
  return {
    directory,
    user,
    async write(name, content) {
      // The account of the server may have put a link there, and we may be root.
      await using file = await open(join(directory, name), WRITE, 0o600);
      await file.writeFile(content);
      if (user) await file.chown(user.uid, user.gid);
    },
    read: (name) => readFile(join(directory, name), 'utf8').catch(() => ''),
    remove: () => rm(directory, { recursive: true, force: true }),
  };
}

/** In the container's file system, which is removed with it. */
async function homeInContainer({ runner, signal }: EngineContext, account: string): Promise<ServerHome> {
  const shell = async (script: string, args: string[], given: { user?: Command['user']; input?: string } = {}) => {
    const { user, input } = given;
    const command = { file: 'sh', args: ['-c', script, ...args], ...(user && { user }) };
    const child = runner.start(command, { signal, input: input ?? '' });
    const [{ exitCode, stderr }, stdout] = await Promise.all([child.ended, text(child.stdout)]);
    return { ok: exitCode === 0, stdout: stdout.trim(), stderr };
  };
  const ids = await shell('id -u "$0" && id -g "$0"', [account]);
  const [uid, gid] = ids.stdout.split('\n').map(Number);
  const user = ids.ok && uid !== undefined && gid !== undefined ? { uid, gid } : undefined;
  const made = await shell('umask 077; mktemp -d "/tmp/tool-$0-XXXXXX"', [account], { user });
  if (!made.ok) throw noFolder(made.stderr);
  const directory = made.stdout;
  return {
    directory,
    user,
    async write(name, content) {
      const written = await shell('umask 077; cat > "$0"', [join(directory, name)], { user, input: content });
      if (!written.ok) throw noFolder(written.stderr);
    },
    read: async (name) => (await shell('cat "$0" 2>/dev/null', [join(directory, name)], { user })).stdout,
    remove: async () => void (await shell('rm -rf "$0"', [directory], { user })),
  };
}

function noFolder(stderr: string): UserError {
  return new UserError(
    'server_not_started',
    'Cannot start a throw-away server in the container: no space left for its files',
    { details: stderr.trim().split('\n'), hint: 'Is the disk of Docker full?' },
  );
}
