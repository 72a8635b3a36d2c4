import { textEdit } from '../../components/text-edit.ts';
import { querySave } from '../../src/operations/sanitize/query-save.ts';
import {
  discardQuestion,
  openedText,
  partnersText,
  SUGGESTION_ANSWERS,
  SUGGESTION_NOTICES,
  suggestionQuestion,
  triedText,
} from '../../src/operations/sanitize/suggestion-text.ts';
import type { ColumnChoice, ColumnChoices } from '../../src/results/review/suggested-query.ts';
import { toUserError } from '../../src/runtime/errors.ts';
import { emptyList } from '../../src/state/list.ts';
import { changeRoute, left, notFetched, showingSteps, showWhileFetching } from '../app/lists/fetched.ts';
import { type Model, notifyFailure, quietly } from '../app/model.ts';
import { rowsOf, type SuggestionRoute, selectedRow } from './suggestion-route.ts';

interface SuggestionTarget {
  target: string;
  /** Id of the original. */
  snapshot: string;
}

/** Asks first: the restore takes time and space. */
export function offerSuggestion(model: Model, of: SuggestionTarget): void {
  model.navigation.push({
    screen: 'choice',
    ...suggestionQuestion(of.target),
    options: SUGGESTION_ANSWERS.suggest,
    answer: (answer) => {
      if (answer === 'go') openSuggestion(model, of);
    },
  });
}

export function openSuggestion(model: Model, { target, snapshot }: SuggestionTarget): void {
  const route: SuggestionRoute = {
    ...{ screen: 'suggestion', target, ...notFetched(), step: null, choices: {}, changed: false },
    ...{ trial: null, trying: false, editing: 'value', typing: null, list: emptyList },
  };
  model.navigation.push(route);
  const { controller } = route;
  const use = (found: NonNullable<SuggestionRoute['found']>): Promise<void> => {
    update(model, controller, () => ({ found }));
    tryChoices(model, controller, { tell: openedText(found.openedMs) });
    return left(controller);
  };
  const session = showingSteps(model, controller);
  model.operations.withSuggestion(session, { target, snapshot }, use).catch((thrown: unknown) => {
    if (!controller.signal.aborted) update(model, controller, () => ({ error: toUserError(thrown) }));
  });
}

type Controller = SuggestionRoute['controller'];

const update = changeRoute<SuggestionRoute>;

/** Tries the present choices; the result of earlier ones is dropped. */
export function tryChoices(model: Model, controller: Controller, { tell }: { tell?: string } = {}): void {
  let tried: ColumnChoices | undefined;
  let opened: SuggestionRoute['found'] = null;
  update(model, controller, ({ choices, found }) => {
    tried = choices;
    opened = found;
    return { trying: true };
  });
  const trial = (opened as SuggestionRoute['found'])?.tryOut(tried ?? {});
  trial?.then(
    (result) => {
      update(model, controller, (route) => (route.choices === tried ? { trial: result, trying: false } : {}));
      const failed = result.columns.some(({ error }) => error !== null);
      if (tell === undefined) return;
      const text = [tell, triedText(result)].filter((part) => part !== '').join('. ');
      model.navigation.notify({ tone: failed ? 'caution' : 'good', text });
    },
    (thrown: unknown) => {
      if (controller.signal.aborted) return;
      update(model, controller, (route) => (route.choices === tried ? { trying: false } : {}));
      notifyFailure(model, thrown);
    },
  );
}

/** Columns that a foreign key connects are replaced together. */
export function toggleColumn(model: Model, route: SuggestionRoute): void {
  const row = selectedRow(route);
  if (!row) return;
  if (row.state === 'generated') {
    model.navigation.notify({ tone: 'caution', text: SUGGESTION_NOTICES.generated });
    return;
  }
  const { [row.column]: _, ...others } = route.choices;
  if (row.state === 'replace') choose(model, route, { names: [row.column, ...row.partners], choice: LEFT });
  else if (suggestedSql(route, row.column) === null) editColumn(model, route, 'value');
  else choose(model, { ...route, choices: others }, { names: [row.column, ...row.partners], choice: null });
}

const LEFT: ColumnChoice = { action: 'leave', reason: '' };

function suggestedSql({ found }: SuggestionRoute, column: string): string | null {
  const columns = found?.query.tables.flatMap((table) => table.columns) ?? [];
  return columns.find((each) => each.column === column)?.replacement ?? null;
}

interface ChoiceRequest {
  names: string[];
  /** `null` for the suggested replacement. */
  choice: ColumnChoice | null;
}

function choose(model: Model, route: SuggestionRoute, { names, choice }: ChoiceRequest): void {
  const choices = { ...route.choices };
  for (const name of names) {
    if (choice) choices[name] = choice;
    else delete choices[name];
  }
  const list = { ...route.list, selected: selectedRow(route)?.column ?? null };
  model.navigation.replace({ ...route, choices, changed: true, typing: null, list });
  tryChoices(model, route.controller);
}

/** The value of a replaced column, the reason of one that stays. */
export function editColumn(model: Model, route: SuggestionRoute, what?: SuggestionRoute['editing']): void {
  const row = selectedRow(route);
  if (!row) return;
  if (row.state === 'generated') {
    model.navigation.notify({ tone: 'caution', text: SUGGESTION_NOTICES.generated });
    return;
  }
  const stays = row.state === 'leave' || row.state === 'keep';
  const editing = what ?? (stays ? 'reason' : 'value');
  const text = editing === 'value' ? (row.sql ?? '') : row.reason;
  const list = { ...route.list, selected: row.column };
  model.navigation.replace({ ...route, editing, typing: textEdit(text), list });
}

export function acceptTyped(model: Model, route: SuggestionRoute): void {
  const row = selectedRow(route);
  const text = route.typing?.text.trim() ?? '';
  if (!row) return;
  if (route.editing === 'reason') {
    choose(model, route, { names: [row.column], choice: { action: 'leave', reason: text } });
    return;
  }
  const isSuggested = text === '' || text === suggestedSql(route, row.column);
  choose(model, route, { names: [row.column], choice: isSuggested ? null : { action: 'replace', sql: text } });
  if (!isSuggested && row.partners.length > 0) {
    model.navigation.notify({ tone: 'caution', text: partnersText(row.partners) });
  }
}

/** Shows the file before and after. */
export function planSave(model: Model, route: SuggestionRoute): void {
  const { found, choices, controller, target } = route;
  if (!found) return;
  if (!rowsOf(route).some(({ state }) => state === 'replace' || state === 'keep')) {
    model.navigation.notify({ tone: 'caution', text: SUGGESTION_NOTICES.noColumns });
    return;
  }
  const query = found.write(choices);
  const saving = { screen: 'save-query' as const, target, ...notFetched<never>(), list: emptyList };
  showWhileFetching(model, { ...saving, suggestion: controller }, (signal) =>
    model.operations.plan(quietly(signal), querySave, { target, query }),
  );
}

export function leaveSuggestion(model: Model, { target, controller, changed }: SuggestionRoute): void {
  const leave = (): void => {
    controller.abort();
    model.navigation.pop();
  };
  if (!changed) {
    leave();
    return;
  }
  model.navigation.push({
    screen: 'choice',
    ...discardQuestion(target),
    options: SUGGESTION_ANSWERS.leave,
    answer: (answer) => {
      if (answer === 'leave') leave();
    },
  });
}
