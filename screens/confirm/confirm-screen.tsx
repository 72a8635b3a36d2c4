import { Box } from 'ink';
import { useStore } from 'zustand';
import { Choice } from '../../components/choice.tsx';
import { Empty, Failure } from '../../components/empty.tsx';
import { Facts } from '../../components/facts.tsx';
import { Line } from '../../components/line.tsx';
import { TextField } from '../../components/text-field.tsx';
import { useTheme } from '../../components/theme.ts';
import { LOADING } from '../../src/presentation/lists.ts';
import { notTyped, PLAN_STEPS, type Question, queuedText } from '../../src/presentation/shapes/question.ts';
import { isLive, type Run } from '../../src/state/runs.ts';
import { wrap } from '../../src/text/text-width.ts';
import { Frame, useModel, useRoom } from '../app/frame.tsx';
import { BACK, HELP } from '../app/keys.ts';
import type { ScreenModule } from '../app/model.ts';
import { answerConfirm, confirmTyped, RETRY_PLAN } from './actions.ts';
import type { ConfirmRoute } from './confirm-route.ts';
import { RESET_INSTEAD } from './reset.ts';

export const confirmScreen: ScreenModule<ConfirmRoute> = {
  id: 'confirm',
  title: 'Confirmation',
  picture: 'plan',
  view: ConfirmView,
  keys: [RETRY_PLAN, RESET_INSTEAD, { ...BACK, label: 'cancel', help: 'back; nothing is changed' }, HELP],
  onAccept: confirmTyped,
};

export function ConfirmView({ route }: { route: ConfirmRoute }) {
  const model = useModel();
  const { columns, height } = useRoom();
  const { target, title, plan, error, typing } = route;
  const before = useStore(model.runs.store, ({ runs }) => runs.findLast((run) => run.target === target && isLive(run)));
  return (
    <Frame screen="confirm" path={[target, title]}>
      {error && <Failure error={error} width={columns} />}
      {!plan && !error && <Empty lines={LOADING.plan} />}
      {plan && (
        <QuestionView question={plan.question} before={before} height={height} width={columns} typing={typing} />
      )}
    </Frame>
  );
}

interface QuestionViewProps {
  question: Question;
  /** The run that this one waits for. */
  before: Run | undefined;
  width: number;
  height: number;
  typing: ConfirmRoute['typing'];
}

const BESIDE_FROM = 120;

/** In fewer rows the steps are hidden. */
const STEPS_FROM = 18;

function QuestionView({ question, before, width, height, typing }: QuestionViewProps) {
  const model = useModel();
  const { glyphs } = useTheme();
  const { facts, warnings, consequence, go, typed } = question;
  const beside = width >= BESIDE_FROM;
  const half = beside ? Math.floor(width / 2) : width;
  return (
    <Box flexDirection="column" width={width} height={height}>
      {/* Where the window is low, the plan is cut and the question stays. */}
      <Box
        flexDirection={beside ? 'row' : 'column'}
        flexShrink={1}
        overflow="hidden"
        paddingTop={height > 20 ? 1 : 0}
        paddingLeft={2}
      >
        {/* Parts that gave way themselves would be drawn over each other. */}
        <Box flexDirection={beside ? 'row' : 'column'} flexShrink={0}>
          <Facts facts={facts} width={half - 4} />
          {height >= STEPS_FROM && <Steps question={question} width={half - 4} beside={beside} />}
        </Box>
      </Box>
      <Box flexDirection="column" flexShrink={0}>
        {warnings.flatMap((warning) =>
          wrap(warning, width - 5).map((line, index) => (
            <Line
              key={line}
              spans={[{ text: `  ${index === 0 ? glyphs.caution : ' '} ${line}`, tone: 'caution' }]}
              width={width}
            />
          )),
        )}
        {before && (
          <Line spans={[{ text: `  ${glyphs.pending} ${queuedText(before.title)}`, tone: 'accent' }]} width={width} />
        )}
        {wrap(consequence, width - 3).map((line) => (
          <Line key={line} spans={[{ text: `  ${line}`, tone: 'strong' }]} width={width} />
        ))}
        <Line spans={[]} width={width} />
        {typing && typed ? (
          <TextField label={`  ${notTyped(typed.name, '')}:`} edit={typing} width={width} />
        ) : (
          <Choice
            options={[
              { label: 'Cancel', value: 'leave' },
              { label: go, value: 'go' },
            ]}
            onSelect={(answer) => answerConfirm(model, answer)}
          />
        )}
      </Box>
    </Box>
  );
}

function Steps({ question, width, beside }: { question: Question; width: number; beside: boolean }) {
  if (question.steps.length === 0) return null;
  return (
    <Box flexDirection="column" paddingTop={beside ? 0 : 1} paddingBottom={1}>
      <Line spans={[{ text: PLAN_STEPS, tone: 'dim' }]} width={width} />
      {question.steps.flatMap((step, index) =>
        wrap(step, width - 2).map((line, part) => (
          <Line
            key={line}
            spans={[{ text: part === 0 ? `${index + 1} ` : '  ', tone: 'dim' }, { text: line }]}
            width={width}
          />
        )),
      )}
    </Box>
  );
}
