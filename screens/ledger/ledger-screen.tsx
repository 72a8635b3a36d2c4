import { useMemo } from 'react';
import type { Span } from '../../components/line.tsx';
import { useTheme } from '../../components/theme.ts';
import {
  NO_OPEN_COLUMNS,
  openText,
  REVIEW_NOTICES,
  reasonLabel,
  reviewColumns,
  reviewFacts,
  savedInText,
} from '../../src/operations/sanitize/ledger/review-text.ts';
import { ListFrame } from '../app/frame/list-frame.tsx';
import { BACK, HELP, moving, PAGES, PALETTE } from '../app/keys.ts';
import type { KeyBinding, KeyContext, ScreenModule } from '../app/model.ts';
import { LOADING } from '../app/text.ts';
import { acceptReason, answer, askReason, leaveReview, undoAnswer } from './actions.ts';
import { type LedgerRoute, rowsOf, selectedRow } from './ledger-route.ts';

export const ledgerScreen: ScreenModule<LedgerRoute> = {
  title: 'Open columns of the ledger',
  view: LedgerView,
  keys: [
    classifying({
      id: 'classify_changed',
      label: 'changed',
      help: 'the query changes the values of the column',
      run: (model, route) => answer(model, route, { state: 'changed' }),
    }),
    classifying({
      keys: ['k'],
      label: 'kept',
      help: 'the values may stay; asks for the reason',
      palette: 'Classify as kept…',
      run: askReason,
    }),
    classifying({
      id: 'classify_empty',
      label: 'empty',
      help: 'the column is always NULL',
      run: (model, route) => answer(model, route, { state: 'empty' }),
    }),
    classifying({
      id: 'classify_excluded',
      label: 'excluded',
      help: 'the table has no rows in the sanitized snapshot',
      run: (model, route) => answer(model, route, { state: 'excluded' }),
    }),
    {
      id: 'undo',
      label: 'undo',
      help: 'take back the last answer',
      when: notTyping,
      whyNot: ({ route }) => (route.replaced.length > 0 ? null : REVIEW_NOTICES.noAnswers),
      run: undoAnswer,
    },
    {
      keys: ['enter'],
      label: 'keep',
      help: 'keep the column with the reason that is typed',
      when: isTyping,
      run: acceptReason,
      stays: true,
    },
    { ...BACK, when: notTyping },
    { ...BACK, keys: ['esc'], label: 'cancel', help: 'keep nothing', when: isTyping },
    PALETTE,
    HELP,
    moving('up', { keys: ['up', 'shift+tab'], help: 'up' }),
    moving('down', { keys: ['down', 'j', 'tab'], help: 'down' }),
    ...PAGES,
  ],
  rows: (_, route) => ({ ids: rowsOf(route).map(({ name }) => name) }),
  onBack: leaveReview,
  onAccept: acceptReason,
  onLeave: ({ navigation }, route) => navigation.replace({ ...route, typing: null }),
};

function isTyping({ route }: KeyContext<LedgerRoute>): boolean {
  return route.typing !== null;
}

function notTyping(context: KeyContext<LedgerRoute>): boolean {
  return !isTyping(context);
}

function classifying(binding: KeyBinding<LedgerRoute>): KeyBinding<LedgerRoute> {
  const whyNot = ({ route }: KeyContext<LedgerRoute>) => (selectedRow(route) ? null : REVIEW_NOTICES.notOpen);
  return { ...binding, when: notTyping, whyNot, stays: true };
}

function LedgerView({ route }: { route: LedgerRoute }) {
  const { glyphs } = useTheme();
  const { target, found, step, answers } = route;
  // biome-ignore lint/correctness/useExhaustiveDependencies: what the rows are made of
  const rows = useMemo(() => rowsOf(route), [found, answers]);
  const columns = useMemo(() => reviewColumns({ glyphs }), [glyphs]);
  return (
    <ListFrame
      route={route}
      path={[target, 'ledger']}
      aside={aside(route)}
      columns={columns}
      rows={rows}
      field={{
        label: reasonLabel(selectedRow(route) ?? { name: target }),
        placeholder: REVIEW_NOTICES.reasonHint,
      }}
      empty={found ? NO_OPEN_COLUMNS : [...LOADING.ledger, ...(step === null ? [] : [step])]}
      detail={(row) => ({ title: row.name, facts: reviewFacts(row) })}
    />
  );
}

function aside(route: LedgerRoute): Span[] {
  const { found, replaced } = route;
  if (!found) return [];
  return [
    { text: openText(rowsOf(route)), tone: 'dim' },
    ...(replaced.length > 0 ? [{ text: `  ${savedInText(found.file)}`, tone: 'good' as const }] : []),
  ];
}
