import { toUserError } from '../../src/errors.ts';
import type { SubsetChoices } from '../../src/operations/subset/save-subset.ts';
import type { PlannedSubset } from '../../src/operations/subset/subset.ts';
import { emptyList, selectedIndex } from '../../src/state/list.ts';
import { factsOf } from '../app/facts.ts';
import { type Model, quietly } from '../app/model.ts';
import { notifyFailure } from '../app/notify-failure.ts';
import type { SubsetRoute } from '../app/route.ts';
import { ask, planAllowing } from '../confirm/actions.ts';
import { choicesOf, isTarget, stepShare, toggleCopied, toggleExcluded } from './choices.ts';
import { type PlanRow, planRows } from './rows.ts';

/** Plans the target's subset, and shows what would come. */
export function showSubset(model: Model): void {
  const { target } = factsOf(model);
  if (!target) return;
  const route: SubsetRoute = {
    screen: 'subset',
    target: target.row.name,
    choices: null,
    changed: false,
    found: null,
    error: null,
    counting: true,
    controller: new AbortController(),
    list: emptyList,
  };
  model.navigation.push(route);
  count(model, route);
}

/** Looks for the rows anew; of what was asked for before nothing is shown any more. */
function count(model: Model, { target, choices, controller }: SubsetRoute): void {
  const answer = (change: (route: SubsetRoute) => Partial<SubsetRoute>): void =>
    model.navigation.change((other) =>
      other.screen === 'subset' && other.controller === controller ? { ...other, ...change(other) } : other,
    );
  const request = { target, ...(choices && { settings: choices }) };
  const session = quietly(controller.signal);
  planAllowing((allowed) => model.operations.planSubset(session, { ...request, ...allowed })).then(
    (found) =>
      answer((route) => ({ found, error: null, counting: false, choices: route.choices ?? choicesOf(found.settings) })),
    (thrown: unknown) => answer(() => ({ error: toUserError(thrown), counting: false })),
  );
}

export function selectedTable({ found, list }: SubsetRoute): PlanRow | null {
  const rows = planRows(found?.plan.tables ?? []);
  return (
    rows[
      selectedIndex(
        rows.map(({ table }) => table),
        list.selected,
      )
    ] ?? null
  );
}

export function excludeTable(model: Model): void {
  change(model, (choices, table) =>
    isTarget(choices, table) ? `${table} is what the subset is made of` : toggleExcluded(choices, table),
  );
}

export function copyTable(model: Model): void {
  change(model, (choices, table) =>
    isTarget(choices, table) ? `${table} is what the subset is made of` : toggleCopied(choices, table),
  );
}

export function changeShare(model: Model, direction: 1 | -1): void {
  change(model, (choices, table) => {
    const percent = choices.subset_tables.find((target) => target.table === table)?.percent;
    if (percent === undefined) return `${table} is not chosen by a percentage`;
    return (
      stepShare(choices, table, direction) ?? `${percent} % is the ${direction === 1 ? 'largest' : 'smallest'} step`
    );
  });
}

/** A text says why nothing is changed. */
function change(model: Model, work: (choices: SubsetChoices, table: string) => SubsetChoices | string): void {
  const route = model.navigation.top();
  if (route.screen !== 'subset' || !route.choices) return;
  const row = selectedTable(route);
  if (!row) return;
  const choices = work(route.choices, row.table);
  if (typeof choices === 'string') {
    model.navigation.notify({ tone: 'caution', text: choices });
    return;
  }
  route.controller.abort();
  const changed: SubsetRoute = {
    ...route,
    choices,
    changed: true,
    counting: true,
    controller: new AbortController(),
    list: { ...route.list, selected: row.table },
  };
  model.navigation.replace(changed);
  count(model, changed);
}

/** Makes it as it is planned now, whether that is saved or not. */
export function askSubset(model: Model): void {
  const route = model.navigation.top();
  if (route.screen !== 'subset' || !route.found || route.counting || route.error) return;
  const planned: PlannedSubset = route.found;
  ask(model, { target: route.target, title: 'make the subset', plan: async () => ({ kind: 'subset', planned }) });
}

/** Writes what was chosen into the configuration, comments and all else as they were. */
export function saveSubset(model: Model): void {
  const route = model.navigation.top();
  if (route.screen !== 'subset' || !route.choices) return;
  const { target, choices, controller } = route;
  model.operations.saveSubset(quietly(controller.signal), { target, choices }).then(
    ({ file }) => {
      model.navigation.change((other) =>
        other.screen === 'subset' && other.choices === choices ? { ...other, changed: false } : other,
      );
      model.navigation.notify({ tone: 'good', text: `Saved ${file}` });
    },
    (thrown: unknown) => {
      notifyFailure(model, thrown);
    },
  );
}
