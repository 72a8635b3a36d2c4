import { UserError } from '../runtime/errors.ts';
import { shell } from '../text/shell-word.ts';
import { filesOfTable, type Manifest, type ManifestFile } from './manifest/manifest.ts';

export interface Damage {
  manifest: Manifest;
  file: Pick<ManifestFile, 'name'>;
  place?: string;
  state?: string;
  /** The next push replaces the object. */
  isReported?: boolean;
  cause: unknown;
}

export function damaged({
  manifest,
  file,
  place,
  state = 'Nothing was changed.',
  isReported,
  cause,
}: Damage): UserError {
  const { id, target, tables } = manifest;
  const name =
    tables.find((table) => filesOfTable(table).some(({ name: one }) => one === file.name))?.name ?? file.name;
  return new UserError(
    'snapshot_damaged',
    `Snapshot ${id} of ${target} is damaged${place === undefined ? '' : ` in ${place}`}`,
    {
      details: [
        `${name}: ${reasonOf(cause)}`,
        ...(isReported ? ['Reported: once confirmed, the next build or push replaces the object.'] : []),
      ],
      hint: `${state} Choose another snapshot, or build a new one: ${shell`tool build ${target}`}`,
      cause,
    },
  );
}

/** Distinguishes damage of an object from a failure of this machine, such as a full disk. */
export function isObjectDamage(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return !(error instanceof UserError) && (typeof code !== 'string' || !/^E[A-Z0-9]+$/.test(code));
}

export function reasonOf(error: unknown): string {
  const { code, name, message } = error as NodeJS.ErrnoException;
  return code === 'ENOENT' || name === 'NoSuchKey' ? 'the object is missing' : message;
}
