import { type ListState, selectedIndex } from '../../src/state/list.ts';
import { coverageRows } from '../coverage/rows.ts';
import { rowsOf } from '../doctor/selection.ts';
import { panesOf } from '../editor/selection.ts';
import { entriesInView } from '../palette/entries.ts';
import { planRows } from '../subset/rows.ts';
import { factsOf } from './facts.ts';
import { positionIn } from './in-view.ts';
import { type Model, snapshotsInView, tablesInView, targetsInView } from './model.ts';
import type { Route } from './route.ts';

/** Where the selection is; in long lists without looking through them. */
export function indexInView(model: Model, route: Extract<Route, { list: ListState }>, ids: string[]): number {
  const { selected } = route.list;
  if (route.screen === 'targets') return positionIn(targetsInView(model, route), selected);
  if (route.screen === 'snapshots') return positionIn(snapshotsInView(model, route), selected);
  return selectedIndex(ids, selected);
}

/** Identities of what a list shows at the moment, in order. */
export function idsInView(model: Model, route: Route): string[] {
  switch (route.screen) {
    case 'targets':
      return targetsInView(model, route).ids;
    case 'snapshots':
      return snapshotsInView(model, route).ids;
    case 'coverage':
      return coverageRows(factsOf(model, route).run?.receipt?.sanitized?.coverage).map(({ column }) => column);
    case 'tasks':
      return model.runs.store
        .getState()
        .runs.map(({ id }) => id)
        .reverse();
    case 'messages':
      return model.messages.store.getState().all.map(({ id }) => id);
    case 'tables':
      return tablesInView(route).map(({ table }) => table);
    case 'diff':
      return (route.found?.changes ?? []).map(({ table }) => table);
    case 'subset':
      return planRows(route.found?.plan.tables ?? []).map(({ table }) => table);
    case 'doctor':
      return rowsOf(route).map(({ id }) => id);
    case 'fix':
      return route.found?.change.kind === 'text' ? route.found.change.diff.map((_, index) => String(index)) : [];
    case 'trust':
      return route.lines.map((_, index) => String(index));
    case 'editor':
      return (panesOf(route)?.rows ?? []).map(({ id }) => id);
    case 'editor-diff':
      return route.lines.map((_, index) => String(index));
    case 'editor-problems':
      return route.draft.problems.map((_, index) => String(index));
    case 'palette':
      return entriesInView(model, route).map(({ text }) => text);
    default:
      return [];
  }
}
