import { resolve } from 'node:path';
import type { TextEdit } from '../../components/text-edit.ts';
import { exportAbout, FILE_REQUIRED } from '../../src/operations/snapshots/transfer/transfer-text.ts';
import type { SnapshotRow } from '../../src/results/results.ts';
import { FieldFrame } from '../app/frame/field-frame.tsx';
import { BACK } from '../app/keys.ts';
import type { Model, ScreenModule } from '../app/model.ts';
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

export const exportScreen: ScreenModule<ExportRoute> = {
  id: 'export',
  title: 'Export to a file',
  view: ExportView,
  keys: [
    { keys: ['enter'], label: 'export', help: 'write the file', run: beginExport, stays: true, palette: false },
    { ...BACK, keys: ['esc'], label: 'cancel', help: 'back; nothing is written' },
  ],
  onAccept: beginExport,
};

function beginExport(model: Model, { target, snapshot, typing }: ExportRoute): void {
  const name = typing.text.trim();
  if (name === '') {
    model.navigation.notify({ tone: 'caution', text: FILE_REQUIRED });
    return;
  }
  const run = model.runs.begin(exportRun(model, { target, snapshot }, resolve(model.cwd, name)));
  model.navigation.replace(runRoute(run));
}

function ExportView({ route: { target, snapshot, typing } }: { route: ExportRoute }) {
  const about = exportAbout(target, snapshot);
  return <FieldFrame screen="export" path={[target, 'export']} about={about} label="File:" edit={typing} />;
}
