import { PAGE_CHROME } from '../components/page.tsx';
import { textEdit } from '../components/text-edit.ts';
import { emptyList, type ListState, type Move, moveSelection, selectedIndex } from '../src/state/list.ts';
import { coverageRows } from './coverage/rows.ts';
import { applyFix } from './doctor/actions.ts';
import { diffOf } from './doctor/fix-diff.ts';
import { rowsOf } from './doctor/selection.ts';
import { goToProblem, leaveEditor, openInEditor } from './editor/actions.ts';
import { moveSuggestion } from './editor/names.ts';
import { saveShown } from './editor/save.ts';
import { panesOf } from './editor/selection.ts';
import { factsOf } from './facts.ts';
import { positionIn } from './in-view.ts';
import { openMessage } from './messages/actions.ts';
import { type Model, snapshotsInView, tablesInView, targetsInView } from './model.ts';
import { entriesInView } from './palette/entries.ts';
import { isFiltered, type Place, runPlace, snapshotsPlace } from './place.ts';
import { refreshSnapshots } from './refresh.ts';
import { backStep, finish } from './setup/actions.ts';
import { openTables } from './snapshots/actions.ts';
import { planRows } from './subset/rows.ts';

/** Moves the pointer of a list, or scrolls what has none. */
export function move(model: Model, direction: Move): void {
  const { navigation } = model;
  const place = navigation.top();
  const page = Math.max(1, model.terminal.rows() - PAGE_CHROME - 2);
  const { furthest } = model.viewport;
  if (place.screen === 'run' || place.screen === 'setup') {
    const scrolledUp = scrolled(place.scrolledUp, { direction: UPWARDS[direction], page, furthest });
    navigation.replace({ ...place, scrolledUp });
    return;
  }
  if (place.screen === 'help') {
    navigation.replace({ ...place, scrolled: scrolled(place.scrolled, { direction, page, furthest }) });
    return;
  }
  if (place.screen === 'editor' && place.typing) {
    moveSuggestion(model, place, direction);
    return;
  }
  if (place.screen === 'editor' && place.pane === 'form') {
    const fields = (panesOf(place)?.fields ?? []).map(({ id }) => id);
    navigation.replace({
      ...place,
      fields: moveSelection(place.fields, {
        ...{ ids: fields, move: direction, page },
        index: selectedIndex(fields, place.fields.selected),
      }),
    });
    return;
  }
  if (!('list' in place)) return;
  const ids = idsInView(model, place);
  const index = indexInView(model, place, ids);
  navigation.replace(withList(place, moveSelection(place.list, { ids, index, move: direction, page })));
}

export function openSelected(model: Model): void {
  const { navigation } = model;
  const place = navigation.top();
  if (place.screen === 'targets') {
    const name = factsOf(model).target?.row.name;
    if (name !== undefined) openTarget(model, name);
  }
  if (place.screen === 'snapshots') openTables(model);
  if (place.screen === 'setup') finish(model, place);
  if (place.screen === 'fix') void applyFix(model, place);
  if (place.screen === 'editor') openInEditor(model, place);
  if (place.screen === 'editor-diff') saveShown(model, place);
  if (place.screen === 'editor-problems')
    goToProblem(model, selectedIndex(idsInView(model, place), place.list.selected));
  if (place.screen === 'messages') openMessage(model);
  if (place.screen === 'tasks') {
    const run = factsOf(model).run?.id;
    if (run !== undefined) navigation.push(runPlace(run));
  }
}

export function openTarget(model: Model, name: string): void {
  model.navigation.push(snapshotsPlace(name));
  void refreshSnapshots(model, name);
}

export function back(model: Model): void {
  const place = model.navigation.top();
  if (place.screen === 'setup') {
    backStep(model, place);
    return;
  }
  if (place.screen === 'editor') {
    leaveEditor(model, place);
    return;
  }
  if ('controller' in place) place.controller.abort();
  model.navigation.pop();
}

export function startFilter(model: Model): void {
  const place = model.navigation.top();
  if (isFiltered(place)) model.navigation.replace({ ...place, typing: textEdit(place.list.filter) });
}

export function clearFilter(model: Model): void {
  const place = model.navigation.top();
  if ('list' in place) model.navigation.replace(withList(place, { ...place.list, filter: '' }));
}

export function tasks(model: Model): void {
  model.navigation.push({ screen: 'tasks', list: emptyList });
}

export function palette(model: Model): void {
  model.navigation.push({ screen: 'palette', of: model.navigation.top(), typing: textEdit(), list: emptyList });
}

/** While it is on, the terminal's own selecting of text is not: so it is off until asked for. */
export function mouse(model: Model): void {
  model.mouse.on = !model.mouse.on;
  model.terminal.mouse(model.mouse.on);
  model.navigation.notify({ tone: 'good', text: model.mouse.on ? 'The mouse is on' : 'The mouse is off' });
}

export function help(model: Model): void {
  model.navigation.push({ screen: 'help', of: model.navigation.top(), scrolled: 0 });
}

/** Where the selection is; in long lists without looking through them. */
function indexInView(model: Model, place: Extract<Place, { list: ListState }>, ids: string[]): number {
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
      return diffOf(place).map((_, index) => String(index));
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

function withList<Listed extends { list: ListState }>(place: Listed, list: ListState): Listed {
  return { ...place, list };
}

// A log is counted from its end, so that following it is 0.
const UPWARDS: Record<Move, Move> = {
  up: 'down',
  down: 'up',
  'page-up': 'page-down',
  'page-down': 'page-up',
  first: 'last',
  last: 'first',
};

interface Scroll {
  direction: Move;
  page: number;
  /** As far as the text goes. */
  furthest: number;
}

function scrolled(from: number, { direction, page, furthest }: Scroll): number {
  const distances: Record<Move, number> = {
    up: -1,
    down: 1,
    'page-up': -page,
    'page-down': page,
    first: Number.NEGATIVE_INFINITY,
    last: Number.POSITIVE_INFINITY,
  };
  return Math.max(0, Math.min(furthest, from + distances[direction]));
}
