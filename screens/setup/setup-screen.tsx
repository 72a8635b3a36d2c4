import { Box } from 'ink';
import { Choice } from '../../components/choice.tsx';
import { Failure, failureHeight } from '../../components/empty.tsx';
import { Line, Lines, type Span } from '../../components/line.tsx';
import { TextField } from '../../components/text-field.tsx';
import { useTheme } from '../../components/theme.ts';
import { fitCells, wrap } from '../../src/text/text-width.ts';
import { Frame, useModel, useRoom } from '../app/frame/frame.tsx';
import { typedSecret, typedUrlEdit } from '../app/frame/hidden-text.ts';
import { BACK, moving } from '../app/keys.ts';
import type { KeyContext, ScreenModule } from '../app/model.ts';
import { move, scrolledUp } from '../app/navigate.ts';
import { answerChosen, answerTyped, backStep, finish } from './actions.ts';
import { answeredFacts } from './answered-text.ts';
import { checkedLines, checkingText, REFUSED } from './checks-text.ts';
import type { SetupRoute } from './setup-route.ts';
import { SourceFields } from './source-fields.tsx';
import { moveInForm, nextType, sourceTyped, wouldLoseUrl } from './source-form.ts';
import { type ChoiceStep, type SetupStep, SOURCE_FIELDS, type TextStep } from './step.ts';
import { stepsOf, stepWithId, WELCOME } from './steps-text.ts';

export const setupScreen: ScreenModule<SetupRoute> = {
  title: 'A first configuration',
  view: SetupView,
  keys: [
    {
      keys: ['enter'],
      label: 'continue',
      help: 'apply the answer',
      when: ({ route }) => route.step !== 'review',
      run: answerTyped,
      stays: true,
    },
    {
      keys: ['enter'],
      label: 'write the file',
      help: 'write the file',
      when: ({ route }) => route.step === 'review',
      run: finish,
      stays: true,
    },
    { ...BACK, keys: ['esc'], help: 'back by one question; nothing is written before the file is shown' },
    {
      keys: ['space', 'left', 'right'],
      label: 'next type',
      help: 'the next type of server',
      when: ({ route }) => isForm({ route }) && route.form.field === 'scheme',
      run: ({ navigation }, route) => navigation.replace(nextType(route)),
    },
    moving('down', { keys: ['down', 'tab'], label: 'next field', help: 'the field below', when: isForm }),
    moving('up', { keys: ['up', 'shift+tab'], help: 'the field above', when: isForm }),
    moving('up', { keys: ['up'], help: 'the choice above; towards the beginning of the file' }),
    moving('down', { keys: ['down'], help: 'the choice below; towards the end of the file' }),
    moving('page-up', { keys: ['pageup'], help: 'a page up in the file' }),
    moving('page-down', { keys: ['pagedown'], help: 'a page down in the file' }),
  ],
  onMove: (model, route, direction) => {
    if (isForm({ route }) && wouldLoseUrl(route)) {
      model.navigation.notify({ tone: 'caution', text: REFUSED.url });
      return;
    }
    const scrolled = { ...route, scrolledUp: scrolledUp(model, route.scrolledUp, direction) };
    model.navigation.replace(isForm({ route }) ? moveInForm(route, direction) : scrolled);
  },
  onText: ({ navigation }, { error: _, ...route }, typing) => {
    const edited = { ...route, error: null };
    navigation.replace(route.step === 'url' ? sourceTyped(edited, typing) : { ...edited, typing });
  },
  onComplete: (model) => move(model, 'down'),
  onBack: backStep,
  onAccept: answerTyped,
};

function isForm({ route }: Pick<KeyContext, 'route'>): boolean {
  return route.screen === 'setup' && route.step === 'url' && !route.busy;
}

function SetupView({ route }: { route: SetupRoute }) {
  const { columns, height } = useRoom();
  const { glyphs } = useTheme();
  const { error, busy, found } = route;
  const step = stepWithId(route.step);
  const steps = stepsOf(route);
  const width = columns - 4;
  const about = step
    .about(route)
    .flatMap((text, index) =>
      wrap(text, width).map((line): Span => ({ text: line, tone: index === 0 ? 'plain' : 'dim' })),
    );
  const welcome: Span[][] = step === steps[0] ? [[{ text: WELCOME, tone: 'strong' }]] : [];
  const checked = checkedLines(route, glyphs).flatMap(({ text, tone }) =>
    wrap(text, width).map((line): Span[] => [{ text: line, ...(tone && { tone }) }]),
  );
  const told = [...welcome, ...(asks(step) ? answeredLines(route) : []), ...checked];
  const failed = error ? failureHeight(error, columns) : 0;
  const least = busy ? 1 : LEAST_ROWS[step.kind];
  const above = fitting({ told, about, height: height - failed - least });
  const room = Math.max(1, height - failed - above.length);
  return (
    <Frame path={['set up']} aside={[{ text: `step ${steps.indexOf(step) + 1}`, tone: 'dim' }]}>
      <Box flexDirection="column" paddingLeft={2} flexShrink={0}>
        <Lines lines={above} width={width} />
        {busy && (
          <Line spans={[{ text: `${glyphs.running} ${checkingText(step.id)}`, tone: 'accent' }]} width={width} />
        )}
        {!busy && (step.kind === 'text' || step.kind === 'choice') && (
          <Question key={step.id} route={route} step={step} room={room} width={width} />
        )}
        {!busy && step.kind === 'form' && <SourceFields route={route} room={room} width={width} />}
        {!busy && step.kind === 'review' && (
          <FileText text={found.plan?.shown ?? ''} up={route.scrolledUp} room={room} width={width} />
        )}
      </Box>
      {error && <Failure error={error} width={columns} />}
    </Frame>
  );
}

/** The file has the answers in it. */
function asks({ id }: SetupStep): boolean {
  return id !== 'review' && id !== 'done';
}

/** The answers so far, aligned. */
function answeredLines(route: SetupRoute): Span[][] {
  return answeredFacts(route).map(({ name, value }) => [
    { text: fitCells(name, ANSWER_NAME_WIDTH), tone: 'dim' },
    { text: ` ${value}` },
  ]);
}

/** Cells of the longest name. */
const ANSWER_NAME_WIDTH = 11;

/** Rows of a question at least. */
const LEAST_ROWS: Record<SetupStep['kind'], number> = { text: 1, choice: 3, form: SOURCE_FIELDS.length, review: 3 };

interface Above {
  told: Span[][];
  about: Span[];
  height: number;
}

/** The lines above the question. Where room is short blank lines go first, then explanations, then earlier results. */
function fitting({ told, about, height }: Above): Span[][] {
  const lines = (spans: Span[]) => spans.map((span) => [span]);
  const spaced = [[], ...told, ...(told.length > 0 ? [[]] : []), ...lines(about), []];
  if (spaced.length <= height) return spaced;
  const [asked, explained] = [
    about.filter(({ tone }) => tone === 'plain'),
    about.filter(({ tone }) => tone !== 'plain'),
  ];
  const rest = Math.max(0, height - asked.length);
  const results = told.slice(Math.max(0, told.length - rest));
  return [...results, ...lines(asked), ...lines(explained.slice(0, rest - results.length))].slice(
    0,
    Math.max(1, height),
  );
}

interface QuestionProps {
  route: SetupRoute;
  step: TextStep | ChoiceStep;
  room: number;
  width: number;
}

function Question({ route, step, room, width }: QuestionProps) {
  const model = useModel();
  if (step.kind === 'choice') {
    const initial = route.answers[step.id];
    return (
      <Choice
        options={step.options(route)}
        limit={room}
        {...(initial === undefined ? {} : { initial })}
        onSelect={(value) => answerChosen(model, value)}
      />
    );
  }
  const { typing } = route;
  if (!typing) return null;
  const edit = step.secret ? { ...typing, text: typedSecret(typing.text) } : typedUrlEdit(typing);
  return <TextField label={step.label} edit={edit} width={width} />;
}

interface FileTextProps {
  text: string;
  /** Lines scrolled up from the end. */
  up: number;
  room: number;
  width: number;
}

function FileText({ text, up, room, width }: FileTextProps) {
  const { viewport } = useModel();
  // Explanations are whole, values at their place.
  const lines = text
    .trimEnd()
    .split('\n')
    .flatMap((line) => (line.startsWith('#') ? wrap(line, width) : [line]));
  viewport.furthest = Math.max(0, lines.length - room);
  viewport.page = room;
  const last = Math.max(room, lines.length - up);
  const inView = lines.slice(Math.max(0, last - room), last).map((line): Span[] => {
    return line === '' ? [] : [{ text: line, tone: line.startsWith('#') ? 'dim' : 'plain' }];
  });
  return <Lines lines={inView} width={width} />;
}
