import { Box, useAnimation, useIsScreenReaderEnabled, useWindowSize } from 'ink';
import { useEffect, useRef } from 'react';
import { useStore } from 'zustand';
import { Facts } from '../../../components/facts.tsx';
import type { Span } from '../../../components/line.tsx';
import { type Viewport, ViewportContext } from '../../../components/list.tsx';
import { PAGE_CHROME, type Size } from '../../../components/page.tsx';
import { type Pane, type PaneColumn, Panes, panesBorder, type Strip } from '../../../components/panes.tsx';
import { useTheme } from '../../../components/theme.ts';
import type { Fact } from '../../../src/presentation/shapes/fact.ts';
import type { Glyphs } from '../../../src/presentation/shapes/glyphs.ts';
import type { HistoryEntry } from '../../../src/results/history-results.ts';
import { isLive } from '../../../src/state/runs.ts';
import { activityOf, refreshHistory } from '../lists/activity.ts';
import { type Model, type PaneProps, screenOf } from '../model.ts';
import { objectOf, paneChain } from '../panes.ts';
import type { Route } from '../route.ts';
import { LOADING } from '../text.ts';
import { activityLines } from './activity-text.ts';
import { Frame, useModel } from './frame.tsx';

/** Columns of a window in which panes stand side by side, and in which each of three lists has its own. */
const PANES_FROM = 120;
const THIRD_FROM = 160;
const LEAST_ROWS = 20;
/** A high window has room for a third list below the second. */
const HIGH_FROM = 36;

export interface ShownPanes {
  lists: Route[];
  /** Index of the list that has the keys. */
  focus: number;
  size: Size;
}

/** The lists that have room beside the present one; `null` where it stands alone. */
export function usePanes(): ShownPanes | null {
  const model = useModel();
  useStore(model.targets);
  useStore(model.snapshots);
  const size = useWindowSize();
  // Read line by line, panes side by side would be mixed.
  const isRead = useIsScreenReaderEnabled();
  const most = size.columns >= THIRD_FROM || size.rows >= HIGH_FROM ? 3 : 2;
  const isWide = size.columns >= PANES_FROM && size.rows >= LEAST_ROWS && !isRead;
  const { routes, focus } = paneChain(model);
  const from = Math.max(0, focus - most + 1);
  const lists = routes.slice(from, from + most);
  const previews = isWide ? lists.slice(focus - from + 1) : [];
  usePreview(model, previews[0]);
  usePreview(model, previews[1]);
  return isWide && lists.length > 1 ? { lists, focus: focus - from, size } : null;
}

/** A selection that moves on sooner reads nothing. */
const IDLE_MS = 250;

/** Reads the rows of a pane to which no keys go, once they are wanted for a while. */
function usePreview(model: Model, route: Route | undefined): void {
  const done = useRef(new Set<string>());
  const shown = useRef(route);
  shown.current = route;
  const wanted = route === undefined ? null : (screenOf(model, route).pane?.readFor?.(model, route) ?? null);
  useEffect(() => {
    if (wanted === null || done.current.has(wanted)) return;
    const controller = new AbortController();
    const { signal } = controller;
    const timer = setTimeout(() => {
      const { current } = shown;
      const reading = current && screenOf(model, current).pane?.read?.(model, current, signal);
      void reading?.then(() => !signal.aborted && done.current.add(wanted));
    }, IDLE_MS);
    return () => {
      clearTimeout(timer);
      controller.abort(new Error('another row is selected'));
    };
  }, [model, wanted]);
}

/** Draws the lists, below each the facts of its selected row, and the latest activity. */
export function PanesFrame({ lists, focus, size }: ShownPanes) {
  const model = useModel();
  const { glyphs } = useTheme();
  const strip = useActivity(size);
  const height = size.rows - PAGE_CHROME - strip.lines.length - 1;
  const columns = columnsOf(model, { lists, focus, columns: size.columns, height, glyphs });
  const focused = placeOf(columns, lists[focus]);
  const border = panesBorder(columns, glyphs);
  const route = lists[focus];
  if (!route) return null;
  return (
    <Frame path={[]} panes={{ focused, border }}>
      <Panes columns={columns} strip={strip} />
    </Frame>
  );
}

/** The newest activity; more of it in a high window. */
function useActivity({ columns, rows }: Size): Strip {
  const model = useModel();
  const { glyphs } = useTheme();
  const runs = useStore(model.runs.store, (state) => state.runs);
  const messages = useStore(model.messages.store, (state) => state.all);
  const { found, error } = useStore(model.history);
  useEffect(() => {
    const timer = setTimeout(() => void refreshHistory(model), IDLE_MS);
    return () => clearTimeout(timer);
  }, [model]);
  useAnimation({ interval: 1000, isActive: runs.some(isLive) });
  const now = model.clock().getTime();
  const entries = activityOf({ runs, messages, recorded: (found?.entries ?? NONE).slice(0, MOST_RECORDED), now });
  const most = Math.max(1, Math.min(MOST_LINES, Math.floor((rows - LEAST_ROWS) / 5)));
  return {
    title: [{ text: 'activity', tone: 'strong' }],
    lines:
      !found && !error && entries.length === 0
        ? READING
        : activityLines(entries, { glyphs, now, width: columns - STRIP_MARGIN, most }),
  };
}

const NONE: HistoryEntry[] = [];
const READING: Span[][] = LOADING.activity.map((text) => [{ text, tone: 'dim' }]);
const MOST_LINES = 8;
/** Both sides, and a blank beside each. */
const STRIP_MARGIN = 4;
/** Entries of the history that are looked at for a strip. */
const MOST_RECORDED = 100;

/** Cells of the outer columns of panes; the one between them has the rest. */
const FIRST = { share: 0.27, least: 40, most: 60 };
const LAST = { share: 0.3, least: 44, most: 72 };

/** Widths of the columns: one for each list where there is room, else the first list beside all others. */
function widthsOf(columns: number, count: number): number[] {
  const inner = columns - count - 1;
  const part = ({ share, least, most }: typeof FIRST) => Math.max(least, Math.min(most, Math.round(inner * share)));
  const first = part(FIRST);
  return count === 2 ? [first, inner - first] : [first, inner - first - part(LAST), part(LAST)];
}

interface ColumnsOptions extends Pick<ShownPanes, 'lists' | 'focus'> {
  columns: number;
  height: number;
  glyphs: Glyphs;
}

/** The lists from left to right, each above the facts of its selected row. */
function columnsOf(model: Model, { lists, focus, columns, height, glyphs }: ColumnsOptions): PaneColumn[] {
  const [first, ...others] = lists;
  const beside = columns >= THIRD_FROM ? others.map((route) => [route]) : [others];
  const groups = [...(first ? [[first]] : []), ...beside];
  const widths = widthsOf(columns, groups.length);
  return groups.map((routes, index): PaneColumn => {
    const width = widths[index] ?? 0;
    const parts = routes.flatMap((route): ColumnPart[] => {
      const detail = screenOf(model, route).pane?.detail?.(model, route, glyphs);
      return [{ route }, ...(detail ? [{ detail, id: `facts ${objectOf(route)}` }] : [])];
    });
    const lines = heightsOf(parts, height);
    const panes = parts.map((part, at): Pane => {
      const room = { width, height: lines[at] ?? 0 };
      return 'route' in part
        ? listPane(model, { ...room, route: part.route, isActive: part.route === lists[focus] })
        : factsPane(part, room);
    });
    return { width, panes };
  });
}

interface FactsPart {
  id: string;
  detail: { title: Span[]; facts: Fact[] };
}

type ColumnPart = { route: Route } | FactsPart;

/** Lines of facts, at most, in a window that is not high. */
const MOST_FACTS = 12;
const FACTS_SHARE = 0.35;

/** The same lines for every selection: facts have a share of the column, and its lists the rest. */
function heightsOf(parts: ColumnPart[], height: number): number[] {
  const room = height - (parts.length - 1);
  const most = Math.max(MOST_FACTS, Math.floor(room * FACTS_SHARE));
  const facts = Math.min(most, Math.floor(room / Math.max(2, parts.length)));
  const lists = parts.filter((part) => 'route' in part).length;
  const rest = room - facts * (parts.length - lists);
  const upper = Math.floor(rest / lists);
  const last = parts.findLastIndex((part) => 'route' in part);
  return parts.map((part, index) => ('detail' in part ? facts : index === last ? rest - upper * (lists - 1) : upper));
}

function listPane(model: Model, props: Omit<PaneProps<Route>, 'alone'>): Pane {
  const { route, height, isActive } = props;
  const { pane } = screenOf(model, route);
  if (!pane) throw new Error(`the screen ${route.screen} is no pane`);
  const { view: View } = pane;
  const list = <View {...props} alone={false} />;
  return {
    id: objectOf(route),
    title: [{ text: pane.name(route), tone: 'strong' }],
    aside: pane.aside(model, route, { brief: true }),
    focused: isActive,
    height,
    // Only the pane that has the keys says which rows are in view.
    content: isActive ? list : <ViewportContext value={null}>{list}</ViewportContext>,
  };
}

function factsPane({ id, detail: { title, facts } }: FactsPart, room: { width: number; height: number }): Pane {
  const content = (
    <Box paddingLeft={1}>
      <Facts facts={facts} width={room.width - 2} />
    </Box>
  );
  return { id, title, height: room.height, content };
}

function placeOf(columns: PaneColumn[], route: Route | undefined): NonNullable<Viewport['pane']> {
  let left = 1;
  for (const { width, panes } of columns) {
    let top = 0;
    for (const { id, height } of panes) {
      if (route && id === objectOf(route)) return { left, right: left + width, top };
      top += height + 1;
    }
    left += width + 1;
  }
  return { left: 0, right: 0, top: 0 };
}
