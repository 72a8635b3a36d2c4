import { useMemo } from 'react';
import { useStore } from 'zustand';
import type { Span } from '../../components/line.tsx';
import { ListView } from '../../components/list-view.tsx';
import { useTheme } from '../../components/theme.ts';
import {
  coverageTree,
  coverageTreeColumns,
  coverageTreeFacts,
  findingsText,
  tablesText,
} from '../../src/operations/sanitize/coverage-text.ts';
import type { Coverage } from '../../src/results/sanitize-results.ts';
import { type ListState, selectedIndex } from '../../src/state/list.ts';
import { Frame, useModel, useRoom } from '../app/frame.tsx';
import { BACK, HELP, MOVES, TASKS } from '../app/keys.ts';
import { contextOf, runWithId, type ScreenModule } from '../app/model.ts';
import { noFindingsLines } from '../app/text.ts';
import { EDIT_QUERY, SANITIZE, SUGGEST } from '../commands/sanitize.ts';

declare module '../app/route.ts' {
  interface Routes {
    coverage: CoverageRoute;
  }
}

/** The coverage of a sanitization of this session. */
interface CoverageRoute {
  screen: 'coverage';
  run: string;
  list: ListState;
}

export const coverageScreen: ScreenModule<CoverageRoute> = {
  id: 'coverage',
  title: 'Coverage of a sanitization',
  view: CoverageView,
  keys: [
    SUGGEST,
    EDIT_QUERY,
    {
      ...SANITIZE,
      label: 'sanitize again',
      help: 'sanitize the same snapshot again with the current query',
    },
    BACK,
    TASKS,
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
  const { columns, height, wide } = useRoom();
  const { glyphs } = useTheme();
  const sanitized = run?.summary?.sanitized;
  const rows = useMemo(() => coverageTree(sanitized?.coverage), [sanitized]);
  const tableColumns = useMemo(() => coverageTreeColumns({ glyphs }), [glyphs]);
  if (!run || !sanitized) return null;
  const { coverage } = sanitized;
  const selected = selectedIndex(
    rows.map(({ id }) => id),
    route.list.selected,
  );
  return (
    <Frame screen="coverage" path={[run.target, 'coverage']} aside={findingsCount(coverage, wide)}>
      <ListView
        columns={tableColumns}
        rows={rows}
        keyOf={({ id }) => id}
        selected={selected}
        width={columns}
        height={height}
        empty={noFindingsLines(tablesText(coverage.tables))}
        detail={(row) => ({ title: row.table ?? row.row.column, facts: coverageTreeFacts(row, coverage.tables) })}
      />
    </Frame>
  );
}

function findingsCount(coverage: Coverage, wide: boolean): Span[] {
  return [
    { text: findingsText(coverage), tone: coverage.findings.length === 0 ? 'good' : 'bad' },
    ...(wide ? [{ text: `  ${tablesText(coverage.tables)}`, tone: 'dim' as const }] : []),
  ];
}
