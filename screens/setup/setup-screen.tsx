import { Box } from 'ink';
import { Choice } from '../../components/choice.tsx';
import { Failure } from '../../components/empty.tsx';
import { Line, type Span } from '../../components/line.tsx';
import { TextField } from '../../components/text-field.tsx';
import { useTheme } from '../../components/theme.ts';
import { ENGINE_PROFILES } from '../../src/engines/list.ts';
import type { Glyphs, Tone } from '../../src/presentation/glyphs.ts';
import { formatBytes } from '../../src/text/format.ts';
import { wrap } from '../../src/text/text-width.ts';
import { Frame, useModel, useRoom } from '../app/frame.tsx';
import { typedSecret, typedUrl } from '../app/hidden-text.ts';
import { BACK, moving } from '../app/keys.ts';
import type { ScreenModule } from '../app/model.ts';
import { scrolledUp } from '../app/navigate.ts';
import { answerChosen, answerTyped, backStep, finish } from './actions.ts';
import type { SetupFound, SetupRoute } from './setup-route.ts';
import type { SetupStep } from './step.ts';
import type { SetupStepId } from './step-ids.ts';
import { stepsOf, stepWithId } from './steps.ts';

export const setupScreen: ScreenModule<SetupRoute> = {
  id: 'setup',
  title: 'A first configuration',
  picture: 'set-up',
  view: SetupView,
  keys: [
    {
      keys: ['enter'],
      label: 'go on',
      help: 'take the answer',
      when: ({ route }) => route.step !== 'review',
      run: answerTyped,
      stays: true,
      palette: false,
    },
    {
      keys: ['enter'],
      label: 'write the file',
      help: 'write the file that is shown',
      when: ({ route }) => route.step === 'review',
      run: finish,
      stays: true,
      palette: false,
    },
    { ...BACK, keys: ['esc'], help: 'back by one question; nothing is written before the file was shown' },
    moving('up', { keys: ['up'], help: 'another choice; towards the beginning of the file that is shown' }),
    moving('down', { keys: ['down'], help: 'another choice; towards the end of the file that is shown' }),
    moving('page-up', { keys: ['pageup'], help: 'a page up in the file that is shown' }),
    moving('page-down', { keys: ['pagedown'], help: 'a page down in the file that is shown' }),
  ],
  onMove: (model, route, move) =>
    model.navigation.replace({ ...route, scrolledUp: scrolledUp(model, route.scrolledUp, move) }),
  onBack: backStep,
  onAccept: answerTyped,
};

export function SetupView({ route }: { route: SetupRoute }) {
  const { columns, height } = useRoom();
  const { glyphs } = useTheme();
  const { error, busy, found } = route;
  const width = columns - 4;
  const step = stepWithId(route.step);
  const steps = stepsOf(route);
  const about = step
    .about(route)
    .flatMap((text, index) =>
      wrap(text, width).map((line): Span => ({ text: line, tone: index === 0 ? 'plain' : 'dim' })),
    );
  const told = toldAt(route, glyphs).flatMap(({ text, tone }) =>
    wrap(text, width).map((line): Span => ({ text: line, ...(tone && { tone }) })),
  );
  const room = Math.max(3, height - about.length - told.length - 2 - (told.length > 0 ? 1 : 0));
  return (
    <Frame
      screen="setup"
      path={['set up']}
      aside={[{ text: `step ${steps.indexOf(step) + 1} of ${steps.length}`, tone: 'dim' }]}
    >
      <Box flexDirection="column" paddingTop={1} paddingLeft={2}>
        {told.map((span) => (
          <Line key={span.text} spans={[span]} width={width} />
        ))}
        {told.length > 0 && <Line spans={[]} width={width} />}
        {about.map((span) => (
          <Line key={span.text} spans={[span]} width={width} />
        ))}
        <Line spans={[]} width={width} />
        {busy && (
          <Line
            spans={[{ text: `${glyphs.running} ${BUSY[step.id] ?? 'One moment'}…`, tone: 'accent' }]}
            width={width}
          />
        )}
        {!busy && step.kind !== 'review' && (
          <Question key={step.id} route={route} step={step} room={room} width={width} />
        )}
        {!busy && step.kind === 'review' && (
          <FileText text={found.plan?.shown ?? ''} up={route.scrolledUp} room={room} width={width} />
        )}
      </Box>
      {error && <Failure error={error} width={columns} />}
    </Frame>
  );
}

const BUSY: Partial<Record<SetupStepId, string>> = {
  url: 'Trying the source; Esc gives up',
  password: 'Asking the server for its databases; Esc gives up',
  database: 'Trying the source; Esc gives up',
  destination: 'Looking at the destination; Esc gives up',
  credentials: 'Trying the bucket: list, put, get, delete; Esc gives up',
  secretKey: 'Trying the bucket: list, put, get, delete; Esc gives up',
  review: 'Writing the file',
};

/** Results of earlier checks that help with a question. */
function toldAt({ step, found }: SetupRoute, glyphs: Glyphs): Span[] {
  const { source, destination, storage } = found;
  const good = (text: string): Span[] => [{ text: `${glyphs.good} ${text}`, tone: 'good' }];
  switch (step) {
    case 'file':
    case 'target':
    case 'how':
    case 'engine':
      return engineLines(found, glyphs);
    case 'schemas':
    case 'destination': {
      if (!source) return [];
      const { display, server_version, size_bytes } = source;
      return good(`${display} answers: version ${server_version ?? 'unknown'}, ${formatBytes(size_bytes ?? 0)}`);
    }
    case 'keep':
    case 'storage':
      if (!destination) return [];
      return destination.exists
        ? good(`${destination.display} is there, ${formatBytes(destination.size_bytes ?? 0)}: each load replaces it`)
        : good(`${destination.display} is not there yet: the first load creates it`);
    case 'review':
      return storage === null ? [] : good(`${storage}: list, put, get and delete work`);
    default:
      return [];
  }
}

function engineLines({ engines }: SetupFound, glyphs: Glyphs): Span[] {
  return ENGINE_PROFILES.map(({ id, products, withoutPrograms: { works, advice } }): Span => {
    const name = products.join(', ');
    const tools = engines?.find((engine) => engine.id.startsWith(`${id}-`))?.tools;
    if (!tools) return { text: `${glyphs.pending} ${name}: looking for client programs`, tone: 'dim' };
    const [newest] = tools;
    if (newest) return { text: `${glyphs.good} ${name}: ${newest.name} ${newest.version}`, tone: 'good' };
    const mark = works ? glyphs.good : glyphs.caution;
    return { text: `${mark} ${name}: ${advice}`, tone: works ? 'good' : 'caution' };
  });
}

interface QuestionProps {
  route: SetupRoute;
  step: Exclude<SetupStep, { kind: 'review' }>;
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
  const text = step.secret ? typedSecret(typing.text) : typedUrl(typing.text);
  return <TextField label={step.label} edit={{ ...typing, text }} width={width} />;
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
  const lines = text.trimEnd().split('\n');
  viewport.furthest = Math.max(0, lines.length - room);
  const last = Math.max(room, lines.length - up);
  return lines.slice(Math.max(0, last - room), last).map((line, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: lines have no identity but their place
    <Line key={index} spans={line === '' ? [] : [{ text: line, tone: toneOf(line) }]} width={width} />
  ));
}

function toneOf(line: string): Tone {
  return line.startsWith('#') ? 'dim' : 'plain';
}
