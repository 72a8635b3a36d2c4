import { resolve } from 'node:path';
import type { TextEdit } from '../../components/text-edit.ts';
import { exportAbout, FILE_REQUIRED } from '../../src/operations/snapshots/transfer/transfer-text.ts';
import type { SnapshotRow } from '../../src/results/results.ts';
import { fieldScreen } from '../app/frame/field-screen.tsx';
import { runRoute } from '../commands/runs/run-route.ts';
import { exportRun } from '../commands/runs/runs.ts';

declare module '../app/route.ts' {
  interface Routes {
    export: ExportRoute;
  }
}

interface ExportRoute {
  screen: 'export';
  target: string;
  snapshot: SnapshotRow;
  typing: TextEdit;
}

export const exportScreen = fieldScreen<ExportRoute>({
  id: 'export',
  title: 'Export to a file',
  words: { label: 'export', help: 'write the file' },
  nothing: 'written',
  field: ({ target, snapshot }) => ({
    path: [target, 'export'],
    about: exportAbout(target, snapshot),
    label: 'File:',
  }),
  accept(model, { target, snapshot, typing }) {
    const name = typing.text.trim();
    if (name === '') {
      model.navigation.notify({ tone: 'caution', text: FILE_REQUIRED });
      return;
    }
    const run = model.runs.begin(exportRun(model, { target, snapshot }, resolve(model.cwd, name)));
    model.navigation.replace(runRoute(run));
  },
});
