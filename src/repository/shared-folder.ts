import { stat } from 'node:fs/promises';
import type { ErrorCode } from '../runtime/error-codes.ts';
import { UserError } from '../runtime/errors.ts';
import type { Envelope } from './encryption/envelope.ts';
import { createFolder } from './folder.ts';
import type { Store } from './store.ts';

export interface SharedFolderOptions {
  /** Name of the storage profile. */
  profile: string;
  path: string;
  envelope: Envelope;
}

/**
 * The store of a storage profile that is a folder: a disk, a NAS or a synchronized folder. It is never created, since a
 * missing one may be a disk that is not mounted. Its files get the permissions of the folder.
 */
export function openSharedFolder({ profile, path, envelope }: SharedFolderOptions): Store {
  let folder: Promise<Store> | undefined;
  const explained = async <Answer>(access: Access, work: (store: Store) => Promise<Answer>): Promise<Answer> => {
    try {
      folder ??= openFolder(path, envelope);
      return await work(await folder);
    } catch (error) {
      throw explain(error, { profile, path, access });
    }
  };
  return {
    name: path,
    list: (prefix) => explained('read', (store) => store.list(prefix)),
    top: () => explained('read', (store) => store.top()),
    find: (key) => explained('read', (store) => store.find(key)),
    read: (key) => explained('read', (store) => store.read(key)),
    present: (keys) => explained('read', (store) => store.present(keys)),
    get: (key, file, transfer) => explained('read', (store) => store.get(key, file, transfer)),
    write: (key, text) => explained('write', (store) => store.write(key, text)),
    put: (key, file, transfer) => explained('write', (store) => store.put(key, file, transfer)),
    remove: (key) => explained('write', (store) => store.remove(key)),
    removeUnfinished: (before) => explained('write', (store) => store.removeUnfinished(before)),
  };
}

type Access = 'read' | 'write';

async function openFolder(path: string, envelope: Envelope): Promise<Store> {
  const { mode } = await stat(`${path}/`);
  return createFolder(path, { envelope, mode });
}

interface FailedCall {
  profile: string;
  path: string;
  access: Access;
}

/** Errors of the file system; those of other files are returned as they are. */
function explain(error: unknown, { profile, path, access }: FailedCall): unknown {
  const { code: systemCode = '', path: file = '', dest = '' } = error as NodeJS.ErrnoException & { dest?: string };
  const place = access === 'write' && dest !== '' ? dest : file;
  if (!`${place}/`.startsWith(`${path}/`)) return error;
  const meaning = meaningOf(systemCode, { profile, path, access });
  if (!meaning) return error;
  const [code, message, hint] = meaning;
  return new UserError(code, message, { hint, cause: error });
}

function meaningOf(systemCode: string, { profile, path, access }: FailedCall): [ErrorCode, string, string] | null {
  switch (systemCode) {
    case 'ENOENT':
    case 'ENOTDIR':
      return [
        'bucket_missing',
        `Folder not found: ${path}`,
        `Mount its disk, create it, or change storage_profiles.${profile}.path.`,
      ];
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return [
        'storage_forbidden',
        `You may not ${access === 'write' ? 'write to' : 'read'} ${path}`,
        'Change the permissions of the folder, or mount it for writing.',
      ];
    case 'ENOSPC':
    case 'EDQUOT':
      return ['storage_full', `${path} is full`, 'Remove snapshots (tool prune), or free space on its disk.'];
    case 'EIO':
    case 'ESTALE':
    case 'ENOTCONN':
    case 'ETIMEDOUT':
    case 'EHOSTDOWN':
      return ['storage_unreachable', `Cannot reach ${path}: ${systemCode}`, 'Check the disk or the mount.'];
    default:
      return null;
  }
}
