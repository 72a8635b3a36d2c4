import { Box } from 'ink';
import { useStore } from 'zustand';
import { Choice } from '../../components/choice.tsx';
import { Empty, Failure } from '../../components/empty.tsx';
import { factLines } from '../../components/facts.tsx';
import { cutSpans, Lines, type Span } from '../../components/line.tsx';
import { TextField } from '../../components/text-field.tsx';
import { useTheme } from '../../components/theme.ts';
import type { Glyphs } from '../../src/presentation/shapes/glyphs.ts';
import {
  notTyped,
  PLAN_STEPS,
  type Question,
  queuedText,
  type Subject,
} from '../../src/presentation/shapes/question.ts';
import { isLive } from '../../src/state/runs.ts';
import { wrap } from '../../src/text/text-width.ts';
import { Frame, placeOfText, useModel, useRoom } from '../app/frame/frame.tsx';
import { CANCEL, CHOOSING, HELP, moving } from '../app/keys.ts';
import type { KeyContext, ScreenModule } from '../app/model.ts';
import { scrolledDown } from '../app/navigate.ts';
import { LOADING } from '../app/text.ts';
import type { ConfirmRoute } from '../commands/runs/confirm-route.ts';
import { ALTERNATIVES } from './alternatives.ts';
import { answerConfirm, confirmTyped, RETRY_PLAN } from './answer.ts';

export const confirmScreen: ScreenModule<ConfirmRoute> = {
  title: 'Confirmation',
  view: ConfirmView,
  keys: [
    ...CHOOSING.map((binding) => ({ ...binding, when: ({ route }: KeyContext<ConfirmRoute>) => route.plan !== null })),
    RETRY_PLAN,
    ...ALTERNATIVES,
    moving('page-down', {
      keys: ['pagedown', 'ctrl+f'],
      label: 'scroll',
      help: 'a page of the plan down',
      when: ({ model }) => model.viewport.furthest > 0,
    }),
    moving('page-up', { keys: ['pageup', 'ctrl+b'], help: 'a page of the plan up' }),
    CANCEL,
    HELP,
  ],
  onAccept: confirmTyped,
  onMove: (model, route, move) =>
    model.navigation.replace({ ...route, scrolled: scrolledDown(model, route.scrolled ?? 0, move) }),
};

function ConfirmView({ route }: { route: ConfirmRoute }) {
  const model = useModel();
  const { viewport } = model;
  const { glyphs } = useTheme();
  const { columns: width, height, wide } = useRoom();
  const { target, title, plan, error, typing, scrolled = 0 } = route;
  const before = useStore(model.runs.store, ({ runs }) => runs.findLast((run) => run.target === target && isLive(run)));
  if (!plan) {
    viewport.furthest = 0;
    return (
      <Frame path={[target, title]}>
        {error ? <Failure error={error} width={width} /> : <Empty lines={LOADING.plan} />}
      </Frame>
    );
  }
  const { question } = plan;
  const queued = before ? [[{ text: `  ${glyphs.pending} ${queuedText(before.title)}`, tone: 'accent' } as const]] : [];
  const { above, panes, rows, count, below } = arrange({ question, queued, width, height, wide, glyphs });
  const { from, aside } = placeOfText(viewport, { scrolled, rows, count });
  // Where room is short, the subject below the title has its object.
  const name = question.subject && width < SHORT_TITLE ? (title.split(' ', 1)[0] ?? title) : title;
  return (
    <Frame path={[target, name]} aside={aside}>
      <Pane lines={above} width={width} />
      <Box height={rows} flexShrink={0} paddingLeft={2}>
        {panes.map(({ name, lines, width: paneWidth }) => (
          <Pane
            key={name}
            lines={linesFrom(lines, { from, rows, width: paneWidth, more: glyphs.ellipsis })}
            width={paneWidth}
          />
        ))}
      </Box>
      <Pane lines={below} width={width} />
      <Answer question={question} typing={typing} width={width} />
    </Frame>
  );
}

function Answer({
  question: { go, typed, harmless = false },
  typing,
  width,
}: Pick<ConfirmRoute, 'typing'> & AnswerProps) {
  const model = useModel();
  const danger = !harmless;
  if (typing && typed) return <TextField label={`  ${notTyped(typed, '')}:`} edit={typing} width={width} />;
  return (
    <Choice
      options={[
        { label: 'Cancel', value: 'leave' },
        { label: go, value: 'go', danger },
      ]}
      onSelect={(answer) => answerConfirm(model, answer)}
    />
  );
}

interface AnswerProps {
  question: Question;
  width: number;
}

function Pane({ lines, width }: { lines: Span[][]; width: number }) {
  return (
    <Box flexDirection="column" flexShrink={0} width={width}>
      <Lines lines={lines} width={width} />
    </Box>
  );
}

interface LayoutOptions {
  question: Question;
  /** The run that this one waits for. */
  queued: Span[][];
  width: number;
  height: number;
  wide: boolean;
  glyphs: Glyphs;
}

interface ConfirmLayout {
  above: Span[][];
  /** Scrolling panes, next to each other. */
  panes: { name: string; lines: Span[][]; width: number }[];
  /** Lines of the panes in view, and in all. */
  rows: number;
  count: number;
  /** Above the answer. */
  below: Span[][];
}

const SHORT_TITLE = 60;
const BESIDE_FROM = 120;
const ANSWERS = 2;

/** The subject and the question stay in view; the plan between them scrolls. */
function arrange({ question, queued, width, height, wide, glyphs }: LayoutOptions): ConfirmLayout {
  const { subject, facts, warnings, consequence } = question;
  const beside = wide && width >= BESIDE_FROM;
  const half = beside ? Math.floor(width / 2) : width;
  const above = subject ? subjectLines(subject, { width, glyphs }) : [];
  const warned = warningLines(warnings, { width: width - 3, glyphs });
  const outcome = outcomeLines(consequence, width - 3);
  const room = height - above.length - ANSWERS - queued.length;
  // Where the window is low, an empty line goes first; then warnings and outcome scroll, before the rest of the plan.
  const outcomeStays = room - outcome.length >= LEAST_PLAN;
  const warningsStay = outcomeStays && room - outcome.length - warned.length >= LEAST_PLAN;
  const pinned = [...(warningsStay ? warned : []), ...(outcomeStays ? outcome : [])].map((line) => [INDENT, ...line]);
  const gap: Span[][] = room - pinned.length > GAP_FROM ? [[]] : [];
  const below = [...pinned, ...queued, ...gap];
  const most = Math.max(1, height - above.length - below.length - ANSWERS);
  const inner = half - 4;
  const plan = [
    ...(outcomeStays ? [] : outcomeLines(consequence, inner)),
    ...(warningsStay ? [] : warningLines(warnings, { width: inner, glyphs })),
    ...factLines({ facts, width: inner }),
  ];
  const steps = stepLines(question, inner);
  const panes = beside
    ? [
        { name: 'facts', lines: plan, width: half },
        { name: 'steps', lines: steps, width: half },
      ]
    : [{ name: 'plan', lines: [...plan, ...(steps.length > 0 ? [[], ...steps] : [])], width: width - 2 }];
  const count = Math.max(...panes.map(({ lines }) => lines.length));
  // The answers follow the plan; an empty line where there is room for one.
  return { above, panes, rows: Math.min(most, count + 1), count, below };
}

interface LinesInView {
  from: number;
  rows: number;
  width: number;
  more: string;
}

/** The lines in view; dots end the last one where others follow: a sentence may go on there. */
function linesFrom(lines: Span[][], { from, rows, width, more }: LinesInView): Span[][] {
  const shown = lines.slice(from, from + rows);
  const last = shown.at(-1);
  if (!last || lines.length <= from + rows) return shown;
  return [
    ...shown.slice(0, -1),
    [...cutSpans(last, width - 4, ''), { text: last.length > 0 ? ` ${more}` : more, tone: 'dim' }],
  ];
}

const INDENT: Span = { text: '  ' };
/** Lines of the plan that are in view, however much there is to warn of. */
const LEAST_PLAN = 2;
/** With as many lines of the plan in view, an empty line may stand before the answers. */
const GAP_FROM = 4;

function outcomeLines(consequence: string, width: number): Span[][] {
  return wrap(consequence, width).map((text): Span[] => [{ text, tone: 'strong' }]);
}

function warningLines(warnings: string[], { width, glyphs }: { width: number; glyphs: Glyphs }): Span[][] {
  return warnings.flatMap((warning) =>
    wrap(warning, width - 2).map((line, index): Span[] => [
      { text: `${index === 0 ? glyphs.caution : ' '} ${line}`, tone: 'caution' },
    ]),
  );
}

function subjectLines({ badge, text, ends }: Subject, { width, glyphs }: { width: number; glyphs: Glyphs }): Span[][] {
  const shown = ends ? `${ends.from} ${glyphs.arrow} ${ends.to}` : text;
  const lead = badge ? `${badge.text} ` : '';
  return wrap(`${lead}${shown}`, width - 3).map((line, index): Span[] =>
    index === 0 && badge
      ? [{ text: '  ' }, { ...badge, bold: true }, { text: line.slice(badge.text.length), tone: 'strong' }]
      : [{ text: `  ${line}`, tone: 'strong' }],
  );
}

function stepLines({ steps }: Question, width: number): Span[][] {
  if (steps.length === 0) return [];
  return [
    [{ text: PLAN_STEPS, tone: 'dim' }],
    ...steps.flatMap((step, index) =>
      wrap(step, width - 3).map((line, part): Span[] => [
        { text: (part === 0 ? `${index + 1}` : '').padEnd(3), tone: 'dim' },
        { text: line },
      ]),
    ),
  ];
}
