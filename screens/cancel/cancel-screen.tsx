import { useStore } from 'zustand';
import { Ask } from '../../components/ask.tsx';
import { Frame, useModel } from '../app/frame.tsx';
import { runWithId } from '../app/model.ts';
import { answerCancel } from '../run/actions.ts';

/** Asks before work is stopped. */
export function CancelView({ route }: { route: { run: string } }) {
  const model = useModel();
  const run = useStore(model.runs.store, ({ runs }) => runWithId(runs, route.run));
  if (!run) return null;
  return (
    <Frame screen="cancel" path={[run.target, 'cancel']}>
      <Ask
        question={`Cancel this: ${run.title}?`}
        lines={['What is half done is removed, and everything is left as it was before.']}
        options={[
          { label: 'Let it go on', value: 'stay' },
          { label: 'Cancel it', value: 'cancel' },
        ]}
        onAnswer={(answer) => answerCancel(model, answer)}
      />
    </Frame>
  );
}
