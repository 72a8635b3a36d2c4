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
import { type AtPlaces, doAt } from './at-routes.ts';
import { factsOf } from './facts.ts';
import { idsInView, indexInView } from './ids-in-view.ts';
import type { Model } from './model.ts';
import { refreshSnapshots } from './refresh.ts';
import { isFiltered, runRoute, snapshotsRoute } from './route.ts';

/** Moves the pointer of a list, or scrolls what has none. */
export function move(model: Model, direction: Move): void {
  const { navigation } = model;
  const route = navigation.top();
  const page = Math.max(1, model.terminal.rows() - PAGE_CHROME - 2);
  const { furthest } = model.viewport;
  if (route.screen === 'run' || route.screen === 'setup') {
    const scrolledUp = scrolled(route.scrolledUp, { direction: UPWARDS[direction], page, furthest });
    navigation.replace({ ...route, scrolledUp });
    return;
  }
  if (route.screen === 'help') {
    navigation.replace({ ...route, scrolled: scrolled(route.scrolled, { direction, page, furthest }) });
    return;
  }
  if (route.screen === 'editor' && route.typing) {
    moveSuggestion(model, route, direction);
    return;
  }
  if (route.screen === 'editor' && route.pane === 'form') {
    const fields = (panesOf(route)?.fields ?? []).map(({ id }) => id);
    navigation.replace({
      ...route,
      fields: moveSelection(route.fields, {
        ...{ ids: fields, move: direction, page },
        index: selectedIndex(fields, route.fields.selected),
      }),
    });
    return;
  }
  if (!('list' in route)) return;
  const ids = idsInView(model, route);
  const index = indexInView(model, route, ids);
  navigation.replace(withList(route, moveSelection(route.list, { ids, index, move: direction, page })));
}

const OPENING: AtPlaces = {
  targets(model) {
    const name = factsOf(model).target?.row.name;
    if (name !== undefined) openTarget(model, name);
  },
  snapshots: openTables,
  setup: finish,
  fix: (model, route) => void applyFix(model, route),
  trust: (model, { error }) => void answerTrust(model, error),
  editor: openInEditor,
  'editor-diff': saveShown,
  'editor-problems': (model, route) => goToProblem(model, selectedIndex(idsInView(model, route), route.list.selected)),
  messages: openMessage,
  tasks(model) {
    const run = factsOf(model).run?.id;
    if (run !== undefined) model.navigation.push(runRoute(run));
  },
};

export function openSelected(model: Model): void {
  doAt(OPENING, model);
}

export function openTarget(model: Model, name: string): void {
  model.navigation.push(snapshotsRoute(name));
  void refreshSnapshots(model, name);
}

export function back(model: Model): void {
  const route = model.navigation.top();
  if (route.screen === 'setup') {
    backStep(model, route);
    return;
  }
  if (route.screen === 'editor') {
    leaveEditor(model, route);
    return;
  }
  if ('controller' in route) route.controller.abort();
  model.navigation.pop();
}

export function startFilter(model: Model): void {
  const route = model.navigation.top();
  if (isFiltered(route)) model.navigation.replace({ ...route, typing: textEdit(route.list.filter) });
}

export function clearFilter(model: Model): void {
  const route = model.navigation.top();
  if ('list' in route) model.navigation.replace(withList(route, { ...route.list, filter: '' }));
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

function withList<Listed extends { list: ListState }>(route: Listed, list: ListState): Listed {
  return { ...route, list };
}
