import { containsPath } from '../../runtime/contains-path.ts';
import type { ErrorCode } from '../../runtime/error-codes.ts';
import { UserError } from '../../runtime/errors.ts';

export type Access = 'read' | 'write';

interface FailedCall {
  profile: string;
  path: string;
  access: Access;
}

/** Errors of the file system; those of other files are returned as they are. */
export function explain(error: unknown, { profile, path, access }: FailedCall): unknown {
  const { code: systemCode = '', path: file } = error as NodeJS.ErrnoException;
  if (file !== undefined && !containsPath(path, file)) return error;
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
      // Of a get, the disk of this machine is full.
      return access === 'write'
        ? ['storage_full', `${path} is full`, 'Remove snapshots (tool prune), or free space on its disk.']
        : null;
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
