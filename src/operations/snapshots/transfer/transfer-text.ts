import { summaryOf } from '../../../presentation/shapes/summary.ts';
import { briefName, lackingLines, snapshotName } from '../../../presentation/snapshot.ts';
import type {
  ExportResult,
  SnapshotRow,
  TransferResult,
  VerifiedRestore,
  VerifyResult,
} from '../../../results/results.ts';
import type { RunSummary } from '../../../state/runs.ts';
import { formatBytes, formatDuration, formatNumberOf, formatTime } from '../../../text/format.ts';
import { VERIFIED } from '../../load/text.ts';

export type TransferKind = 'push' | 'pull';

export function transferSummary(kind: TransferKind, result: TransferResult): RunSummary {
  const { target, snapshot, storage, objects, bytes } = result;
  const name = snapshotName(target, snapshot);
  if (storage === null)
    return summaryOf(`Nothing to pull: ${name} is on this machine already`, { snapshot: snapshot.id });
  const what = kind === 'push' ? `Pushed ${name} to ${storage}` : `Pulled ${name} from ${storage}`;
  const amount = `${formatNumberOf(objects, 'object')}, ${formatBytes(bytes)}`;
  return summaryOf(`${what}: ${objects === 0 ? 'every object was there already' : amount}`, {
    snapshot: snapshot.id,
  });
}

export const FILE_REQUIRED = 'Type the name of a file';

export function exportAbout(target: string, snapshot: SnapshotRow): string {
  return `Snapshot ${briefName(snapshot)} of ${target}, ${formatBytes(snapshot.size_bytes)}. To read the file: tool import`;
}

export function exportSummary({ target, snapshot, file, bytes }: ExportResult): RunSummary {
  return summaryOf(`Exported ${snapshotName(target, snapshot)} to ${file}: ${formatBytes(bytes)}`, {
    snapshot: snapshot.id,
  });
}

export function verifySummary(result: VerifyResult): RunSummary {
  const { target, snapshot, save, ok, files, bytes, problems, repaired, restore } = result;
  const name =
    save === undefined
      ? `Snapshot ${snapshot.index} of ${target} (${briefName(snapshot)})`
      : `Save ${save} of ${target}`;
  const read = `${formatNumberOf(files, 'file')}, ${formatBytes(bytes)} read`;
  if (!ok) return summaryOf(`${name} is damaged: ${read}`, { problems: [...problems, ...lostLines(result)] });
  if (restore) {
    const { after_load_steps: steps, query_value: value } = restore;
    return summaryOf(`${name} ${restoredText(restore)}`, {
      details: [
        VERIFIED,
        ...(steps === undefined ? [] : [`Ran ${formatNumberOf(steps, 'step')} of after_load`]),
        ...(value === undefined ? [] : [`The query returned ${value ?? 'NULL'}`]),
        ...lackingLines([snapshot]),
      ],
    });
  }
  const again = repaired.length > 0 ? `; ${formatNumberOf(repaired.length, 'damaged file')} repaired` : '';
  return summaryOf(`${name} is intact: ${read}${again}`, { details: lackingLines([snapshot]) });
}

/** `can be restored: 2.1 s in a throw-away server, which is removed` */
export function restoredText({ place, duration_ms }: VerifiedRestore): string {
  return `can be restored: ${formatDuration(duration_ms)} in ${place}, which is removed`;
}

export function lostLines({ lost }: VerifyResult): string[] {
  return lost.map(
    ({ target, id, created_at }) => `Lost: snapshot ${id} of ${target}, created ${formatTime(created_at)}`,
  );
}
