import { type ListState, selectedIndex } from '../../src/state/list.ts';
import { coverageRows } from '../coverage/rows.ts';
import { rowsOf } from '../doctor/selection.ts';
import { panesOf } from '../editor/selection.ts';
import { entriesInView } from '../palette/entries.ts';
import { planRows } from '../subset/rows.ts';
import { factsOf } from './facts.ts';
import { positionIn } from './in-view.ts';
import { type Model, snapshotsInView, tablesInView, targetsInView } from './model.ts';
import type { Place } from './place.ts';

/** Where the selection is; in long lists without looking through them. */
export function indexInView(model: Model, place: Extract<Place, { list: ListState }>, ids: string[]): number {
  const { selected } = place.list;
  if (place.screen === 'targets') return positionIn(targetsInView(model, place), selected);
  if (place.screen === 'snapshots') return positionIn(snapshotsInView(model, place), selected);
  return selectedIndex(ids, selected);
}

/** Identities of what a list shows at the moment, in order. */
export function idsInView(model: Model, place: Place): string[] {
  switch (place.screen) {
    case 'targets':
      return targetsInView(model, place).ids;
    case 'snapshots':
      return snapshotsInView(model, place).ids;
    case 'coverage':
      return coverageRows(factsOf(model, place).run?.receipt?.sanitized?.coverage).map(({ column }) => column);
    case 'tasks':
      return model.runs.store
        .getState()
        .runs.map(({ id }) => id)
        .reverse();
    case 'messages':
      return model.messages.store.getState().all.map(({ id }) => id);
    case 'tables':
      return tablesInView(place).map(({ table }) => table);
    case 'diff':
      return (place.found?.changes ?? []).map(({ table }) => table);
    case 'subset':
      return planRows(place.found?.plan.tables ?? []).map(({ table }) => table);
    case 'doctor':
      return rowsOf(place).map(({ id }) => id);
    case 'fix':
      return place.found?.change.kind === 'text' ? place.found.change.diff.map((_, index) => String(index)) : [];
    case 'trust':
      return place.lines.map((_, index) => String(index));
    case 'editor':
      return (panesOf(place)?.rows ?? []).map(({ id }) => id);
    case 'editor-diff':
      return place.lines.map((_, index) => String(index));
    case 'editor-problems':
      return place.draft.problems.map((_, index) => String(index));
    case 'palette':
      return entriesInView(model, place).map(({ text }) => text);
    default:
      return [];
  }
}
