import { useMemo } from 'react';
import { useStore } from 'zustand';
import type { Span } from '../../components/line.tsx';
import { useTheme } from '../../components/theme.ts';
import {
  coverageTree,
  coverageTreeColumns,
  coverageTreeFacts,
  findingsText,
  tablesText,
} from '../../src/operations/sanitize/coverage-text.ts';
import type { Coverage } from '../../src/results/review/sanitize-results.ts';
import type { ListState } from '../../src/state/list.ts';
import { useModel, useRoom } from '../app/frame/frame.tsx';
import { ListFrame } from '../app/frame/list-frame.tsx';
import { ACTIVITY, BACK, HELP, MOVES } from '../app/keys.ts';
import { contextOf, runWithId, type ScreenModule } from '../app/model.ts';
import { noFindingsLines } from '../app/text.ts';
import { CLASSIFY, EDIT_QUERY, SANITIZE, SUGGEST } from '../commands/sanitize.ts';

/** The coverage of a sanitization of this session. */
interface CoverageRoute {
  screen: 'coverage';
  run: string;
  list: ListState;
}

export const coverageScreen: ScreenModule<CoverageRoute> = {
  title: 'Coverage of a sanitization',
  view: CoverageView,
  keys: [
    SUGGEST,
    EDIT_QUERY,
    { ...CLASSIFY, label: 'classify' },
    {
      ...SANITIZE,
      label: 'sanitize again',
      help: 'sanitize the same snapshot again with the current query',
    },
    BACK,
    ACTIVITY,
    HELP,
    ...MOVES,
  ],
  rows(model, route) {
    const { run } = contextOf(model, route);
    return { ids: coverageTree(run?.summary?.sanitized?.coverage).map(({ id }) => id) };
  },
};

function CoverageView({ route }: { route: CoverageRoute }) {
  const model = useModel();
  const run = useStore(model.runs.store, ({ runs }) => runWithId(runs, route.run));
  const { wide } = useRoom();
  const { glyphs } = useTheme();
  const sanitized = run?.summary?.sanitized;
  const rows = useMemo(() => coverageTree(sanitized?.coverage), [sanitized]);
  const columns = useMemo(() => coverageTreeColumns({ glyphs }), [glyphs]);
  if (!run || !sanitized) return null;
  const { coverage } = sanitized;
  return (
    <ListFrame
      route={route}
      path={[run.target, 'coverage']}
      aside={findingsCount(coverage, wide)}
      columns={columns}
      rows={rows}
      empty={noFindingsLines(tablesText(coverage.tables))}
      detail={(row) => ({ title: row.table ?? row.row.column, facts: coverageTreeFacts(row, coverage.tables) })}
    />
  );
}

function findingsCount(coverage: Coverage, wide: boolean): Span[] {
  return [
    { text: findingsText(coverage), tone: coverage.findings.length === 0 ? 'good' : 'bad' },
    ...(wide ? [{ text: `  ${tablesText(coverage.tables)}`, tone: 'dim' as const }] : []),
  ];
}
