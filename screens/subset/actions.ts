import { subsetOperation } from '../../src/operations/subset/operation.ts';
import type { SubsetChoices } from '../../src/operations/subset/save-subset.ts';
import {
  isSubsetTable,
  notByShare,
  SUGGESTION_OFFER_ANSWERS,
  smallestOrLargest,
  suggestionOffer,
} from '../../src/operations/subset/text.ts';
import { toUserError } from '../../src/runtime/errors.ts';
import { emptyList } from '../../src/state/list.ts';
import { changeRoute } from '../app/lists/fetched.ts';
import { refreshTargetsAnew } from '../app/lists/refresh.ts';
import { type Model, notifyFailure, quietly } from '../app/model.ts';
import { confirm, plannedRun } from '../commands/runs/confirm.ts';
import { choicesOf, stepShare, subsetTarget, toggleCopied, toggleExcluded } from './choices.ts';
import { type SubsetRoute, selectedTable } from './subset-route.ts';

/** Plans the target's subset, or a suggested one, and shows its tables. */
export function openSubset(model: Model, target: string, { suggested = false } = {}): void {
  const route: SubsetRoute = {
    screen: 'subset',
    target,
    choices: null,
    suggested,
    changed: suggested,
    found: null,
    error: null,
    counting: true,
    controller: new AbortController(),
    list: emptyList,
  };
  model.navigation.push(route);
  count(model, route);
}

/** Plans anew; an earlier plan that is still being made is not shown any more. */
function count(model: Model, { target, choices, suggested, controller }: SubsetRoute): void {
  const answer = (change: (route: SubsetRoute) => Partial<SubsetRoute>): void => changeRoute(model, controller, change);
  const request = { target, count: true, suggest: suggested, ...(choices && { settings: choices }) };
  model.operations.plan(quietly(controller.signal), subsetOperation, request).then(
    (found) =>
      answer((route) => ({
        found,
        error: null,
        counting: false,
        choices: route.choices ?? choicesOf(found.sealed.settings),
      })),
    (thrown: unknown) => {
      const error = toUserError(thrown);
      const top = model.navigation.top();
      const isShown = top.screen === 'subset' && top.controller === controller;
      if (error.code === 'subset_missing' && !suggested && isShown) offerSubset(model, target);
      else answer(() => ({ error, counting: false }));
    },
  );
}

/** Instead of a plan that cannot be made. */
function offerSubset(model: Model, target: string): void {
  model.navigation.pop();
  model.navigation.push({
    screen: 'choice',
    ...suggestionOffer(target),
    options: SUGGESTION_OFFER_ANSWERS,
    answer: (answer) => {
      if (answer === 'go') openSubset(model, target, { suggested: true });
    },
  });
}

export function excludeTable(model: Model, route: SubsetRoute): void {
  change(model, route, unlessTarget(toggleExcluded));
}

export function copyTable(model: Model, route: SubsetRoute): void {
  change(model, route, unlessTarget(toggleCopied));
}

export function changeShare(model: Model, route: SubsetRoute, direction: 1 | -1): void {
  change(model, route, (choices, table) => {
    const percent = subsetTarget(choices, table)?.percent;
    if (percent === undefined) return notByShare(table);
    return stepShare(choices, table, direction) ?? smallestOrLargest(percent, direction);
  });
}

/** A text says why nothing is changed. */
type Change = (choices: SubsetChoices, table: string) => SubsetChoices | string;

function unlessTarget(change: Change): Change {
  return (choices, table) => (subsetTarget(choices, table) ? isSubsetTable(table) : change(choices, table));
}

function change(model: Model, route: SubsetRoute, changed: Change): void {
  const row = selectedTable(route);
  if (!route.choices || !row) return;
  const choices = changed(route.choices, row.table);
  if (typeof choices === 'string') {
    model.navigation.notify({ tone: 'caution', text: choices });
    return;
  }
  route.controller.abort();
  const next: SubsetRoute = {
    ...route,
    choices,
    changed: true,
    counting: true,
    controller: new AbortController(),
    list: { ...route.list, selected: row.table },
  };
  model.navigation.replace(next);
  count(model, next);
}

export function showDiagram({ navigation }: Model, route: SubsetRoute): void {
  const { target, found } = route;
  const focus = selectedTable(route)?.table;
  if (!found || focus === undefined) return;
  const expected = new Map(found.shown.tables.map(({ table, rows_expected }) => [table, rows_expected]));
  const tables = found.sealed.graph.tables.map((each) => {
    const rows = expected.get(each.table) ?? null;
    return rows === null ? each : { ...each, expected: rows };
  });
  const graph = { ...found.sealed.graph, tables };
  navigation.push({ screen: 'subset-graph', target, graph, focus, trail: [], selected: null, open: [] });
}

/** Makes the subset as it is planned now, whether the plan is saved or not. */
export function confirmSubset(model: Model, { target, found, counting, error }: SubsetRoute): void {
  if (!found || counting || error) return;
  const plan = plannedRun(model, subsetOperation, { target, ...found });
  confirm(model, { target, title: 'subset', plan: async () => plan });
}

/** Writes the choices into the configuration; comments and everything else stay. A suggestion is shown first. */
export function saveSubset(model: Model, { target, choices, suggested, controller }: SubsetRoute): void {
  if (!choices) return;
  const saving = suggested
    ? showSuggestion(model, { target, choices })
    : model.operations.saveSubset(quietly(controller.signal), { target, choices }).then(saved(model, choices));
  saving.catch((thrown: unknown) => notifyFailure(model, thrown));
}

async function showSuggestion(model: Model, saving: { target: string; choices: SubsetChoices }): Promise<void> {
  const draft = await model.operations.draftSubset(saving);
  const lines = await model.operations.diffDraft(draft);
  const save = (): void => {
    model.operations
      .saveDraft(draft)
      .then(saved(model, saving.choices), (thrown: unknown) => notifyFailure(model, thrown));
  };
  const top = model.navigation.top();
  if (top.screen !== 'subset' || top.choices !== saving.choices) return;
  model.navigation.push({ screen: 'editor-diff', draft, lines, list: emptyList, save });
}

function saved(model: Model, choices: SubsetChoices) {
  return ({ file }: { file: string }): void => {
    model.navigation.change((other) =>
      other.screen === 'subset' && other.choices === choices ? { ...other, changed: false, suggested: false } : other,
    );
    model.navigation.notify({ tone: 'good', text: `Saved ${file}` });
    void refreshTargetsAnew(model);
  };
}
