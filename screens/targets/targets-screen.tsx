import { Box, useAnimation } from 'ink';
import { useEffect, useMemo, useRef } from 'react';
import { useStore } from 'zustand';
import { DETAIL_ROWS, DetailPane } from '../../components/detail-pane.tsx';
import { Empty, Failure } from '../../components/empty.tsx';
import { FilterLine } from '../../components/filter-line.tsx';
import { Line, type Span } from '../../components/line.tsx';
import { listPanes } from '../../components/list-view.tsx';
import { LIST_MARGIN, TableList, tableRow } from '../../components/table-list.tsx';
import { useTheme } from '../../components/theme.ts';
import { NONE_ON_HUB } from '../../src/operations/targets/find-target.ts';
import {
  briefTargetColumns,
  GROUP_NAMES,
  hubNotice,
  STATUS_TITLE,
  targetFacts,
} from '../../src/operations/targets/targets-text.ts';
import type { Cell } from '../../src/presentation/shapes/column.ts';
import type { Fact } from '../../src/presentation/shapes/fact.ts';
import {
  fullWidth,
  layOutMeasured,
  measureColumns,
  type TableLayout,
} from '../../src/presentation/shapes/table-layout.ts';
import type { Run } from '../../src/state/runs.ts';
import type { TargetEntry } from '../../src/state/targets.ts';
import { formatCount } from '../../src/text/format.ts';
import { sparkline } from '../../src/text/sparkline.ts';
import { useModel, useRoom } from '../app/frame/frame.tsx';
import { PaneView } from '../app/frame/pane-view.tsx';
import { FILTERED, filterOf, isFiltering } from '../app/lists/filter.ts';
import { positionIn } from '../app/lists/in-view.ts';
import { isGrouped, type Sort } from '../app/lists/sort-targets.ts';
import { type Model, minuteOf, type PaneProps, type ScreenModule } from '../app/model.ts';
import { configurationHint, countText, EMPTY, LOADING, noMatchLines } from '../app/text.ts';
import { snapshotsOfTarget } from '../commands/open-target.ts';
import { headingLines, keyOfLine, lineOfEntry, type TargetLine, targetLines } from './group-headings.ts';
import { highlighted } from './highlight.ts';
import { TARGET_KEYS } from './keys.ts';
import { liveRuns, runCell } from './live-runs.ts';
import { readContents, readSizes, watchStatus } from './live-status.ts';
import { selectedTarget, type TargetsRoute, targetsInView } from './targets-route.ts';

export const targetsScreen: ScreenModule<TargetsRoute> = {
  title: 'Targets',
  view: PaneView,
  keys: TARGET_KEYS,
  rows: targetsInView,
  selected: (model, route) => ({ target: selectedTarget(model, route) }),
  ...FILTERED,
  pane: {
    view: TargetsPane,
    path: () => ['targets'],
    name: () => 'targets',
    aside: (model, route, { brief }) => {
      const { entries } = model.targets.getState();
      const shown = targetsInView(model, route).items.length;
      return entries.length === 0 ? [] : countOf({ shown, all: entries.length, sort: route.sort, brief });
    },
    detail: (model, route, glyphs) => {
      const selected = selectedTarget(model, route);
      if (!selected) return null;
      const { sizes = [] } = model.targets.getState().sizes.get(selected.row.name) ?? {};
      const growth = sparkline(sizes.slice(-MOST_SIZES), glyphs);
      const facts = targetFacts(selected, minuteOf(model));
      return { title: titleOf(selected), facts: [...facts, ...growthFacts(growth)] };
    },
    next: (model, route) => {
      const selected = selectedTarget(model, route);
      return selected && snapshotsOfTarget(selected.row.name, route.child);
    },
  },
};

/** Snapshots whose sizes are drawn. */
const MOST_SIZES = 20;

/** Columns. */
const BRIEF_BELOW = 52;
/** A narrower pane has no room for the ages of the latest snapshots. */
const NARROW_BELOW = 44;

function TargetsPane({ route, width: columns, height, isActive, alone }: PaneProps<TargetsRoute>) {
  const model = useModel();
  const state = useStore(model.targets);
  const { wide } = useRoom();
  const view = targetsInView(model, route);
  const entries = view.items;
  const index = positionIn(view, route.list.selected);
  const selected = entries[index];
  const now = minuteOf(model);
  const grouped = useMemo(() => isGrouped(state.entries), [state.entries]);
  const filtering = isFiltering(route);
  const { glyphs } = useTheme();
  const runs = useStore(model.runs.store, (all) => all.runs);
  const live = useMemo(() => liveRuns(runs), [runs]);
  const running = live.size > 0;
  const { sizes } = state;
  const narrow = !alone && columns < NARROW_BELOW;
  const tableColumns = useMemo(
    () => briefTargetColumns(entries, { glyphs, now, sizes, running, narrow, brief: !alone }),
    [glyphs, now, sizes, running, narrow, alone, entries],
  );
  useChecks(model, selected);
  const measured = useMemo(() => measureColumns(tableColumns, entries), [tableColumns, entries]);
  const panes = listPanes({ width: columns, height, wide, needed: fullWidth(measured) });
  const { place: detail, listWidth } = alone ? panes : { place: 'none' as const, listWidth: columns };
  const layout = useMemo(
    () => layOutMeasured(measured, entries, listWidth - LIST_MARGIN),
    [entries, listWidth, measured],
  );
  const notice = state.hub && hubNotice(state.hub, { now, brief: columns < BRIEF_BELOW });
  const listHeight = height - (filtering ? 1 : 0) - (notice ? 1 : 0) - (detail === 'below' ? DETAIL_ROWS : 0);
  return (
    <Box flexDirection="column" width={columns}>
      {filtering && <FilterLine typing={route.typing} filter={route.list.filter} width={columns} />}
      {state.error && <Failure error={state.error} width={columns} />}
      {state.error && <Empty lines={[configurationHint(state.error)]} />}
      {notice && entries.length === 0 && <HubNotice text={notice} width={columns} />}
      {entries.length === 0 && !state.error && <NoTargets model={model} filtering={filtering} />}
      {entries.length > 0 && (
        <Box flexDirection={detail === 'beside' ? 'row' : 'column'}>
          <TargetTable
            layout={layout}
            entries={entries}
            grouped={grouped}
            selected={index}
            filter={filterOf(route)}
            live={live}
            width={listWidth}
            height={listHeight}
            isActive={isActive}
          />
          {notice && detail !== 'beside' && <HubNotice text={notice} width={columns} />}
          {selected && detail !== 'none' && (
            <DetailPane
              title={titleOf(selected)}
              facts={targetFacts(selected, now)}
              width={detail === 'beside' ? columns - listWidth : columns}
              {...(detail === 'below' && { height: DETAIL_ROWS })}
            />
          )}
        </Box>
      )}
      {notice && entries.length > 0 && detail === 'beside' && <HubNotice text={notice} width={columns} />}
    </Box>
  );
}

/** Checks what is in view while it is. */
function useChecks(model: Model, selected: TargetEntry | undefined): void {
  useEffect(() => watchStatus(model), [model]);
  const asked = useRef(new Set<string>());
  // After each frame, which may have brought other rows into view.
  useEffect(() => void readSizes(model, asked.current));
  const checked = selected && !selected.checking ? selected.row.name : null;
  useEffect(() => (checked === null ? undefined : readContents(model, checked)), [model, checked]);
}

function HubNotice({ text, width }: { text: string; width: number }) {
  const { glyphs } = useTheme();
  return <Line spans={[{ text: `  ${glyphs.caution} ${text}`, tone: 'caution' }]} width={width} />;
}

interface TargetTableProps {
  layout: TableLayout<TargetEntry>;
  entries: TargetEntry[];
  grouped: boolean;
  /** Index. */
  selected: number;
  filter: string;
  /** Runs in progress or queued, by target. */
  live: Map<string, Run>;
  width: number;
  height: number;
  isActive: boolean;
}

/** A spinner costs a frame for each turn: one in a second, and none without a run. */
const SPINNER_MS = 1000;

function TargetTable({ layout, entries, grouped, selected, filter, live, ...room }: TargetTableProps) {
  const { clock } = useModel();
  const now = clock().getTime();
  const { glyphs } = useTheme();
  const lines = useMemo(() => targetLines(entries, grouped), [entries, grouped]);
  const headings = useMemo(() => headingLines(lines), [lines]);
  const isRunning = useMemo(() => [...live.values()].some(({ state }) => state.status === 'running'), [live]);
  const { frame } = useAnimation({ interval: SPINNER_MS, isActive: isRunning });
  const row = (line: TargetLine): Span[] => {
    if ('heading' in line) return headingSpans(line);
    const run = live.get(line.entry.row.name);
    const shown = run ? withRun(layout, runCell(run, { glyphs, frame, now })) : layout;
    return highlighted(tableRow(shown, line.entry, glyphs.ellipsis), filter);
  };
  return (
    <TableList
      layout={layout}
      items={lines}
      keyOf={keyOfLine}
      row={row}
      selected={lineOfEntry(headings, selected)}
      isHeading={(line) => 'heading' in line}
      {...room}
    />
  );
}

function withRun({ columns, fits }: TableLayout<TargetEntry>, status: Cell): TableLayout<TargetEntry> {
  const replaced = columns.map(({ column, width }) =>
    column.title === STATUS_TITLE ? { column: { ...column, cell: () => status }, width } : { column, width },
  );
  return { columns: replaced, fits };
}

function headingSpans({ heading, count }: Extract<TargetLine, { heading: unknown }>): Span[] {
  return [
    { text: GROUP_NAMES[heading], tone: 'strong' },
    { text: `  ${formatCount(count)}`, tone: 'dim' },
  ];
}

function titleOf({ row }: TargetEntry): Span[] {
  const { name, title } = row;
  return [
    { text: name, tone: 'strong' },
    { text: title === name ? '' : `  ${title}`, tone: 'dim' },
  ];
}

/** Sizes of the newest snapshots, for which the list beside has no room. */
function growthFacts(growth: string): Fact[] {
  return growth === '' ? [] : [{ name: 'Growth', value: growth, tone: 'accent' }];
}

function NoTargets({ model, filtering }: { model: Model; filtering: boolean }) {
  const lacksSignIn = useStore(model.session, (session) => session.lacksSignIn);
  const mode = useStore(model.session, (session) => session.mode);
  const loading = useStore(model.targets, ({ phase }) => phase === 'loading');
  if (filtering) return <Empty lines={noMatchLines('targets')} />;
  if (loading) return <Empty lines={LOADING.configuration} />;
  const [first = '', ...next] = lacksSignIn ? EMPTY.hub : EMPTY.targets;
  return <Empty lines={[mode === 'cloud' ? NONE_ON_HUB : first, ...next]} />;
}

function countOf({ shown, all, sort, brief }: { shown: number; all: number; sort: Sort; brief: boolean }): Span[] {
  const order = sort === 'configured' ? '' : `by ${sort}  `;
  const count = brief && shown === all ? formatCount(all) : countText(shown, all, 'target');
  return [
    { text: order, tone: 'accent' },
    { text: count, tone: 'dim' },
  ];
}
