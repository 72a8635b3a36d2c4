import { PAGE_CHROME } from '../components/page.tsx';
import { textEdit } from '../components/text-edit.ts';
import { emptyList, type ListState, type Move, moveSelection } from '../src/state/list.ts';
import { factsOf } from './facts.ts';
import { type Model, snapshotsInView, targetsInView } from './model.ts';
import { type Place, snapshotsPlace } from './place.ts';
import { refreshSnapshots } from './refresh.ts';

/** Moves the pointer of a list, or scrolls what has none. */
export function move(model: Model, direction: Move): void {
  const { navigation } = model;
  const place = navigation.top();
  const page = Math.max(1, model.terminal.rows() - PAGE_CHROME - 2);
  if (place.screen === 'run') {
    navigation.replace({ ...place, scrolledUp: scrolled(place.scrolledUp, UPWARDS[direction], page) });
  } else if (place.screen === 'help') {
    navigation.replace({ ...place, scrolled: scrolled(place.scrolled, direction, page) });
  }
  const ids = idsInView(model, place);
  if ('list' in place) navigation.replace(withList(place, moveSelection(place.list, { ids, move: direction, page })));
}

export function openSelected(model: Model): void {
  const { navigation } = model;
  const place = navigation.top();
  if (place.screen === 'targets') {
    const name = factsOf(model).target?.row.name;
    if (name === undefined) return;
    navigation.push(snapshotsPlace(name));
    void refreshSnapshots(model, name);
  }
  if (place.screen === 'tasks') {
    const ids = idsInView(model, place);
    const run = ids.includes(place.list.selected ?? '') ? place.list.selected : ids[0];
    if (run) navigation.push({ screen: 'run', run, scrolledUp: 0 });
  }
}

export function back(model: Model): void {
  const place = model.navigation.top();
  if (place.screen === 'confirm' || place.screen === 'sign-in') place.controller.abort();
  model.navigation.pop();
}

export function startFilter(model: Model): void {
  const place = model.navigation.top();
  if (place.screen === 'targets' || place.screen === 'snapshots') {
    model.navigation.replace({ ...place, typing: textEdit(place.list.filter) });
  }
}

export function clearFilter(model: Model): void {
  const place = model.navigation.top();
  if ('list' in place) model.navigation.replace(withList(place, { ...place.list, filter: '' }));
}

export function tasks(model: Model): void {
  model.navigation.push({ screen: 'tasks', list: emptyList });
}

export function help(model: Model): void {
  model.navigation.push({ screen: 'help', of: model.navigation.top(), scrolled: 0 });
}

/** Identities of what a list shows at the moment, in order. */
function idsInView(model: Model, place: Place): string[] {
  switch (place.screen) {
    case 'targets':
      return targetsInView(model.targets.getState(), place).map(({ row }) => row.name);
    case 'snapshots':
      return snapshotsInView(model.snapshots.getState(), place).map(({ id }) => id);
    case 'tasks':
      return model.runs.store
        .getState()
        .runs.map(({ id }) => id)
        .reverse();
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

function scrolled(from: number, direction: Move, page: number): number {
  const distances: Record<Move, number> = {
    up: -1,
    down: 1,
    'page-up': -page,
    'page-down': page,
    first: Number.NEGATIVE_INFINITY,
    last: FURTHEST,
  };
  return Math.max(0, Math.min(FURTHEST, from + distances[direction]));
}

/** More than any text is long; who draws takes the last page instead. */
const FURTHEST = 100_000;
