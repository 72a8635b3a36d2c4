import { textEdit } from '../../components/text-edit.ts';
import type { LedgerAnswer } from '../../src/operations/sanitize/ledger/review.ts';
import {
  answeredText,
  notTrue,
  REVIEW_ANSWERS,
  REVIEW_NOTICES,
  reviewQuestion,
  undoneText,
} from '../../src/operations/sanitize/ledger/review-text.ts';
import { toUserError } from '../../src/runtime/errors.ts';
import { emptyList } from '../../src/state/list.ts';
import { changeRoute, notFetched, showingSteps } from '../app/lists/fetched.ts';
import { type Model, notifyFailure, quietly } from '../app/model.ts';
import { type LedgerRoute, rowsOf, selectedRow } from './ledger-route.ts';

/** Asks first: the restore takes time and space, and the ledger is written. */
export function offerReview(model: Model, target: string): void {
  model.navigation.push({
    screen: 'choice',
    ...reviewQuestion(target),
    options: REVIEW_ANSWERS,
    answer: (answer) => {
      if (answer === 'go') openReview(model, target);
    },
  });
}

function openReview(model: Model, target: string): void {
  const route: LedgerRoute = {
    ...{ screen: 'ledger', target, ...notFetched(), step: null, answers: new Map(), replaced: [] },
    ...{ saving: Promise.resolve(), typing: null, list: emptyList },
  };
  model.navigation.push(route);
  const { controller } = route;
  model.operations.reviewLedger(showingSteps(model, controller), { target }).then(
    (found) => update(model, controller, () => ({ found })),
    (thrown: unknown) => {
      if (!controller.signal.aborted) update(model, controller, () => ({ error: toUserError(thrown) }));
    },
  );
}

const update = changeRoute<LedgerRoute>;

/** Classifies the selected column, and goes to the next open one. */
export function answer(model: Model, route: LedgerRoute, entry: LedgerAnswer['entry']): void {
  const row = selectedRow(route);
  if (!row) return;
  const why = notTrue(row, entry.state);
  if (why !== null) {
    model.navigation.notify({ tone: 'caution', text: why });
    return;
  }
  const written = { ...entry, ...(row.values && { values: row.values }) };
  const replaced = [...route.replaced, { name: row.name, entry: row.entry }];
  const next = write(
    model,
    { ...route, replaced, typing: null },
    { name: row.name, entry: written, replaces: row.entry },
  );
  const rows = rowsOf(next);
  const at = rows.findIndex(({ name }) => name === row.name);
  const open = [...rows.slice(at + 1), ...rows.slice(0, at)].find((each) => each.entry.state === 'open');
  model.navigation.replace({ ...next, list: { ...next.list, selected: open?.name ?? row.name } });
  const left = rows.filter((each) => each.entry.state === 'open').length;
  model.navigation.notify({ tone: 'good', text: answeredText({ name: row.name, entry: written }, left) });
}

/** Puts the entry back that the last answer has replaced, and selects its column. */
export function undoAnswer(model: Model, route: LedgerRoute): void {
  const last = route.replaced.at(-1);
  if (!last) {
    model.navigation.notify({ tone: 'caution', text: REVIEW_NOTICES.noAnswers });
    return;
  }
  const replaces = route.answers.get(last.name) ?? last.entry;
  const next = write(model, { ...route, replaced: route.replaced.slice(0, -1) }, { ...last, replaces });
  model.navigation.replace({ ...next, list: { ...next.list, selected: last.name } });
  model.navigation.notify({ tone: 'plain', text: undoneText(last) });
}

/** One after the other. What cannot be written is taken back on the screen. */
function write(model: Model, route: LedgerRoute, change: Omit<LedgerAnswer, 'target'>): LedgerRoute {
  const { target, controller, answers, replaced } = route;
  const saving = route.saving.then(async () => {
    try {
      await model.operations.answerItem(quietly(new AbortController().signal), { target, ...change });
    } catch (thrown) {
      const before = answers.get(change.name);
      update(model, controller, (present) => {
        const back = new Map(present.answers);
        if (before) back.set(change.name, before);
        else back.delete(change.name);
        return {
          answers: back,
          replaced: present.replaced.filter((each) => !replaced.includes(each) || each.name !== change.name),
        };
      });
      notifyFailure(model, thrown);
    }
  });
  return { ...route, answers: new Map(answers).set(change.name, change.entry), saving };
}

export function askReason(model: Model, route: LedgerRoute): void {
  const row = selectedRow(route);
  if (!row) return;
  const list = { ...route.list, selected: row.name };
  model.navigation.replace({ ...route, typing: textEdit(row.entry.reason ?? ''), list });
}

export function acceptReason(model: Model, route: LedgerRoute): void {
  const reason = route.typing?.text.trim() ?? '';
  if (reason === '') model.navigation.notify({ tone: 'caution', text: REVIEW_NOTICES.noReason });
  else answer(model, route, { state: 'kept', reason });
}

/** Answers are in the file by then; a restore in progress ends. */
export function leaveReview(model: Model, { controller }: LedgerRoute): void {
  controller.abort();
  model.navigation.pop();
}
