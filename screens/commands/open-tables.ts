import type { SnapshotRow, SnapshotTable } from '../../src/results/results.ts';
import { emptyList } from '../../src/state/list.ts';
import { notFetched, showWhileFetching } from '../app/lists/fetched.ts';
import { type Model, quietly } from '../app/model.ts';

export function showTables(model: Model, { target, snapshot }: { target: string; snapshot: SnapshotRow }): void {
  const selection = { list: emptyList, typing: null, marked: [] };
  showWhileFetching(
    model,
    { screen: 'tables', target, snapshot, ...selection, ...notFetched<SnapshotTable[]>() },
    (signal) => model.operations.listTables(quietly(signal), { target, snapshot: snapshot.id }),
  );
}
