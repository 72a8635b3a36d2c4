import { emptyList, selectedIndex } from '../../../src/state/list.ts';
import { fetchInto, notFetched, showWhileFetching } from '../../app/lists/fetched.ts';
import { refreshTargetsAnew } from '../../app/lists/refresh.ts';
import { type KeyBinding, type Model, orNotify, quietly } from '../../app/model.ts';
import type { ShownFix } from '../../app/operations.ts';
import type { Routes } from '../../app/route.ts';
import { type CheckRoute, rowsOf, selectedProblem, shownCheck } from '../../check/selection.ts';
import { editConfiguration } from './edit-configuration.ts';

export const CHECK: KeyBinding = {
  id: 'check',
  label: 'check',
  help: 'check the configuration and its requirements',
  palette: 'Check configuration',
  run: openCheck,
};

export function openCheck(model: Model): void {
  if (model.navigation.top().screen === 'check') {
    checkAgain(model);
    return;
  }
  const route: CheckRoute = { screen: 'check', before: null, list: emptyList, ...notFetched() };
  showWhileFetching(model, route, (signal) => model.operations.checkWithFixes(quietly(signal)));
}

/** Keeps the selection, and shows the old result meanwhile. */
function checkAgain(model: Model): void {
  const route = model.navigation.top();
  if (route.screen !== 'check') return;
  route.controller.abort();
  const checking: CheckRoute = { ...route, ...notFetched(), before: shownCheck(route) };
  model.navigation.replace(checking);
  fetchInto(model, checking, (signal) => model.operations.checkWithFixes(quietly(signal)));
}

export function showFix(model: Model, route: CheckRoute): void {
  const row = selectedProblem(route);
  const fix = row?.fix;
  if (!fix) return;
  const fixing = { screen: 'fix' as const, finding: row.finding, list: emptyList, ...notFetched<ShownFix>() };
  showWhileFetching(model, fixing, () => model.operations.planConfigurationFix(fix));
}

/** Applies the fix and checks everything again. */
export async function applyFix(model: Model, { found }: Routes['fix']): Promise<void> {
  if (!found) return;
  const { navigation } = model;
  navigation.pop();
  await orNotify(model, async () => {
    await model.operations.applyFix(found.plan);
    selectNext(model);
    navigation.notify({ tone: 'good', text: `Done: ${found.plan.does}` });
  });
  checkAgain(model);
  await refreshTargetsAnew(model);
}

/** The fixed problem will be gone: selects the next one. */
function selectNext({ navigation }: Model): void {
  const route = navigation.top();
  if (route.screen !== 'check') return;
  const ids = rowsOf(route).map(({ id }) => id);
  const next = ids[selectedIndex(ids, route.list.selected) + 1];
  navigation.replace({ ...route, list: { ...route.list, selected: next ?? route.list.selected } });
}

/** Opens the editor at the problem, or the user's editor where the file is not valid YAML. */
export async function editProblem(model: Model, route: CheckRoute): Promise<void> {
  const at = selectedProblem(route)?.at;
  if (at === undefined || 'key' in at) {
    editConfiguration(model, at?.key);
    return;
  }
  await orNotify(model, () => model.terminal.edit(at.file, at.line));
  checkAgain(model);
}
