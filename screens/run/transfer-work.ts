import type { SnapshotRow } from '../../src/results/results.ts';
import type { Work } from '../../src/state/runs.ts';
import { formatBytes, formatDuration, formatNumberOf } from '../../src/text/format.ts';
import type { Model } from '../app/model.ts';
import { refreshAfterWork } from '../app/refresh.ts';

export interface Transfer {
  kind: 'push' | 'pull';
  target: string;
  snapshot: SnapshotRow;
}

const WORDS = { push: { present: 'Push', past: 'Pushed' }, pull: { present: 'Pull', past: 'Pulled' } };

export function transferWork(model: Model, { kind, target, snapshot }: Transfer): Work {
  const { present, past } = WORDS[kind];
  const what = `snapshot ${snapshot.index} of ${target}`;
  return {
    title: `${present} ${what}`,
    target,
    kind,
    replaces: null,
    perform: async (session) => {
      const { storage, objects, bytes } = await model.operations[kind](session, { target, snapshot: snapshot.id });
      await refreshAfterWork(model, target);
      const moved = `${formatNumberOf(objects, 'object')}, ${formatBytes(bytes)}`;
      const where = kind === 'push' ? `to ${storage}` : `from ${storage}`;
      const line =
        storage === null ? `Nothing to pull: ${what} is on this machine already` : `${past} ${what} ${where}`;
      return (duration) => ({
        line: storage === null ? line : `${line} (${moved}, ${formatDuration(duration)})`,
        problems: [],
        undoable: false,
      });
    },
  };
}

export interface Export {
  target: string;
  snapshot: SnapshotRow;
  /** Absolute. */
  file: string;
}

export function exportWork(model: Model, { target, snapshot, file }: Export): Work {
  const what = `snapshot ${snapshot.index} of ${target}`;
  return {
    title: `Export ${what}`,
    target,
    kind: 'export',
    replaces: null,
    perform: async (session) => {
      const { bytes } = await model.operations.export(session, { target, snapshot: snapshot.id, file });
      return (duration) => ({
        line: `Exported ${what} to ${file} (${formatBytes(bytes)}, ${formatDuration(duration)})`,
        problems: [],
        undoable: false,
      });
    },
  };
}
