import { useIsScreenReaderEnabled, useWindowSize } from 'ink';
import { createContext, type ReactNode, useContext } from 'react';
import { useStore } from 'zustand';
import type { KeyHint } from '../../../components/key-bar.tsx';
import type { Span } from '../../../components/line.tsx';
import type { Viewport } from '../../../components/list.tsx';
import { contentWidth, PAGE_CHROME, Page, type PageProps, type Size } from '../../../components/page.tsx';
import { useTheme } from '../../../components/theme.ts';
import { formatCount } from '../../../src/text/format.ts';
import { bindingsOf, keyName } from '../keys.ts';
import { contextOf, type Model, screenOf } from '../model.ts';
import { typingAt } from '../route.ts';
import { runsInProgress } from './run-text.ts';
import { runningCells, sessionFacts, statusSpans } from './status-line.ts';

export const ModelContext = createContext<Model | null>(null);

export function useModel(): Model {
  const model = useContext(ModelContext);
  if (!model) throw new Error('a screen is drawn outside of the application');
  return model;
}

/** Up to this many columns panes are stacked; beyond, side by side. */
const STACKED_UP_TO = 84;

/** The room for the content of a screen. */
export interface Room extends Size {
  height: number;
  wide: boolean;
}

export function useRoom(): Room {
  const { columns: all, rows } = useWindowSize();
  // Read line by line, panes side by side would be mixed.
  const isRead = useIsScreenReaderEnabled();
  return {
    columns: contentWidth(all),
    rows,
    height: Math.max(1, rows - PAGE_CHROME),
    wide: all > STACKED_UP_TO && !isRead,
  };
}

interface ScrolledText {
  scrolled: number;
  /** Lines in view, and in all. */
  rows: number;
  count: number;
}

/** The first line in view of a text that scrolls, and `lines 1–19 of 40` where not all of it is in view. */
export function placeOfText(viewport: Viewport, { scrolled, rows, count }: ScrolledText) {
  viewport.furthest = Math.max(0, count - rows);
  viewport.page = rows;
  const from = Math.min(scrolled, viewport.furthest);
  const text = `lines ${formatCount(from + 1)}–${formatCount(Math.min(count, from + rows))} of ${formatCount(count)}`;
  return { from, aside: count <= rows ? [] : [{ text, tone: 'dim' as const }] };
}

export interface FrameProps {
  path: string[];
  aside?: Span[];
  /** The pane that has the keys, and the border around all. */
  panes?: { focused: NonNullable<Viewport['pane']>; border: NonNullable<PageProps['border']> };
  children: ReactNode;
}

/** The page of a screen, with its keys and a status line. */
export function Frame({ path, aside = [], panes, children }: FrameProps) {
  const model = useModel();
  model.viewport.pane = panes?.focused;
  const { glyphs } = useTheme();
  const size = useWindowSize();
  const route = model.navigation.top();
  const shown = route.screen === 'run' ? route.run : null;
  const session = useStore(model.session);
  const notice = useStore(model.navigation.store, (state) => state.notice);
  const toast = useStore(model.messages.store, (state) => state.toast);
  const now = () => model.clock().getTime();
  const work = useStore(model.runs.store, ({ runs }) =>
    screenOf(model, route).listsRuns ? '' : runsInProgress(runs, { shown, glyphs, now: now() }),
  );
  const filled = useStore(model.runs.store, ({ runs }) =>
    work === '' ? null : runningCells(runs, { shown, now: now() }),
  );
  return (
    <Page
      size={size}
      path={['tool', ...path]}
      aside={aside}
      status={statusSpans({ notice, toast, work, filled, width: size.columns }, glyphs)}
      facts={sessionFacts(model, session)}
      hints={keyHints(model)}
      border={panes?.border}
    >
      {children}
    </Page>
  );
}

function keyHints(model: Model): KeyHint[] {
  const context = contextOf(model);
  const screen = screenOf(model, context.route);
  if (screen.typingHints && typingAt(context.route)) return screen.typingHints;
  const hints = bindingsOf(screen, context).flatMap(
    ({ keys, shown = keyName(keys[0]), label, stays = false, whyNot }) => {
      const disabled = (whyNot?.(context) ?? null) !== null;
      return label === undefined ? [] : [{ keys: shown, label, stays, disabled }];
    },
  );
  // Of two commands of one key the first is run.
  return hints.filter(({ keys }, index) => hints.findIndex((hint) => hint.keys === keys) === index);
}
