import { PAGE_CHROME } from '../../components/page.tsx';
import { textEdit } from '../../components/text-edit.ts';
import { emptyList, type ListState, type Move, moveSelection, selectedIndex } from '../../src/state/list.ts';
import { applyFix } from '../doctor/actions.ts';
import { goToProblem, leaveEditor, openInEditor } from '../editor/actions.ts';
import { moveSuggestion } from '../editor/names.ts';
import { saveShown } from '../editor/save.ts';
import { panesOf } from '../editor/selection.ts';
import { openMessage } from '../messages/actions.ts';
import { backStep, finish } from '../setup/actions.ts';
import { openTables } from '../snapshots/actions.ts';
import { answerTrust } from '../trust/actions.ts';
import { type AtPlaces, doAt } from './at-places.ts';
import { factsOf } from './facts.ts';
import { idsInView, indexInView } from './ids-in-view.ts';
import type { Model } from './model.ts';
import { isFiltered, runPlace, snapshotsPlace } from './place.ts';
import { refreshSnapshots } from './refresh.ts';

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

const OPENING: AtPlaces = {
  targets(model) {
    const name = factsOf(model).target?.row.name;
    if (name !== undefined) openTarget(model, name);
  },
  snapshots: openTables,
  setup: finish,
  fix: (model, place) => void applyFix(model, place),
  trust: (model, { error }) => void answerTrust(model, error),
  editor: openInEditor,
  'editor-diff': saveShown,
  'editor-problems': (model, place) => goToProblem(model, selectedIndex(idsInView(model, place), place.list.selected)),
  messages: openMessage,
  tasks(model) {
    const run = factsOf(model).run?.id;
    if (run !== undefined) model.navigation.push(runPlace(run));
  },
};

export function openSelected(model: Model): void {
  doAt(OPENING, model);
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

function withList<Listed extends { list: ListState }>(place: Listed, list: ListState): Listed {
  return { ...place, list };
}
