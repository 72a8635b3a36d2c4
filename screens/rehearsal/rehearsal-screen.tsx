import { Box } from 'ink';
import { useMemo } from 'react';
import { useStore } from 'zustand';
import { factLines } from '../../components/facts.tsx';
import { Lines, type Span } from '../../components/line.tsx';
import { ListView } from '../../components/list-view.tsx';
import { useTheme } from '../../components/theme.ts';
import { rehearsalHeadlines } from '../../src/operations/rehearse/headline-text.ts';
import { findingColumns, findingFacts, findingsOf, type ReportEntry } from '../../src/operations/rehearse/list-text.ts';
import { NO_FINDING, REHEARSAL_COPIED } from '../../src/operations/rehearse/screen-text.ts';
import { rehearsalMarkdown, verdictText } from '../../src/operations/rehearse/text.ts';
import { timelineLines, timelineRows } from '../../src/operations/rehearse/timeline-text.ts';
import type { Glyphs } from '../../src/presentation/shapes/glyphs.ts';
import type { RehearsalResult } from '../../src/results/review/rehearsal-results.ts';
import type { ListState } from '../../src/state/list.ts';
import { markdownText } from '../../src/text/markdown.ts';
import { wrap } from '../../src/text/text-width.ts';
import { Frame, useModel, useRoom } from '../app/frame/frame.tsx';
import { TextPage } from '../app/frame/text-page.tsx';
import { ACTIVITY, BACK, LIST_KEYS } from '../app/keys.ts';
import { positionIn, rowsByIndex } from '../app/lists/in-view.ts';
import { type Model, runWithId, type ScreenModule } from '../app/model.ts';
import { moveInList, scrolledDown } from '../app/navigate.ts';

/** The report of a rehearsal, which the summary of its run has. */
interface RehearsalRoute {
  screen: 'rehearsal';
  target: string;
  run: string;
  list: ListState;
  /** The selected finding is shown in full, and scrolled so many lines. */
  opened: boolean;
  scrolled: number;
}

export const rehearsalScreen: ScreenModule<RehearsalRoute> = {
  title: 'Report of a rehearsal',
  view: RehearsalView,
  keys: [
    {
      keys: ['enter', 'right'],
      label: 'details',
      help: 'show the finding in full, with the statement and the safer form',
      when: ({ route }) => !route.opened,
      whyNot: ({ model, route }) => (findingAt(model, route) ? null : NO_FINDING),
      run: ({ navigation }, route) => navigation.replace({ ...route, opened: true, scrolled: 0 }),
    },
    {
      id: 'copy',
      label: 'copy report',
      help: 'copy the report as Markdown, for a pull request',
      palette: 'Copy report of the rehearsal',
      run: copyReport,
    },
    BACK,
    ACTIVITY,
    ...LIST_KEYS,
  ],
  rows: (model, route) => rowsByIndex(findingsAt(model, route)),
  onMove(model, route, direction) {
    const { navigation } = model;
    if (route.opened) navigation.replace({ ...route, scrolled: scrolledDown(model, route.scrolled, direction) });
    else moveInList(model, direction);
  },
  onBack({ navigation }, route) {
    if (route.opened) navigation.replace({ ...route, opened: false });
    else navigation.pop();
  },
};

function resultOf({ runs }: Model, { run }: RehearsalRoute): RehearsalResult | null {
  return runWithId(runs.store.getState().runs, run)?.summary?.rehearsal ?? null;
}

function findingsAt(model: Model, route: RehearsalRoute): ReportEntry[] {
  const result = resultOf(model, route);
  return result ? findingsOf(result) : [];
}

function findingAt(model: Model, route: RehearsalRoute): ReportEntry | null {
  const findings = findingsAt(model, route);
  return findings[positionIn(rowsByIndex(findings), route.list.selected)] ?? null;
}

function copyReport(model: Model, route: RehearsalRoute): void {
  const result = resultOf(model, route);
  if (!result) return;
  model.terminal.copy(rehearsalMarkdown(result, markdownText));
  model.navigation.notify({ tone: 'good', text: REHEARSAL_COPIED });
}

function RehearsalView({ route }: { route: RehearsalRoute }) {
  const model = useModel();
  const result = useStore(model.runs.store, ({ runs }) => runWithId(runs, route.run)?.summary?.rehearsal);
  const findings = useMemo(() => (result ? findingsOf(result) : []), [result]);
  const selected = positionIn(rowsByIndex(findings), route.list.selected);
  const finding = findings[selected];
  if (!result) return null;
  if (route.opened && finding) return <OpenedFinding route={route} finding={finding} />;
  return <Report route={route} result={result} findings={findings} selected={selected} />;
}

const MARGIN = 2;

function OpenedFinding({ route, finding }: { route: RehearsalRoute; finding: ReportEntry }) {
  const { columns } = useRoom();
  const width = columns - 2 * MARGIN;
  const { title, facts } = findingFacts(finding);
  const head = wrap(title, width)
    .slice(0, 3)
    .map((text): Span[] => [{ text, tone: 'strong' }]);
  const path = [route.target, 'rehearsal', finding.kind];
  const lines = factLines({ facts, width });
  return <TextPage path={path} head={head} lines={lines} scrolled={route.scrolled} />;
}

interface ReportProps {
  route: RehearsalRoute;
  result: RehearsalResult;
  findings: ReportEntry[];
  /** Index. */
  selected: number;
}

/** The verdict, the timeline, then the list, which gets at least half of the room. */
function Report({ route, result, findings, selected }: ReportProps) {
  const { columns: width, height, wide } = useRoom();
  const { glyphs } = useTheme();
  const narrow = width < NARROW_BELOW;
  const columns = useMemo(() => findingColumns(glyphs, { narrow }), [glyphs, narrow]);
  const head = headLines({ result, width: width - 2 * MARGIN, height, glyphs });
  const gap = height > LOW ? [[]] : [];
  // The list gets half of the room, and what the timeline leaves.
  const room = height - head.length - 2 * gap.length;
  const list = Math.min(findings.length + 1, Math.ceil(room / 2));
  const bars = height > VERY_LOW ? Math.max(0, Math.min(room - list - 1, MOST_BARS)) : 0;
  const rows = timelineRows(result, bars);
  const finding = findings[selected];
  const timeline =
    rows.length === 0
      ? []
      : timelineLines({ result, rows, width: width - MARGIN, glyphs, selected: finding ? statementOf(finding) : null });
  const above = [...head, ...(timeline.length > 0 ? [...gap, ...timeline] : []), ...gap];
  return (
    <Frame path={[route.target, 'rehearsal']}>
      <Box flexDirection="column" flexShrink={0}>
        <Lines lines={above} width={width} />
      </Box>
      <ListView<ReportEntry>
        columns={columns}
        rows={findings}
        keyOf={(_, index) => String(index)}
        selected={selected}
        width={width}
        height={Math.max(1, height - above.length)}
        empty={[NO_FINDING]}
        detail={findingFacts}
        wide={wide}
      />
    </Frame>
  );
}

/** In lines: up to here blank lines are left out, and up to the other the report below the verdict. */
const LOW = 16;
const VERY_LOW = 8;
/** From here on the head of the report is in full. */
const HIGH = 24;
const NARROW_BELOW = 100;
const MOST_BARS = 20;

interface HeadOptions {
  result: RehearsalResult;
  width: number;
  /** Lines of the whole report. */
  height: number;
  glyphs: Glyphs;
}

function headLines({ result, width, height, glyphs }: HeadOptions): Span[][] {
  const tone = ({ passed: 'good', failed: 'bad', over_limit: 'bad' } as const)[result.outcome];
  const headlines = height > VERY_LOW ? rehearsalHeadlines(result, { brief: height < HIGH }) : [];
  const more = headlines.flatMap(({ text, tone: own }) =>
    wrap(text, width - 2).map((line): Span[] => [{ text: `    ${line}`, tone: own }]),
  );
  return [[{ text: `  ${glyphs[tone]} ${verdictText(result)}`, tone, bold: true }], ...more];
}

function statementOf(finding: ReportEntry): string | null {
  switch (finding.kind) {
    case 'failed':
      return finding.item.text;
    case 'lock':
    case 'warning':
      return finding.item.statement;
    case 'wait':
      return finding.item.waited_for;
    default:
      return null;
  }
}
