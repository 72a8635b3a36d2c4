import { EXIT, UserError } from '../runtime/errors.ts';
import { filesOfTable, type Manifest, type ManifestFile } from './manifest.ts';

export interface Damage {
  manifest: Manifest;
  file: ManifestFile;
  place?: string;
  state?: string;
  cause: unknown;
}

export function damaged({ manifest, file, place, state = 'Nothing was changed.', cause }: Damage): UserError {
  const { id, target, tables } = manifest;
  const name =
    tables.find((table) => filesOfTable(table).some(({ name: one }) => one === file.name))?.name ?? file.name;
  return new UserError(`Snapshot ${id} of ${target} is damaged${place === undefined ? '' : ` in ${place}`}`, {
    code: 'snapshot_damaged',
    exit: EXIT.failed,
    details: [`${name}: ${reasonOf(cause)}`],
    hint: `${state} Choose another snapshot, or build a new one: tool build ${target}`,
    cause,
  });
}

export function reasonOf(error: unknown): string {
  const { code, name, message } = error as NodeJS.ErrnoException;
  return code === 'ENOENT' || name === 'NoSuchKey' ? 'the object is missing' : message;
}
