import { useMemo } from 'react';
import type { Span } from '../../components/line.tsx';
import { useTheme } from '../../components/theme.ts';
import { checkColumns, checkFacts, whyNotFixed } from '../../src/operations/configuration/check/check-text.ts';
import { formatNumberOf } from '../../src/text/format.ts';
import { ListFrame } from '../app/frame/list-frame.tsx';
import { BACK, LIST_KEYS, REFRESH } from '../app/keys.ts';
import type { ScreenModule } from '../app/model.ts';
import { LOADING } from '../app/text.ts';
import { notEditable, notWritable } from '../app/why-not.ts';
import { editProblem, openCheck, showFix } from '../commands/configuration/check.ts';
import { type CheckRoute, rowsOf, selectedProblem, shownCheck } from './selection.ts';

export const checkScreen: ScreenModule<CheckRoute> = {
  title: 'Configuration check',
  view: CheckView,
  keys: [
    {
      id: 'fix',
      keys: ['f', 'enter'],
      label: 'fix',
      help: 'show the fix of the problem, and apply it',
      palette: 'Fix problem…',
      whyNot: (context) => notWritable(context) ?? whyNotFixed(selectedProblem(context.route)),
      run: showFix,
    },
    {
      id: 'edit',
      label: 'edit',
      help: 'edit the configuration at the problem; in your editor when it is not valid YAML',
      palette: 'Edit configuration at the problem',
      whyNot: notEditable,
      run: (model, route) => void editProblem(model, route),
    },
    { ...REFRESH, run: openCheck },
    BACK,
    ...LIST_KEYS,
  ],
  rows: (_, route) => ({ ids: rowsOf(route).map(({ id }) => id) }),
};

function CheckView({ route }: { route: CheckRoute }) {
  const { glyphs } = useTheme();
  const columns = useMemo(() => checkColumns(glyphs), [glyphs]);
  return (
    <ListFrame
      route={route}
      path={['check']}
      aside={summary(route)}
      columns={columns}
      rows={rowsOf(route)}
      empty={LOADING.configurationCheck}
      detail={(shown) => ({ title: shown.subject, facts: checkFacts(shown) })}
    />
  );
}

function summary(route: CheckRoute): Span[] {
  const report = shownCheck(route)?.report;
  if (!report) return [];
  const errors = report.problems.filter(({ severity }) => severity === 'error').length;
  return [
    ...(route.found ? [] : [{ text: 'checking again  ', tone: 'dim' as const }]),
    report.ok ? { text: 'ready', tone: 'good' } : { text: formatNumberOf(errors, 'error'), tone: 'bad' },
  ];
}
