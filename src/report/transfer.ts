import type { TransferResult } from '../results/results.ts';
import { formatBytes, formatNumberOf } from '../text/format.ts';

export function pushedText({ target, snapshot, storage, objects, bytes }: TransferResult): string {
  const name = `snapshot ${snapshot.index} of ${target} (${snapshot.id})`;
  if (objects === 0) return `Pushed ${name} to ${storage}: every object was there already`;
  return `Pushed ${name} to ${storage}: ${formatNumberOf(objects, 'object')}, ${formatBytes(bytes)}`;
}

export function pulledText({ target, snapshot, storage, objects, bytes }: TransferResult): string {
  const name = `snapshot ${snapshot.index} of ${target} (${snapshot.id})`;
  if (storage === null) return `Nothing to pull: ${name} is on this machine already`;
  if (objects === 0) return `Pulled ${name} from ${storage}: every object was here already`;
  return `Pulled ${name} from ${storage}: ${formatNumberOf(objects, 'object')}, ${formatBytes(bytes)}`;
}
