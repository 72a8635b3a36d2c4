import { useMemo } from 'react';
import type { Span } from '../../components/line.tsx';
import { useTheme } from '../../components/theme.ts';
import {
  SUGGESTION_NOTICES,
  suggestionColumns,
  suggestionFacts,
  suggestionText,
} from '../../src/operations/sanitize/suggestion-text.ts';
import { ListFrame } from '../app/frame/list-frame.tsx';
import { BACK, LIST_KEYS } from '../app/keys.ts';
import type { KeyContext, ScreenModule } from '../app/model.ts';
import { LOADING, noFindingsLines } from '../app/text.ts';
import { notWritable } from '../app/why-not.ts';
import { acceptTyped, editColumn, leaveSuggestion, planSave, toggleColumn, tryChoices } from './actions.ts';
import { rowsOf, type SuggestionRoute, selectedRow } from './suggestion-route.ts';

export const suggestionScreen: ScreenModule<SuggestionRoute> = {
  title: 'Suggested sanitization query',
  view: SuggestionView,
  keys: [
    {
      id: 'mark',
      keys: ['m', 'space'],
      label: 'mark',
      help: 'replace the values of the column, or leave them',
      whyNot: notOpen,
      run: toggleColumn,
    },
    {
      keys: ['enter'],
      label: 'edit',
      palette: 'Edit',
      help: 'edit the new value as SQL; of a column that is left, the reason to keep it',
      whyNot: notOpen,
      run: (model, route) => editColumn(model, route),
    },
    {
      id: 'try',
      label: 'try',
      help: 'try the replacements on ten rows of each column; nothing of it is kept',
      whyNot: notOpen,
      run: (model, { controller }) => tryChoices(model, controller, { tell: '' }),
    },
    {
      id: 'write',
      keys: ['w'],
      label: 'save',
      help: 'save the query in its file; shows the changes of the file first',
      whyNot: (context) => notWritable(context) ?? notOpen(context),
      run: planSave,
      stays: true,
    },
    BACK,
    ...LIST_KEYS,
  ],
  rows: (_, route) => ({ ids: rowsOf(route).map(({ column }) => column) }),
  onBack: leaveSuggestion,
  onAccept: acceptTyped,
  onLeave: ({ navigation }, route) => navigation.replace({ ...route, typing: null }),
};

function notOpen({ route }: KeyContext<SuggestionRoute>): string | null {
  return route.found && rowsOf(route).length > 0 ? null : SUGGESTION_NOTICES.notOpen;
}

function SuggestionView({ route }: { route: SuggestionRoute }) {
  const { glyphs } = useTheme();
  const { target, found, step, editing, choices, trial } = route;
  // biome-ignore lint/correctness/useExhaustiveDependencies: what the rows are made of
  const rows = useMemo(() => rowsOf(route), [found, choices, trial]);
  const columns = useMemo(() => suggestionColumns({ glyphs }), [glyphs]);
  const row = selectedRow(route);
  return (
    <ListFrame
      route={route}
      path={[target, 'suggestion']}
      aside={aside(route)}
      columns={columns}
      rows={rows}
      field={{
        label: editing === 'value' ? `${row?.name ?? ''} =` : 'Reason:',
        placeholder: editing === 'value' ? SUGGESTION_NOTICES.valueHint : SUGGESTION_NOTICES.reasonHint,
      }}
      empty={found ? noFindingsLines('') : [...LOADING.suggestion, ...(step === null ? [] : [step])]}
      detail={(shown) => ({ title: shown.column, facts: suggestionFacts(shown) })}
    />
  );
}

function aside(route: SuggestionRoute): Span[] {
  const { found, trying, changed } = route;
  if (!found) return [];
  return [
    { text: trying ? SUGGESTION_NOTICES.trying : suggestionText(rowsOf(route)), tone: 'dim' },
    ...(changed ? [{ text: '  not saved', tone: 'caution' as const }] : []),
  ];
}
