import { Ask } from '../../components/ask.tsx';
import { Frame, useModel } from '../app/frame.tsx';
import type { ChoicePlace } from '../app/place.ts';

/** One answer out of a few. */
export function ChoiceScreen({ place }: { place: ChoicePlace }) {
  const { navigation } = useModel();
  const { path, question, lines, options, answer } = place;
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
