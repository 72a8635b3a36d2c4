import { Ask } from '../../components/ask.tsx';
import { Frame, useModel } from '../app/frame.tsx';
import type { ChoiceRoute } from '../app/route.ts';

/** One answer out of a few. */
export function ChoiceView({ route }: { route: ChoiceRoute }) {
  const { navigation } = useModel();
  const { path, question, lines, options, answer } = route;
  return (
    <Frame screen="choice" path={path}>
      <Ask
        question={question}
        lines={lines}
        options={options}
        onAnswer={(value) => {
          navigation.pop();
          answer(value);
        }}
      />
    </Frame>
  );
}
