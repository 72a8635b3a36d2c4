import { Ask } from '../../components/ask.tsx';
import type { ChoiceOption } from '../../components/choice.tsx';
import { Frame, useModel, useRoom } from '../app/frame/frame.tsx';
import { CANCEL, CHOOSING, HELP } from '../app/keys.ts';
import type { ScreenModule } from '../app/model.ts';

export interface ChoiceRoute {
  screen: 'choice';
  path: string[];
  question: string;
  lines: string[];
  options: ChoiceOption<string>[];
  answer: (value: string) => void;
}

export const choiceScreen: ScreenModule<ChoiceRoute> = {
  title: 'A choice',
  view: ChoiceView,
  keys: [...CHOOSING, CANCEL, HELP],
};

function ChoiceView({ route }: { route: ChoiceRoute }) {
  const { navigation } = useModel();
  const { columns, height } = useRoom();
  const { path, question, lines, options, answer } = route;
  return (
    <Frame path={path}>
      <Ask
        question={question}
        lines={lines}
        options={options}
        width={columns}
        height={height}
        onAnswer={(value) => {
          navigation.pop();
          answer(value);
        }}
      />
    </Frame>
  );
}
